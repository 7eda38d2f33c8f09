"""PyTorch models through `torch.export`: every parameter, buffer and lifted constant becomes an argument of `@main`.

Nothing is embedded: the stateless FX graph is imported with its placeholders as they are, and each weight argument points at
the tensor that the model holds.
"""

# torch.export's records and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, cast

import sympy
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

from hotdesk._bindings import import_fx_graph, ir
from hotdesk.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    DataDependentShapeError,
    ExportError,
    HotdeskError,
    UnsupportedMutationError,
    UnsupportedOpError,
)
from hotdesk.frontends.capture import Captured, Weight
from hotdesk.frontends.decompositions import decomposition_table
from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.ir.locations import python_line
from hotdesk.runtime.interface import Calling, TensorSpec

_TO_TORCH_BACKEND = (
    "func.func(torch-match-quantized-custom-ops),torchdynamo-export-to-torch-backend-pipeline{extra-library=}"
)
_TO_LINALG = "torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true}"

_DTYPES: Mapping[torch.dtype, str] = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "i1",
}


def capture(
    model: torch.nn.Module | ExportedProgram,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
) -> Captured:
    """Exports a model and lowers it to linalg on tensors.

    Args:
        model: a module, which is exported with `args` and `kwargs`, or an `ExportedProgram`.
        args, kwargs: example arguments; their sizes are fixed unless `dynamic_shapes` frees them.
        dynamic_shapes: as `torch.export.export` takes it.

    Raises:
        ExportError: `torch.export` refused the model.
        DataDependentShapeError: a size depends on the values of a tensor.
        UnsupportedMutationError: the model changes its buffers or inputs.
        UnsupportedOpError: an op has no lowering.
    """
    start = time.perf_counter()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)  # of torch.export's own making
        exported = _exported(model, args, dict(kwargs or {}), dynamic_shapes)
        after_export = time.perf_counter()
        exported = exported.run_decompositions(decomposition_table())
    after_decompositions = time.perf_counter()
    _refuse_mutation(exported)
    arguments, placeholders = _arguments(exported)
    results, template = _results(exported)
    _keep_tensors_only(exported, placeholders)
    module = _lower(import_fx_graph(make_context(), exported.graph, "main"))
    return Captured(
        module=module,
        arguments=arguments,
        results=results,
        constraints=_constraints(exported),
        calling=TorchCalling(exported, template),
        timings={
            "export": after_export - start,
            "decompose": after_decompositions - after_export,
            "import": time.perf_counter() - after_decompositions,
        },
    )


def _exported(
    model: torch.nn.Module | ExportedProgram, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> ExportedProgram:
    if isinstance(model, ExportedProgram):
        return model
    try:
        return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
    except HotdeskError:
        raise
    except Exception as error:
        message = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if "data-dependent" in str(error).lower() or "DataDependent" in type(error).__name__:
            raise DataDependentShapeError(
                "a size or a branch depends on the values of a tensor",
                expected="sizes that follow from the sizes of the arguments",
                got=message,
                where=_user_line(error),
                hint="rewrite it with masks or `torch.where`, or keep that part outside the compiled model",
            ) from error
        raise ExportError(
            "torch.export cannot capture the model",
            got=f"{type(error).__name__}: {message}",
            where=_user_line(error),
            hint="`torch.export.draft_export` lists every obstacle",
        ) from error


def _user_line(error: BaseException) -> str | None:
    """The innermost line of the traceback that is neither PyTorch's nor ours."""
    line: str | None = None
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not re.search(r"[\\/](torch|hotdesk|contextlib\.py)([\\/]|$)", file) and not file.startswith("<"):
            line = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return line


def _refuse_mutation(exported: ExportedProgram) -> None:
    for spec in exported.graph_signature.output_specs:
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION, OutputKind.PARAMETER_MUTATION):
            raise UnsupportedMutationError(
                f"the model changes `{spec.target}` in place",
                expected="a model whose call leaves its buffers and inputs as they are",
                got=spec.kind.name.lower().replace("_", " "),
                hint="call `model.eval()`; return the new state as a result instead of storing it",
            )


def _spec(name: str, value: torch.Tensor, location: str = "") -> TensorSpec:
    if value.dtype not in _DTYPES:
        raise UnsupportedOpError(
            f"tensor `{name}` has an element type without a lowering",
            expected="one of " + ", ".join(str(dtype) for dtype in _DTYPES),
            got=str(value.dtype),
        )
    if free_unbacked_symbols(value):
        raise DataDependentShapeError(
            f"tensor `{name}` has a size that depends on the values of a tensor",
            expected="sizes that follow from the sizes of the arguments",
            got=str(tuple(value.shape)),
            where=location or None,
        )
    return TensorSpec(name, _DTYPES[value.dtype], tuple(_dim(size) for size in value.shape), location)


def _dim(size: int | torch.SymInt) -> int | sympy.Expr:
    if isinstance(size, int):
        return size
    expression: Any = size.node.expr
    return int(expression) if expression.is_number else plain(expression)


def plain(expression: sympy.Expr) -> sympy.Expr:
    """The same expression over symbols without assumptions, so that equal names are equal symbols everywhere."""
    plain_symbols: Any = {symbol: sympy.Symbol(str(symbol)) for symbol in expression.free_symbols}
    return cast(Any, expression).xreplace(plain_symbols)


def _arguments(exported: ExportedProgram) -> tuple[tuple[Weight | TensorSpec, ...], dict[str, bool]]:
    """The arguments of `@main`, and for each placeholder whether it is one of them."""
    arguments: list[Weight | TensorSpec] = []
    kept: dict[str, bool] = {}
    values = {node.name: node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"}
    for spec in exported.graph_signature.input_specs:
        name = spec.arg.name
        value = values[name]
        kept[name] = isinstance(value, torch.Tensor)
        if not isinstance(value, torch.Tensor):
            continue
        if spec.kind == InputKind.USER_INPUT:
            arguments.append(_spec(name, value))
            continue
        target = str(spec.target)
        tensor: Any = exported.state_dict.get(target)
        if tensor is None:
            tensor = exported.constants[target]
        if not tensor.is_contiguous():
            tensor = tensor.detach().contiguous()
        arguments.append(Weight(_spec(target, tensor), tensor))
    return tuple(arguments), kept


def _results(exported: ExportedProgram) -> tuple[tuple[TensorSpec, ...], tuple[Any, ...]]:
    """The tensor results, and a template of all results: an index into them, or a constant, or a size expression."""
    output = next(node for node in exported.graph.nodes if node.op == "output")
    specs: list[TensorSpec] = []
    template: list[Any] = []
    for node in output.args[0]:
        value = node.meta.get("val") if isinstance(node, torch.fx.Node) else node
        if isinstance(value, torch.Tensor):
            template.append(_ResultSlot(len(specs)))
            specs.append(_spec(node.name, value, _node_line(node)))
        elif isinstance(value, torch.SymInt):
            template.append(plain(value.node.expr))
        else:
            template.append(value)
    return tuple(specs), tuple(template)


def _node_line(node: torch.fx.Node) -> str:
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    ours = [frame for frame in frames if f"{'/'}torch{'/'}" not in frame[0].replace("\\", "/")]
    return f"{ours[-1][0]}:{ours[-1][1]}" if ours else ""


def _keep_tensors_only(exported: ExportedProgram, kept: Mapping[str, bool]) -> None:
    """Drops placeholders and results that are no tensors: constants that export baked in, sizes, None."""
    graph = exported.graph
    output = next(node for node in graph.nodes if node.op == "output")
    tensors = [
        node
        for node in output.args[0]
        if isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor)
    ]
    output.args = (tuple(tensors),)
    for node in list(graph.nodes):
        if node.op == "placeholder" and not kept[node.name] and not node.users:
            graph.erase_node(node)
    graph.eliminate_dead_code()


def _constraints(exported: ExportedProgram) -> dict[str, tuple[int, int | None]]:
    constraints: dict[str, tuple[int, int | None]] = {}
    for symbol, interval in exported.range_constraints.items():
        upper = interval.upper
        constraints[str(symbol)] = (int(interval.lower), int(upper) if upper.is_Integer else None)
    return constraints


def _lower(module: ir.Module) -> ir.Module:
    from hotdesk.errors import PassError

    for pipeline in (_TO_TORCH_BACKEND, _TO_LINALG):
        try:
            run_mlir_passes(module, pipeline)
        except PassError as error:
            raise _unsupported(str(error.got)) from error
    return module


def _unsupported(diagnostics: str) -> HotdeskError:
    name = re.search(r'name = "(torch\.[\w.]+)"', diagnostics) or re.search(
        r"(?:operation|op) '(torch\.(?!operator)[\w.]+)'", diagnostics
    )
    op = name.group(1).removeprefix("torch.") if name else "unknown"
    first = next((line for line in diagnostics.splitlines() if "error:" in line), diagnostics.splitlines()[0])
    return UnsupportedOpError(
        f"op `{op}` has no lowering to linalg",
        expected="an op that torch-mlir lowers",
        got=re.sub(r".*?error: (callsite\(.*?\)+: |loc\(.*?\): |\"[^\"]+\":\d+:\d+: )?", "", first)[:160],
        where=python_line(first) or None,
        hint="replace the op in the model, or keep that part outside the compiled model",
    )


class _ResultSlot(int):
    """The number of a tensor result, told apart from an integer that the model returns."""


class TorchCalling(Calling):
    """Flattens arguments the way the model was exported and puts results back into the model's own structure."""

    def __init__(self, exported: ExportedProgram, template: Sequence[Any]) -> None:
        self._in_spec = exported.call_spec.in_spec
        self._out_spec = exported.call_spec.out_spec
        self._template = tuple(template)
        # What each flat argument must be: None for a tensor, else the constant that export baked in.
        self._constants: list[tuple[str, Any] | None] = []
        values = {spec.arg.name: spec.arg for spec in exported.graph_signature.input_specs}
        for name in exported.graph_signature.user_inputs:
            argument = values.get(str(name)) if isinstance(name, str) else None
            is_tensor = argument is not None and type(argument).__name__ == "TensorArgument"
            self._constants.append(None if is_tensor else (str(name), getattr(argument, "value", name)))
        self._single_tensors = all(
            constant is None for constant in self._constants
        ) and self._in_spec == pytree.tree_structure((tuple([0] * len(self._constants)), {}))

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        if self._single_tensors and not kwargs:
            return list(args)
        leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
        if spec != self._in_spec:
            expected = len(self._constants)
            if len(leaves) != expected:
                raise ArgumentCountError("wrong arguments", expected=f"{expected} values", got=f"{len(leaves)}")
            raise ArgumentTypeError(
                "the arguments are nested differently than when the model was compiled",
                expected=str(self._in_spec),
                got=str(spec),
            )
        inputs: list[Any] = []
        for leaf, constant in zip(leaves, self._constants, strict=True):
            if constant is None:
                inputs.append(leaf)
            elif leaf != constant[1]:
                raise ArgumentTypeError(
                    f"argument `{constant[0]}` was fixed when the model was compiled",
                    expected=repr(constant[1]),
                    got=repr(leaf),
                    hint="compile again with the new value, or pass it as a tensor",
                )
        return inputs

    def unflatten(self, results: Sequence[Any], symbols: Mapping[str, int]) -> Any:
        leaves = [
            results[entry]
            if isinstance(entry, _ResultSlot)
            else int(cast(Any, entry).subs(dict(symbols)))
            if isinstance(entry, sympy.Expr)
            else entry
            for entry in self._template
        ]
        return pytree.tree_unflatten(leaves, cast(Any, self._out_spec))
