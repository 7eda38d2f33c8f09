"""What of a PyTorch model is refused, and with which error.

* `ExportError`: `torch.export` cannot capture it;
* `DataDependentShapeError`: a size or a branch depends on the values of a tensor;
* `UnsupportedMutationError`: it changes a buffer that shares memory with another one, or has gaps;
* `ExportError` too: a number does not fit the integers that it meets, where PyTorch's kernels refuse it;
* `ExportError` too: it takes gradients by `torch.func`;
* `UnsupportedOpError`: an op has a subgraph, an effect or random numbers, is taken apart in a way that holds for some sizes
  only, or has no lowering; or a tensor has an element type without one.
"""

from __future__ import annotations

import linecache
import math
import operator
import re
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any, cast

import sympy
import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses import FakeTensor
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

from hotdesk.errors import (
    DataDependentShapeError,
    ExportError,
    HotdeskError,
    UnsupportedMutationError,
    UnsupportedOpError,
)
from hotdesk.frontends.torch.carried import is_carried
from hotdesk.frontends.torch.control_flow import all_graphs, is_control_flow
from hotdesk.frontends.torch.cutting import settled
from hotdesk.frontends.torch.data_sizes import defined_symbols, is_settled
from hotdesk.frontends.torch.decompositions.composed import LARGEST_DETERMINANT
from hotdesk.frontends.torch.decompositions.repairs import is_element
from hotdesk.frontends.torch.dims import SizeNames
from hotdesk.frontends.torch.lines import is_users, node_line, noted_line, user_line
from hotdesk.frontends.torch.specs import DTYPES, unsupported_dtype
from hotdesk.frontends.torch.symbolic_numbers import NUMBERS, plain
from hotdesk.ir.locations import python_line
from hotdesk.runtime.interface import TensorSpec
from hotdesk.sizes.proofs import holds_for_all
from hotdesk.sizes.size import Bounds, spelled, symbols_of

_REPLACE = "Replace it in the model, or keep that part outside the compiled model."


_SMALL = f"32-bit or wider matrices of at most {LARGEST_DETERMINANT} rows, of a size that does not vary"
UNTRUSTED: Mapping[Any, str] = {
    torch.ops.aten._linalg_det.default: _SMALL,
    torch.ops.aten._linalg_slogdet.default: _SMALL,
    torch.ops.aten.linalg_det.default: _SMALL,
    torch.ops.aten.linalg_slogdet.default: _SMALL,
    torch.ops.aten.logdet.default: _SMALL,
    torch.ops.aten.logcumsumexp.default: "real numbers, along a dim whose size does not vary",
    torch.ops.aten.upsample_nearest2d.default: "`interpolate`, or the overload `vec`, which it calls",
}
"""Ops that torch-mlir is not given, with the forms that never get here because they are taken apart."""


@contextmanager
def refusals() -> Generator[None]:
    """What PyTorch raises while it captures a model, as errors of ours with the user's line."""
    try:
        yield
    except HotdeskError:
        raise
    except Exception as error:
        hint = "`torch.export.draft_export` lists every obstacle."
        raise refusal(error, "torch.export cannot capture the model", hint) from error


def require_that_it_takes(
    model: torch.nn.Module | ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Raises ExportError where a model cannot be called with so many arguments of these names."""
    if isinstance(model, ExportedProgram):
        return
    try:
        wanted = signature(model.forward)
    except (TypeError, ValueError):  # what has no signature
        return
    try:
        wanted.bind(*args, **kwargs)
    except TypeError as error:
        count = f"{len(args)} argument{'s' * (len(args) != 1)}"
        named = f" and {', '.join(kwargs)} by name" if kwargs else ""
        raise ExportError(
            "the example arguments",
            expected=f"those of {type(model).__name__}.forward: {', '.join(map(str, wanted.parameters.values())) or 'none'}",
            got=f"{count}{named}: {error}",
        ) from error


def refusal(error: Exception, what: str, hint: str) -> HotdeskError:
    """What PyTorch raised while it captured a program, as an error of ours."""
    message = _essence(str(error)) or type(error).__name__
    where = user_line(error) or noted_line(str(error))
    if re.search(r"data.?dependent|unbacked|dynamic.?output.?shape", f"{type(error).__name__} {error}", re.IGNORECASE):
        got = "one that is known only when the program runs" if re.search(r"\bz?uf?\d+\b", message) else message
        op = _failing_op(error)
        hint = (
            "Write it with `torch.where` or `torch.cond`, say what holds by `torch._check`, or keep that part outside "
            "the compiled model."
        )
        buffer = _buffer_asked(error)
        if buffer is not None:
            hint += (
                f" `{buffer}` is a buffer, which calls may change: what is settled before the model is compiled is for an "
                "attribute that is a bool or a number."
            )
        return DataDependentShapeError(
            "a size or a branch depends on the values of a tensor",
            expected="sizes that follow from the sizes of the arguments",
            got=got if op is None or op in got else f"{got}, in op `{op}`",
            where=where,
            hint=hint,
        )
    return ExportError(what, got=f"{type(error).__name__}: {message}", where=where, hint=hint)


def _failing_op(error: BaseException) -> str | None:
    """The op that PyTorch was tracing as it raised an error: the outermost, which is the user's."""
    traceback = error.__traceback__
    while traceback is not None:
        op = traceback.tb_frame.f_locals.get("func")
        if isinstance(op, OpOverload):
            return str(cast(object, op))
        traceback = traceback.tb_next
    return None


def _buffer_asked(error: BaseException) -> str | None:
    """The buffer of a module that the user's line names at which PyTorch stopped."""
    traceback, found = error.__traceback__, None
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code.co_filename):
            found = traceback
        traceback = traceback.tb_next
    if found is None:
        return None
    line = linecache.getline(found.tb_frame.f_code.co_filename, found.tb_lineno)
    modules = [(name, each) for name, each in found.tb_frame.f_locals.items() if isinstance(each, torch.nn.Module)]
    buffers = [(name, buffer) for name, module in modules for buffer, _ in module.named_buffers(recurse=False)]
    return next((buffer for name, buffer in buffers if re.search(rf"\b{name}\.{re.escape(buffer)}\b", line)), None)


def _essence(message: str) -> str:
    """The first line of a long message, what it announces, and the violated constraints or suggested fixes that it lists."""
    lines = [line.strip() for line in message.strip().splitlines() if line.strip()]
    while len(lines) > 1 and lines[0].endswith(":"):
        lines[:2] = [f"{lines[0]} {lines[1]}"]
    listed = [line for line in lines[1:] if re.match(r"- Not all values|\w+ = Dim\(|Explanation: ", line)]
    return " ".join([*lines[:1], *listed[:4]])


def refuse_shared_state(changed: Mapping[str, str], tensors: Mapping[str, torch.Tensor]) -> None:
    """A tensor of the model that changes has memory of its own, each byte of it once: its new contents are written there.

    Args:
        changed: the Python line of the change, by the name of the tensor.
        tensors: all tensors of the model that the program uses, by name.
    """
    extents = sorted((*_extent(tensor), name) for name, tensor in tensors.items() if tensor.numel())
    furthest = furthest_changed = (0, "")
    for lower, upper, name in extents:
        end, other = furthest if name in changed else furthest_changed
        if lower < end:
            this, that = (name, other) if name in changed else (other, name)
            raise _unsupported_state(this, changed, "memory of its own", f"memory shared with `{that}`")
        furthest = max(furthest, (upper, name))
        furthest_changed = max(furthest_changed, (upper, name)) if name in changed else furthest_changed
    for name in changed:
        lower, upper = _extent(tensors[name])
        if upper - lower != tensors[name].nbytes or tensors[name].is_conj() or tensors[name].is_neg():
            got = f"strides {tuple(tensors[name].stride())} for sizes {tuple(tensors[name].shape)}"
            raise _unsupported_state(name, changed, "memory without gaps or repeated elements", got)


def _unsupported_state(name: str, changed: Mapping[str, str], expected: str, got: str) -> UnsupportedMutationError:
    return UnsupportedMutationError(
        f"the model changes `{name}` in place",
        expected=expected,
        got=got,
        where=changed[name],
        hint="Make it a tensor of its own, such as `tensor.clone()`.",
    )


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    reach = sum((size - 1) * stride for size, stride in steps) + 1 if tensor.numel() else 0
    return tensor.data_ptr(), tensor.data_ptr() + reach * tensor.element_size()


def refuse_data_dependence(graph: torch.fx.Graph, *, counted: bool = True, foreign: bool = True) -> None:
    """Where a size or a number follows from the values of a tensor, something must find it: a loop, or a foreign call.

    Numbers that control flow carries are values, but no sizes.

    Args:
        counted: whether sizes may be found at all.
        foreign: whether PyTorch's kernels may be called.
    """
    for node in (node for each in all_graphs(graph) for node in each.nodes):
        if node.op == "placeholder" or not defined_symbols(node) or (counted and is_settled(node, foreign=foreign)):
            continue
        if counted and is_control_flow(node):
            continue
        values: list[Any] = pytree.tree_leaves(node.meta.get("val"))
        sized = any(isinstance(value, torch.Tensor) and free_unbacked_symbols(value.shape) for value in values)
        what = "has a size" if sized else "is a number"
        raise DataDependentShapeError(
            f"the result of op `{node.target}` {what} that depends on the values of a tensor",
            expected="sizes that follow from the sizes of the arguments, and values in tensors",
            got="one that is known only when the program runs",
            where=node_line(node),
            hint="Rewrite it with masks or `torch.where`, or keep that part outside the compiled model.",
        )


_TAKEN_AS_ELEMENTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("clamp", "clamp_min", "clamp_max", "clip"), ("min", "max")),
    **dict.fromkeys(("add", "sub", "subtract", "rsub", "index_add"), ("alpha",)),
    **dict.fromkeys(("addmm", "addmv", "addbmm", "baddbmm", "addr"), ("alpha", "beta")),
    **dict.fromkeys(("pad", "constant_pad_nd", "scatter", "masked_fill", "addcmul"), ("value",)),
    "hardtanh": ("min_val", "max_val"),
    "threshold": ("threshold", "value"),
    "pow": ("exponent",),
}
"""Numbers that PyTorch's kernels convert to the type of the elements, by the name of the op: they refuse one that does not fit,
of which other ops take what is left in that type."""


def refuse_gradients(exported: ExportedProgram) -> None:
    """Functions of `torch.func` that take gradients: `torch.export` writes down what they wrap as constants of this very call."""
    wrapped: Callable[[object], bool] = cast(Any, torch)._C._functorch.is_functorch_wrapped_tensor
    constants = cast("Collection[object]", exported.constants.values())
    if any(isinstance(each, torch.Tensor) and wrapped(each) for each in constants):
        raise ExportError(
            "torch.export cannot capture gradients taken by `torch.func`",
            expected="a model that takes none",
            got="`torch.func.grad`, or another function that calls it",
            hint='`torch.compile(f, backend="hotdesk")` takes them, and `hotdesk.compile` takes what '
            "`torch.fx.experimental.proxy_tensor.make_fx(f)(…)` writes down.",
        )


_TAKEN_WHOLE = ("aten::hardtanh", "aten::hardtanh_", "aten::pow", "aten::pow_")
"""Those that drop what is behind the point first."""


def refuse_numbers_beyond_elements(graph: torch.fx.Graph) -> None:
    """A number that has more bits than the integers that an op computes with, where PyTorch's kernels refuse it."""
    for node in (node for each in all_graphs(graph) for node in each.nodes):
        target, value = node.target, node.meta.get("val")
        if not isinstance(target, OpOverload) or not isinstance(value, torch.Tensor) or not _is_integer(value.dtype):
            continue
        schema: Any = cast(Any, target)._schema
        names = _TAKEN_AS_ELEMENTS.get(schema.name.removeprefix("aten::").rstrip("_"), ())
        given = dict(zip([each.name for each in schema.arguments], node.args, strict=False)) | node.kwargs
        for name in names:
            number = given.get(name)
            if not isinstance(number, int | float):
                continue
            taken = -number if "sub" in schema.name else number  # a difference is a sum whose factor is negated
            if schema.name in _TAKEN_WHOLE and math.isfinite(taken):
                taken = int(taken)
            if not is_element(taken, value.dtype):
                raise ExportError(
                    f"PyTorch refuses `{name}={number}` of op `{node.target}`",
                    expected=f"a number of type {value.dtype}",
                    got="one beyond it",
                    where=node_line(node),
                    hint="Take a number in the range of the type, or convert the tensor to a wider one.",
                )


def _is_integer(dtype: torch.dtype) -> bool:
    return not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool


def refuse_settled_counts(graph: torch.fx.Graph) -> None:
    """What `torch._check` fixes of sizes and numbers from data, in branches and bodies of loops: PyTorch drops these checks as it
    takes programs apart. It keeps those of `narrow`, from which its length follows."""
    _, *inner = all_graphs(graph)
    for node in (node for each in inner for node in each.nodes):
        if settled(node) and node.target is not torch.ops.aten.narrow.default:
            raise DataDependentShapeError(
                f"the result of op `{node.target}`, in a branch or a loop, is fixed by `torch._check`",
                expected="a check that leaves the number open, such as `torch._check(n <= limit)`",
                got="one by which it equals a number or a size",
                where=node_line(node),
                hint="Make the check outside of the branch, or check a limit.",
            )


def guards_of(exported: ExportedProgram) -> list[Any]:
    """What PyTorch has assumed about sizes so far."""
    environment = environment_of(exported)
    return [] if environment is None else list(environment.guards)


def assumed(exported: ExportedProgram, guards: Sequence[Any], inputs: Sequence[TensorSpec]) -> list[Any]:
    """The relations that `guards` are between the sizes of inputs; where `Dim.AUTO` allows them nobody else looks at them.

    What is assumed of their strides is of no matter: calls copy what is not contiguous.
    """
    environment = environment_of(exported)
    sizes = {name for spec in inputs for size in spec.shape for name in symbols_of(size)}
    found = [environment.replace(guard.expr) for guard in guards] if environment is not None else []
    return [each for each in found if each.free_symbols and sizes.issuperset(map(str, each.free_symbols))]


def environment_of(exported: ExportedProgram) -> Any:
    """Where PyTorch keeps what it knows of sizes; None if none of them vary."""
    for node in exported.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and isinstance(value, FakeTensor) and value.fake_mode.shape_env is not None:
            return value.fake_mode.shape_env
    return None


def assumed_in_decompositions(
    exported: ExportedProgram,
    known: int,
    limits: Bounds,
    inputs: Sequence[TensorSpec],
    names: SizeNames,
    declared: Collection[str],
) -> list[Any]:
    """What decompositions have assumed of sizes behind the first `known` guards, but for what holds for all within their limits.

    Calls check it as what export assumes. Refused is what no call could check, since it is not of sizes of inputs alone, and
    what is assumed of sizes that the user has `declared` alone: all that the declaration allows have to be compiled.
    """
    environment, varying = environment_of(exported), set(limits)
    sizes = {name for spec in inputs for size in spec.shape for name in symbols_of(size)}
    checked: list[Any] = []
    refused: list[Any] = []
    for guard in guards_of(exported)[known:]:
        symbols = set(map(str, guard.expr.free_symbols))
        if not symbols & varying or holds_for_all(plain(guard.expr), limits):
            continue
        relation = environment.replace(guard.expr)
        # Of sizes that were found to be equal, or to be a number, the inputs' types say so by now.
        is_said = relation == sympy.true
        can_be_checked = is_said or sizes.issuperset(map(str, relation.free_symbols))
        if symbols <= {*declared} or not can_be_checked:
            refused.append(guard.expr if is_said else relation)
        elif not is_said:
            checked.append(relation)
    if refused:
        raise UnsupportedOpError(
            "an op is taken apart in a way that holds for some sizes only",
            expected="one way for every size that `dynamic_shapes` allows",
            got=" and ".join(spelled(names.size(plain(each))) for each in refused),
            hint="Leave the size open with `Dim.AUTO`, and each call checks it; or compile once for each size.",
        )
    return checked


def refuse_nodes(graph: torch.fx.Graph, *, foreign: bool = False) -> None:
    """Effects, random numbers, subgraphs but those of control flow, and element types without a lowering are refused."""
    for node in graph.nodes:
        if node.op == "placeholder" and isinstance(node.meta.get("val"), NUMBERS):
            raise UnsupportedOpError(
                f"argument `{node.name}` is a number that varies",
                expected="a number fixed when the model is compiled",
                got="a dynamic one",
                hint="Pass it as a tensor, or compile once for each value.",
            )
    for node in (node for each in all_graphs(graph) for node in each.nodes):
        if isinstance(node.target, HigherOrderOperator) and not is_control_flow(node):
            raise UnsupportedOpError(
                f"op `{_higher_order_name(node)}` has no lowering to linalg",
                expected="a graph of aten ops on tensors",
                got="one that PyTorch's own kernel computes, which `foreign=False` forbids"
                if torch.ops.aten._linalg_check_errors.default in node.args and not foreign
                else "an operation with a subgraph, or with a side effect such as a check",
                where=node_line(node),
                hint=_REPLACE,
            )
        if node.target in UNTRUSTED and not foreign:
            raise UnsupportedOpError(
                f"op `{node.target}` has no lowering to linalg",
                expected=UNTRUSTED[node.target],
                got="something else",
                where=node_line(node),
                hint=_REPLACE,
            )
        if node.users and _draws(node):
            raise UnsupportedOpError(
                f"op `{node.target}` draws random numbers",
                expected="one that docs/operators.md lists",
                got="another random op",
                where=node_line(node),
                hint="Draw them outside the model and pass them as an argument.",
            )
        for value in pytree.tree_leaves(node.meta.get("val")):
            if (
                isinstance(value, torch.Tensor)
                and value.dtype not in DTYPES
                and not (foreign and is_carried(value.dtype))
            ):
                raise unsupported_dtype(f"tensor `{node.name}`", value.dtype, node_line(node))


def _draws(node: torch.fx.Node) -> bool:
    """Whether an op draws random numbers; those that only do so in training say it in an argument."""
    target: Any = node.target
    if not isinstance(target, OpOverload) or torch.Tag.nondeterministic_seeded not in cast(Any, target).tags:
        return False
    arguments: Any = cast(Any, target)._schema.arguments
    given = {argument.name: argument.default_value for argument in arguments}
    given.update(zip(given, node.args, strict=False))
    given.update(node.kwargs)
    return given.get("training", given.get("train")) is not False


def _higher_order_name(node: torch.fx.Node) -> str:
    """The op inside; for a check of what another op found, that op."""
    target: Any = next((arg for arg in node.args if isinstance(arg, OpOverload)), node.target)
    if target is torch.ops.aten._linalg_check_errors.default:
        checked = [arg for arg in node.args if isinstance(arg, torch.fx.Node) and "info" in _results_of(arg)]
        target = checked[0].all_input_nodes[0].target if checked else target
    return str(target)


def _results_of(node: torch.fx.Node) -> list[str]:
    """The name of the result that a node takes out of those of the op before it."""
    made: Any = node.all_input_nodes[0].target if node.target is operator.getitem else None
    return [cast(Any, made)._schema.returns[cast(int, node.args[1])].name] if isinstance(made, OpOverload) else []


def unreadable(error: Exception) -> UnsupportedOpError:
    """What torch-mlir's importer stumbled over."""
    return UnsupportedOpError(
        "torch-mlir cannot read the program",
        expected="a graph of aten ops on tensors",
        got=f"{type(error).__name__}: {error}",
        hint=_REPLACE,
    )


def without_lowering(diagnostics: str, culprit: Callable[[], torch.fx.Node]) -> HotdeskError:
    """The op at fault: the one that MLIR names or, if that is a mere operand of it, the one that is searched for."""
    first = next((line for line in diagnostics.splitlines() if "error:" in line), diagnostics.splitlines()[0])
    op, where = named_op(diagnostics), python_line(first)
    if op is None or not where:
        node = culprit()
        op, where = op or _name(node), where or node_line(node)
    said = re.sub(r".*?error: ((callsite\(.*?\)+|loc\(.*?\)|unknown|\"[^\"]+\":\d+:\d+): )?", "", first)
    return UnsupportedOpError(
        f"op `{op}` has no lowering to linalg",
        expected="an op that torch-mlir lowers",
        got="one that it does not know in this form" if "failed to legalize" in said else said[:160],
        where=where,
        hint=_REPLACE,
    )


def untrusted(node: torch.fx.Node, how: str) -> UnsupportedOpError:
    """An op that a pass of torch-mlir's dies of or does not come to an end with."""
    return UnsupportedOpError(
        f"op `{_name(node)}` has no lowering to linalg",
        expected="an op that torch-mlir's passes come to an end with",
        got=how,
        where=node_line(node),
        hint=_REPLACE,
    )


def _name(node: torch.fx.Node) -> str:
    """Its op; where it takes one of several results, the op that gives them."""
    while node.target is operator.getitem:
        node = node.all_input_nodes[0]
    return str(node.target)


def named_op(diagnostics: str) -> str | None:
    """The PyTorch op that MLIR's diagnostics name."""
    named = re.search(r'name = "torch\.([\w.]+)"', diagnostics) or re.search(
        r"(?:operation|op) 'torch\.(?!operator|constant|prim)([\w.]+)'", diagnostics
    )
    return named.group(1) if named else None
