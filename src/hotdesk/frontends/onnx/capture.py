"""ONNX models: imported by torch-mlir, lowered to linalg on tensors, and from there on as a program in MLIR is.

Initializers are weights, which the program reads where they lie; what small ones hold is part of it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, cast

from hotdesk._bindings import import_onnx, ir
from hotdesk.errors import HotdeskError, UnsupportedOpError
from hotdesk.frontends.captured import Captured, Weight
from hotdesk.frontends.lowering_process import LIMIT_OF_A_TRIAL, LoweringDied, LoweringFailed, lowered, prepare
from hotdesk.frontends.mlir.arguments import results_of
from hotdesk.frontends.mlir.counted import deliver_counted, with_counted
from hotdesk.frontends.mlir.guards import guard_demands
from hotdesk.frontends.mlir.lowering import inline_calls, refuse_what_is_not_compiled
from hotdesk.frontends.mlir.reading import make_main
from hotdesk.frontends.mlir.sizes import size_checks
from hotdesk.frontends.mlir.sizes_in_floats import count_in_integers
from hotdesk.frontends.onnx.elements import I16, name_of
from hotdesk.frontends.onnx.reading import OnnxModel, OnnxSource, Ranges, make_ready, read_onnx
from hotdesk.frontends.onnx.refusals import Unlowered, refuse_untrusted
from hotdesk.frontends.onnx.reshapes import spell_out_reshapes
from hotdesk.ir.argument_sizes import argument_shapes
from hotdesk.ir.building import create, replace
from hotdesk.ir.context import entered, make_context, verify
from hotdesk.ir.functions import is_private, named_functions, single_exit
from hotdesk.ir.locations import of_node
from hotdesk.ir.signature import Formal, set_signature, signature
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import main_function, nested_ops
from hotdesk.passes.tensor.guard_indices import GuardIndices
from hotdesk.runtime.calling import Positional
from hotdesk.runtime.interface import TensorSpec
from hotdesk.sizes.reading import is_name
from hotdesk.sizes.size import Bounds, Size

_PIPELINES = (
    "torch-onnx-to-torch-backend-pipeline{backend-legal-ops=aten.flatten.using_ints,aten.unflatten.int}",
    "torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true}",
)
_NODE = re.compile(r'"node:(\d+)"')
_IMPORTERS = re.compile(r'"(?:graph:|onnx_importer\.)')
"""Names of locations that are the importer's own."""
_OPSET = 18
"""The opset that older models are brought to, if need be."""
_EXPANDED: tuple[str, ...] = (
    "LinearAttention",
    "RMSNormalization",
    "RotaryEmbedding",
    "SwiGLU",
    "ai.onnx.preview.FlexAttention",
)
"""Ops that torch-mlir does not lower, and ONNX defines by others."""
_WORD = re.compile(r"[A-Za-z_]\w*")


def capture(given: Any, sizes: Ranges | None = None) -> Captured:
    """Reads a model and lowers it to linalg on tensors.

    Args:
        given: the name of a file, or an `onnx.ModelProto`, which stays as it is.
        sizes: by the names that the model gives to sizes: a number fixes one, a pair says its least and greatest value.

    Raises:
        MissingExtraError, OptionError, InvalidIRError: as `read_onnx` does.
        UnsupportedOpError: a node has no lowering, or none that is right, nor has what defines its op.
        DataDependentShapeError: a size of a result depends on what the arguments hold.
    """
    start = time.perf_counter()
    prepare()
    source = read_onnx(given, sizes)
    after_read = time.perf_counter()
    model, module = _lowered(source)
    with entered(module.operation):
        _name_places(module, model)
        make_main(module, next(each for each in named_functions(module).values() if not is_private(each)))
        inline_calls(module)
        refuse_what_is_not_compiled(module)
        main = main_function(module)
        single_exit(main)
        names = [value.name for value in model.proto.graph.output]
        types = [name_of(_element(model, value)) for value in model.proto.graph.output]
        given = [value for value in model.proto.graph.input if value.name in (*model.inputs, *model.weights)]
        words = _words(given)
        shapes = [_sizes_of(value, words) for value in given]
        _state_sizes(main, shapes)
        count_in_integers(main)
        counted = deliver_counted(main, types)
        handed_over = {each.number for each in counted}
        results = with_counted(results_of(main, [None] * len(types)), counted)
        specs = [
            TensorSpec(name, spec.dtype if number in handed_over else dtype, spec.shape, counted=spec.counted)
            for number, (name, dtype, spec) in enumerate(zip(names, types, results, strict=True))
        ]
        checks = size_checks(main)
        guard_demands(main)
        GuardIndices(positions=True).apply(module)
        arguments = _arguments(model, main)
        verify(module, "reading the model")
    return Captured(
        module=module,
        arguments=arguments,
        results=tuple(specs),
        constraints=_bounds(arguments, {words.get(name, name): each for name, each in (sizes or {}).items()}),
        calling=OnnxCalling(model),
        timings={"read": after_read - start, "import": time.perf_counter() - after_read},
        assumptions=checks,
        kind="numpy",
        name=_name(source),
        foreign=tuple(each.call for each in counted),
    )


class OnnxCalling(Positional):
    """A tensor for each input; a result that is a sequence is a list."""

    def __init__(self, model: OnnxModel) -> None:
        super().__init__(model.inputs)
        self.counts = tuple(count for _, count in model.results)
        """Of each result how many tensors it is a list of; None for one that is a tensor."""

    def unflatten(self, results: Sequence[object], symbols: Mapping[str, int], leaves: Sequence[object]) -> object:
        left = iter(results)
        made = [next(left) if count is None else list(islice(left, count)) for count in self.counts]
        return made[0] if len(made) == 1 else tuple(made)


def _lowered(source: OnnxSource) -> tuple[OnnxModel, ir.Module]:
    """The model as linalg on tensors.

    Where a node has no lowering, its op is replaced by the function that defines it, if there is one, and a model of an old opset
    is brought to a newer one. Raises UnsupportedOpError for the first node that has no lowering at all.
    """
    expanded: list[str] = list(_EXPANDED)
    opset: int | None = None
    first: UnsupportedOpError | None = None
    while True:
        try:
            model = make_ready(source, expanded, opset)
            refuse_untrusted(model)
            return model, _imported(model)
        except Unlowered as error:
            first = first or error.refusal
            if error.op in defined_by_functions() and error.op not in expanded:
                expanded.append(error.op)
            elif opset is None and _opset(source) < _OPSET:
                opset, expanded = _OPSET, list(_EXPANDED)
            else:
                raise first from error
        except UnsupportedOpError as error:
            if opset is not None or _opset(source) >= _OPSET:
                raise (first or error) from error
            first, opset, expanded = first or error, _OPSET, list(_EXPANDED)
        except HotdeskError as error:  # of what was made of the model on the way
            raise (first or error) from error


@cache
def defined_by_functions() -> frozenset[str]:
    """The ops of ONNX's own that are defined by others."""
    import onnx

    schemas: Any = cast(Any, onnx.defs).get_all_schemas()
    return frozenset(
        str(each.name)
        for each in schemas
        if each.domain == "" and (each.has_function or each.has_context_dependent_function)
    )


def _name_places(module: ir.Module, model: OnnxModel) -> None:
    """Gives each op the name and the submodule of the node that it comes from; lowering knows nodes by number alone."""
    for op in nested_ops(module.operation):
        location = str(op.location)
        found = _NODE.search(location)
        name, path = ("", "") if found is None else model.places[int(found[1])]
        if name or found is not None or _IMPORTERS.search(location) is not None:
            op.location = of_node(name, path, module.context)


def _opset(source: OnnxSource) -> int:
    return next((each.version for each in source.proto.opset_import if each.domain in ("", "ai.onnx")), _OPSET)


def _imported(model: OnnxModel) -> ir.Module:
    """The model as linalg on tensors. Raises Unlowered, or UnsupportedOpError for what the importer does not read."""
    try:
        imported = import_onnx(make_context(), model.proto, "main")
    except Exception as error:  # the importer raises what it likes
        got = str(error).partition("\n")[0][:200] or type(error).__name__
        raise UnsupportedOpError(
            "the model", expected="what torch-mlir's importer reads", got=got, where=model.where
        ) from error
    _write_casts(imported)
    try:
        torch = lowered(imported, _PIPELINES[:1])
        with entered(torch.operation):
            spell_out_reshapes(torch)
        return lowered(torch, _PIPELINES[1:])
    except LoweringFailed as error:
        raise _unlowered(model, error.diagnostics.strip().partition("\n note")[0]) from error
    except LoweringDied as error:
        raise _unlowered(model, error.how) from error


_TORCH_TYPES = {I16: 2}
"""By ONNX's number, that of PyTorch, of element types that torch-mlir lowers casts to, but not ONNX's `Cast`."""


def _write_casts(module: ir.Module) -> None:
    """Writes casts to such types as PyTorch's, for which torch-mlir has a lowering."""
    for op in list(nested_ops(module.operation)):
        if op.name != "torch.operator" or "torch.onnx.to" not in op.attributes:
            continue
        number = _TORCH_TYPES.get(int(str(op.attributes["torch.onnx.to"]).partition(" ")[0]))
        if number is None or str(op.attributes["name"]) != '"onnx.Cast"':
            continue
        kinds = [ir.Type.parse(f"!torch.{each}", module.context) for each in ("int", "bool", "none")]
        with module.context:
            value = {"value": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)}
            false = {"value": ir.BoolAttr.get(False)}
        dtype = create("torch.constant.int", [], kinds[:1], value, before=op).results[0]
        no = create("torch.constant.bool", [], kinds[1:2], false, before=op).results[0]
        none = create("torch.constant.none", [], kinds[2:], before=op).results[0]
        replace(
            op, create("torch.aten.to.dtype", [op.operands[0], dtype, no, no, none], [op.results[0].type], before=op)
        )


def _unlowered(model: OnnxModel, diagnostics: str) -> Unlowered:
    """What says which node has no lowering: as MLIR tells, or else as is found by leaving nodes away."""
    found = _NODE.search(diagnostics)
    number = int(found[1]) if found is not None else _culprit(model)
    got = diagnostics.removeprefix("Failure while executing pass pipeline:").strip()
    got = re.sub(r'^error: (".*?"|unknown): ', "", got).partition(": %")[0][:300]
    return Unlowered(model, number, "a lowering of torch-mlir's", got)


def _culprit(model: OnnxModel) -> int:
    """The number of the last node of the shortest beginning of the graph that does not lower."""
    lowers, fails = 0, len(model.nodes)
    while fails - lowers > 1:
        middle = (lowers + fails) // 2
        try:
            lowered(import_onnx(make_context(), _beginning(model.proto, middle), "main"), _PIPELINES, LIMIT_OF_A_TRIAL)
        except (LoweringDied, LoweringFailed):
            fails = middle
        else:
            lowers = middle
    return fails - 1


def _beginning(proto: Any, count: int) -> Any:
    """A model of the first nodes alone, whose results are what nobody among them reads."""
    made = type(proto)()
    made.CopyFrom(proto)
    graph = made.graph
    known = {each.name: each for each in (*graph.value_info, *proto.graph.output)}
    del graph.node[count:], graph.output[:]
    read = {name for node in graph.node for name in node.input}
    ends = [name for node in graph.node for name in node.output if name and name not in read]
    graph.output.extend([known[name] for name in ends])
    return made


def _element(model: OnnxModel, value: Any) -> int:
    """The element type of an input or a result as a call has it."""
    return model.elements.get(value.name) or value.type.tensor_type.elem_type


def _words(inputs: Sequence[Any]) -> dict[str, str]:
    """The names that the model gives to sizes, each as one word that no other has: `batch` is itself, `dims.0` is `dims_0`."""
    names = [dim.dim_param for value in inputs for dim in value.type.tensor_type.shape.dim if dim.dim_param]
    words = {name: name for name in names if is_name(name)}
    for name in names:
        word = re.sub(r"\W", "_", name)
        word = word if is_name(word) else f"size_{word}"
        while name not in words and word in words.values():
            word += "_"
        words.setdefault(name, word)
    return words


def _sizes_of(value: Any, words: Mapping[str, str]) -> tuple[str, ...]:
    """The sizes of an input: numbers, the words for the model's names of them, else after the input and the dimension."""
    stem = re.sub(r"\W", "_", value.name)
    stem = stem if _WORD.fullmatch(stem) else f"arg{stem}"
    return tuple(
        str(dim.dim_value) if dim.HasField("dim_value") else words.get(dim.dim_param, f"dim {number} of %{stem}")
        for number, dim in enumerate(value.type.tensor_type.shape.dim)
    )


def _state_sizes(main: ir.Operation, shapes: list[tuple[str, ...]]) -> None:
    def stating(number: int, formal: Formal) -> Formal:
        return formal.stating(shape=shapes[number]) if None in shape_of(formal.type) else formal

    set_signature(main, signature(main).stating(stating))


def _arguments(model: OnnxModel, main: ir.Operation) -> tuple[Weight | TensorSpec, ...]:
    """The inputs and weights, in the order of the arguments."""
    shapes = argument_shapes(main)
    formals = signature(main).arguments
    arguments: list[Weight | TensorSpec] = []
    own = {each.name for each in model.proto.graph.initializer}
    values = [value for value in model.proto.graph.input if value.name not in own]
    for number, value in enumerate(values):
        sizes = shapes.get(number) or cast("tuple[Size, ...]", shape_of(formals[number].type))
        spec = TensorSpec(value.name, name_of(_element(model, value)), sizes)
        held = model.weights.get(value.name)
        arguments.append(spec if held is None else Weight(spec, held))
    return tuple(arguments)


def _bounds(arguments: tuple[Weight | TensorSpec, ...], sizes: Ranges) -> Bounds:
    """The ranges of sizes that inputs have."""
    specs = [each for each in arguments if isinstance(each, TensorSpec)]
    known = {str(size) for spec in specs for size in spec.shape if not isinstance(size, int)}
    return {name: given for name, given in sizes.items() if isinstance(given, tuple) and name in known}


def _name(source: OnnxSource) -> str:
    name = source.proto.graph.name if source.where is None else Path(source.where).stem
    return re.sub(r"\W", "_", name) or "main"
