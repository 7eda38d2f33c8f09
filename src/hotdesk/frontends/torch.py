"""PyTorch models through `torch.export`: every parameter, buffer and lifted constant becomes an argument of `@main`.

Nothing is embedded: the stateless FX graph is imported with its placeholders as they are, and each weight argument points at
the tensor that the model holds.
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import contextlib
import os
import re
import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import sympy
import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses import FakeTensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

import hotdesk
from hotdesk._bindings import import_fx_graph, ir
from hotdesk.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    DataDependentShapeError,
    DeviceError,
    ExportError,
    HotdeskError,
    PassError,
    UnsupportedMutationError,
    UnsupportedOpError,
)
from hotdesk.frontends.capture import Captured, Weight
from hotdesk.frontends.decompositions import decomposition_table
from hotdesk.frontends.splats import fold_splats
from hotdesk.frontends.views import spell_out_views
from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import nested_ops
from hotdesk.runtime.interface import Calling, TensorSpec

_TO_TORCH_BACKEND = (
    "func.func(torch-match-quantized-custom-ops),torchdynamo-export-to-torch-backend-pipeline"
    "{backend-legal-ops=aten.flatten.using_ints,aten.unflatten.int extra-library=}"
)
_TO_LINALG = "torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true}"

_REPLACE = "Replace it in the model, or keep that part outside the compiled model."
_LIBRARIES = tuple(str(Path(file).parent) + os.sep for file in (torch.__file__, hotdesk.__file__))

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
        with _refusals():
            exported = _exported(model, args, dict(kwargs or {}), dynamic_shapes)
        after_export = time.perf_counter()
        with _refusals():
            guards = len(_guards(exported))
            exported = exported.run_decompositions(decomposition_table())
    _refuse_guards(exported, guards)
    after_decompositions = time.perf_counter()
    _refuse_mutation(exported)
    _refuse_nodes(exported)
    arguments, placeholders = _arguments(exported)
    results, template = _results(exported)
    _keep_tensors_only(exported, placeholders)
    fold_splats(exported.graph)
    spell_out_views(exported.graph)
    module = _lower(_imported(exported.graph))
    _forget_trace()
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
    return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)


@contextmanager
def _refusals() -> Generator[None]:
    """What PyTorch raises while it captures a model, as errors of ours with the user's line."""
    try:
        yield
    except HotdeskError:
        raise
    except Exception as error:
        message = _essence(str(error)) or type(error).__name__
        where = _user_line(error) or _noted_line(str(error))
        if re.search(
            r"data.?dependent|unbacked|dynamic.?output.?shape", f"{type(error).__name__} {error}", re.IGNORECASE
        ):
            raise DataDependentShapeError(
                "a size or a branch depends on the values of a tensor",
                expected="sizes that follow from the sizes of the arguments",
                got=message,
                where=where,
                hint="Rewrite it with masks or `torch.where`, or keep that part outside the compiled model.",
            ) from error
        raise ExportError(
            "torch.export cannot capture the model",
            got=f"{type(error).__name__}: {message}",
            where=where,
            hint="`torch.export.draft_export` lists every obstacle.",
        ) from error


def _imported(graph: torch.fx.Graph) -> ir.Module:
    try:
        return import_fx_graph(make_context(), graph, "main")
    except Exception as error:
        raise UnsupportedOpError(
            "torch-mlir cannot read the program",
            expected="a graph of aten ops on tensors",
            got=f"{type(error).__name__}: {error}",
            hint=_REPLACE,
        ) from error


def _essence(message: str) -> str:
    """The first line of a long message, and the violated constraints or suggested fixes that it lists."""
    lines = [line.strip() for line in message.strip().splitlines()]
    listed = [line for line in lines[1:] if re.match(r"- Not all values|\w+ = Dim\(", line)]
    return " ".join([*lines[:1], *listed[:4]])


def _is_users(file: str) -> bool:
    """Whether a frame's file is neither PyTorch's, ours, nor one that only wraps calls of theirs."""
    return not file.startswith(("<", *_LIBRARIES)) and file != contextlib.__file__


def _noted_line(message: str) -> str | None:
    """The innermost line of the user's in a stack that PyTorch wrote into its message."""
    frames = [frame for frame in re.findall(r'File "([^"]+)", line (\d+)', message) if _is_users(frame[0])]
    return f"{frames[-1][0]}:{frames[-1][1]}" if frames else None


def _forget_trace() -> None:
    """Drops PyTorch's own hold on the graph it traced last: megabytes that would stay for as long as the process."""
    from torch.fx.experimental import proxy_tensor

    cast("dict[int, object]", getattr(proxy_tensor, "_FAKE_TENSOR_ID_TO_PROXY_MAP_FOR_EXPORT", {})).clear()


def _user_line(error: BaseException) -> str | None:
    """The innermost line of the traceback that is neither PyTorch's nor ours."""
    line: str | None = None
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if _is_users(file):
            line = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return line


def _refuse_mutation(exported: ExportedProgram) -> None:
    lines = {node.name: _node_line(node) for node in exported.graph.nodes}
    for spec in exported.graph_signature.output_specs:
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION, OutputKind.PARAMETER_MUTATION):
            raise UnsupportedMutationError(
                f"the model changes `{spec.target}` in place",
                expected="a model whose call leaves its buffers and inputs as they are",
                got=spec.kind.name.lower().replace("_", " "),
                where=lines.get(spec.arg.name) or None,
                hint="Call `model.eval()`; return the new state as a result instead of storing it.",
            )


def _guards(exported: ExportedProgram) -> list[Any]:
    """What PyTorch has assumed about sizes so far."""
    for node in exported.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and isinstance(value, FakeTensor) and value.fake_mode.shape_env is not None:
            return list(value.fake_mode.shape_env.guards)
    return []


def _refuse_guards(exported: ExportedProgram, known: int) -> None:
    """Export checks what it assumes about sizes; nobody checks what a decomposition assumes afterwards."""
    sizes = {str(symbol) for symbol in exported.range_constraints}
    new = [guard for guard in _guards(exported)[known:] if sizes & set(map(str, guard.expr.free_symbols))]
    if new:
        raise UnsupportedOpError(
            "an op is taken apart in a way that holds for some sizes only",
            expected="one way for every size that `dynamic_shapes` allows",
            got=" and ".join(str(guard.expr) for guard in new),
            hint="Compile once for each size, or use an op that does not depend on how sizes divide.",
        )


def _refuse_nodes(exported: ExportedProgram) -> None:
    """Control flow with subgraphs, effects, and element types without a lowering have no place on one arena."""
    for node in exported.graph.nodes:
        if isinstance(node.target, HigherOrderOperator):
            raise UnsupportedOpError(
                f"op `{_higher_order_name(node)}` has no lowering to linalg",
                expected="a graph of aten ops on tensors",
                got="an operation with a subgraph or a side effect",
                where=_node_line(node) or None,
                hint=_REPLACE,
            )
        if node.users and _draws(node):
            raise UnsupportedOpError(
                f"op `{node.target}` draws random numbers",
                expected="a program whose results follow from its arguments",
                got="a random op",
                where=_node_line(node) or None,
                hint="Draw them outside the model and pass them as an argument.",
            )
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.SymInt | torch.SymFloat | torch.SymBool):
            raise UnsupportedOpError(
                f"argument `{node.name}` is a number that varies",
                expected="a number fixed when the model is compiled",
                got="a dynamic one",
                hint="Pass it as a tensor, or compile once for each value.",
            )
        for value in pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and value.dtype not in _DTYPES:
                raise _unsupported_dtype(f"tensor `{node.name}`", value.dtype, _node_line(node))


def _draws(node: torch.fx.Node) -> bool:
    """Whether an op draws random numbers; those that only do so in training say it in an argument."""
    if not isinstance(node.target, OpOverload) or torch.Tag.nondeterministic_seeded not in node.target.tags:
        return False
    arguments: Any = cast(Any, node.target)._schema.arguments
    given = {argument.name: argument.default_value for argument in arguments}
    given.update(zip(given, node.args, strict=False))
    given.update(node.kwargs)
    return given.get("training", given.get("train")) is not False


def _higher_order_name(node: torch.fx.Node) -> str:
    target = next((arg for arg in node.args if isinstance(arg, OpOverload)), node.target)
    return str(target)


def _unsupported_dtype(what: str, dtype: torch.dtype, location: str) -> UnsupportedOpError:
    return UnsupportedOpError(
        f"{what} has an element type without a lowering",
        expected="one of " + ", ".join(str(dtype) for dtype in _DTYPES),
        got=str(dtype),
        where=location or None,
        hint="Convert it, or keep that part outside the compiled model.",
    )


def _spec(name: str, value: torch.Tensor, location: str = "") -> TensorSpec:
    if value.dtype not in _DTYPES:
        raise _unsupported_dtype(f"tensor `{name}`", value.dtype, location)
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


def plain(expression: Any) -> Any:
    """The same expression in SymPy's own functions, over symbols without assumptions: equal names are equal symbols."""
    if expression.is_Symbol:
        return sympy.Symbol(str(expression))
    if not expression.args:
        return expression
    name, arguments = type(expression).__name__, [plain(argument) for argument in expression.args]
    return _PLAIN[name](*arguments) if name in _PLAIN else expression.func(*arguments)


_PLAIN: Mapping[str, Callable[..., Any]] = {  # PyTorch's functions on sizes, which are not negative
    **dict.fromkeys(("FloorDiv", "CleanDiv"), lambda a, b: sympy.floor(a / b)),
    **dict.fromkeys(("IntTrueDiv", "FloatTrueDiv"), lambda a, b: a / b),
    **dict.fromkeys(("FloorToInt", "TruncToInt", "TruncToFloat"), sympy.floor),
    **dict.fromkeys(("Mod", "PythonMod"), sympy.Mod),
    "CeilToInt": sympy.ceiling,
    "Max": sympy.Max,
    "Min": sympy.Min,
    "ModularIndexing": lambda a, b, c: sympy.Mod(sympy.floor(a / b), c),
    "PowByNatural": sympy.Pow,
    "ToFloat": lambda a: a,
}


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
        if tensor.device.type != "cpu":
            raise DeviceError(
                f"weight '{target}'", expected="device cpu", got=str(tensor.device), hint="Move the model."
            )
        if not tensor.is_contiguous():
            tensor = _laid_out(exported.graph, name, tensor.detach())
        arguments.append(Weight(_spec(target, tensor), tensor))
    return tuple(arguments), kept


def _laid_out(graph: torch.fx.Graph, name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a contiguous tensor, which the graph transposes back; a copy where the memory has gaps."""
    order = sorted(range(tensor.dim()), key=lambda i: (-tensor.stride(i), i))
    dense = tensor.permute(order)
    if not dense.is_contiguous() or tensor.is_conj() or tensor.is_neg():
        return tensor.contiguous()
    node = next(node for node in graph.nodes if node.name == name)
    back = [order.index(i) for i in range(tensor.dim())]
    with graph.inserting_after(node):
        restored = graph.call_function(torch.ops.aten.permute.default, (node, back))
    restored.meta.update(node.meta)
    node.replace_all_uses_with(restored)
    restored.args = (node, back)
    node.meta["val"] = node.meta["val"].permute(order)
    node.meta.pop("tensor_meta", None)
    return dense


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
        elif isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            template.append(_ResultNumber(plain(value.node.expr), value.node.pytype))
        else:
            template.append(value)
    return tuple(specs), tuple(template)


def _node_line(node: torch.fx.Node) -> str:
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    ours = [frame for frame in frames if _is_users(frame[0])]
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
    for pipeline in (_TO_TORCH_BACKEND, _TO_LINALG):
        try:
            run_mlir_passes(module, pipeline)
        except PassError as error:
            raise _unsupported(str(error.got), module) from error
    return module


def _unsupported(diagnostics: str, module: ir.Module) -> HotdeskError:
    """The op at fault: the one that MLIR names or, if that is a mere operand of it, the first one it left over."""
    first = next((line for line in diagnostics.splitlines() if "error:" in line), diagnostics.splitlines()[0])
    op, where = _named_op(diagnostics), python_line(first)
    if op is None:
        left = next((found for found in map(_leftover, nested_ops(module.operation)) if found), ("", ""))
        op, where = left[0] or "unknown", where or left[1]
    return UnsupportedOpError(
        f"op `{op}` has no lowering to linalg",
        expected="an op that torch-mlir lowers",
        got=re.sub(r".*?error: (callsite\(.*?\)+: |loc\(.*?\): |\"[^\"]+\":\d+:\d+: )?", "", first)[:160],
        where=where or None,
        hint=_REPLACE,
    )


def _named_op(diagnostics: str) -> str | None:
    named = re.search(r'name = "torch\.([\w.]+)"', diagnostics) or re.search(
        r"(?:operation|op) 'torch\.(?!operator|constant|prim)([\w.]+)'", diagnostics
    )
    return named.group(1) if named else None


def _leftover(op: ir.Operation) -> tuple[str, str] | None:
    """Name and line of an op that torch-mlir should have lowered."""
    name = str(cast(Any, op.attributes["name"]).value) if op.name == "torch.operator" else op.name
    if not re.match(r"torch\.(aten|prims|quantized|torchvision)", name):
        return None
    return name.removeprefix("torch."), python_line(op.location)


class _ResultSlot(int):
    """The number of a tensor result, told apart from an integer that the model returns."""


@dataclass(frozen=True, slots=True)
class _ResultNumber:
    """A number that follows from the sizes of the arguments."""

    expression: sympy.Basic
    kind: Callable[[Any], Any]

    def at(self, symbols: Mapping[str, int]) -> Any:
        return self.kind(
            cast(Any, self.expression).subs({sympy.Symbol(name): value for name, value in symbols.items()})
        )


def _same(given: object, fixed: object) -> bool:
    """Whether a constant is the one that export baked in; `1`, `1.0` and `True` are three constants."""
    return type(given) is type(fixed) and (given == fixed or (given != given and fixed != fixed))


class TorchCalling(Calling):
    """Flattens arguments the way the model was exported and puts results back into the model's own structure."""

    def __init__(self, exported: ExportedProgram, template: Sequence[Any]) -> None:
        self._in_spec = exported.call_spec.in_spec
        self._out_spec = exported.call_spec.out_spec
        in_spec: Any = self._in_spec
        positional, keywords = in_spec.unflatten(range(in_spec.num_leaves))
        self._keywords: tuple[str, ...] = tuple(keywords)
        signature = exported.module_call_graph[0].signature
        names = list(signature.forward_arg_names or ()) if signature is not None else []
        self._positional: tuple[str, ...] = tuple(names[: len(positional)])
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
        leaves, spec = pytree.tree_flatten(self._arranged(args, kwargs))
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
            elif not _same(leaf, constant[1]):
                raise ArgumentTypeError(
                    f"argument `{constant[0]}` was fixed when the model was compiled",
                    expected=repr(constant[1]),
                    got=type(leaf).__name__ if isinstance(leaf, torch.Tensor) else repr(leaf),
                    hint="Compile again with the new value, or compile it as a tensor.",
                )
        return inputs

    def _arranged(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """As at compilation: positional arguments that came by name in their places, keywords in their order."""
        named = dict(kwargs)
        missing = self._positional[len(args) :]
        filled = [named.pop(name) for name in missing] if all(name in named for name in missing) else []
        return (*args, *filled), {name: named.pop(name) for name in self._keywords if name in named} | named

    def unflatten(self, results: Sequence[Any], symbols: Mapping[str, int]) -> Any:
        leaves = [
            results[entry]
            if isinstance(entry, _ResultSlot)
            else entry.at(symbols)
            if isinstance(entry, _ResultNumber)
            else entry
            for entry in self._template
        ]
        return pytree.tree_unflatten(leaves, cast(Any, self._out_spec))
