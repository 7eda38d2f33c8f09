"""Ops that nothing lowers: the program calls PyTorch's kernel for each of them (`hotdesk.foreign`).

torch-mlir sees nothing of such an op (`cutting`).
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import ctypes
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sympy
import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.fx.node import map_aggregate, map_arg
from torch.utils import _pytree as pytree

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.carried import carrier, is_carried, restored
from hotdesk.frontends.torch.cutting import CutSite, shape_expressions
from hotdesk.frontends.torch.lines import node_line
from hotdesk.frontends.torch.size_values import location_of
from hotdesk.frontends.torch.specs import DTYPES, plain
from hotdesk.ir.building import create
from hotdesk.ir.dialect import MOST_OPERANDS, MOST_RESULTS
from hotdesk.runtime.code.foreign import ForeignCall, Lying

aten: Any = torch.ops.aten
_OPAQUE = ("aten::mkldnn_rnn_layer", "aten::mkldnn_rnn_layer_backward")
"""Ops with memory of their own between them, whose size PyTorch does not tell before they run."""
CHECKS = "hotdesk.checks"
"""In a node's metadata: the checks of its results that PyTorch makes after it, each a result's number and further arguments."""


@dataclass(frozen=True, slots=True)
class _Tensor:
    number: int


@dataclass(frozen=True, slots=True)
class _Number:
    number: int


def can_be_called(node: torch.fx.Node) -> bool:
    """Whether a node is an op of PyTorch's that reads tensors and numbers and makes tensors, and does nothing else."""
    target: Any = node.target
    if not isinstance(target, OpOverload) or cast(Any, target)._schema.is_mutable:
        return False
    if cast(Any, target)._schema.name in _OPAQUE:
        return False
    if any(isinstance(each.meta.get("val"), torch.SymFloat | torch.SymBool) for each in node.all_input_nodes):
        return False  # numbers of calls are integers
    made = pytree.tree_leaves(node.meta.get("val"))
    tensors = [value for value in made if isinstance(value, torch.Tensor)]
    return (
        bool(tensors)
        and all(value is None or isinstance(value, torch.Tensor) for value in made)
        and all(_is_plain(value) for value in tensors)
        and torch.Tag.nondeterministic_seeded not in cast(Any, target).tags
    )


def _is_plain(value: torch.Tensor) -> bool:
    return value.layout == torch.strided and (value.dtype in DTYPES or is_carried(value.dtype))


def carried_nodes(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """The ops that read or make tensors of element types that are carried: nothing but PyTorch knows these."""
    return {node for node in graph.nodes if node.op == "call_function" and _is_about_carried(node)}


def _is_about_carried(node: torch.fx.Node) -> bool:
    if node.target is operator.getitem:
        return False
    values = [node.meta.get("val"), *(each.meta.get("val") for each in node.all_input_nodes)]
    return any(isinstance(v, torch.Tensor) and is_carried(v.dtype) for v in pytree.tree_leaves(values))


def take_checks(exported: ExportedProgram) -> None:
    """Has each foreign op make the checks of its results that come after it in the graph (`_linalg_check_errors`).

    Nothing is left then of the tokens that order such checks.
    """
    graph = exported.graph
    for node in list(graph.nodes):
        if node.op != "call_function" or str(node.target) != "with_effects":
            continue
        token, inner, *given = node.args
        checked = given[0] if inner is aten._linalg_check_errors.default else None
        made = checked.args[0] if isinstance(checked, torch.fx.Node) and checked.target is operator.getitem else None
        if checked is None or not isinstance(made, torch.fx.Node) or not can_be_called(made):
            continue
        made.meta.setdefault(CHECKS, []).append((checked.args[1], tuple(given[1:]), dict(node.kwargs)))
        for user in list(node.users):
            user.replace_all_uses_with(token)
            graph.erase_node(user)
        graph.erase_node(node)
    signature = exported.graph_signature
    tokens = {spec.arg.name for spec in signature.input_specs if spec.kind == InputKind.TOKEN}
    for node in [node for node in graph.nodes if node.name in tokens]:
        if all(user.op == "output" for user in node.users):
            output = next(each for each in reversed(graph.nodes) if each.op == "output")
            output.args = (tuple(result for result in output.args[0] if result is not node),)
            graph.erase_node(node)
            signature.input_specs[:] = [spec for spec in signature.input_specs if spec.arg.name != node.name]
            signature.output_specs[:] = [spec for spec in signature.output_specs if spec.kind != OutputKind.TOKEN]


@dataclass(frozen=True, slots=True)
class Foreign:
    """The call that is put in for an op, and the numbers and inputs that it reads."""

    call: ForeignCall
    numbers: tuple[Any, ...]
    inputs: tuple[torch.fx.Node, ...]

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        before = site.before
        numbers = [site.sizes.of(number) for number in self.numbers]
        inits = [
            create("tensor.empty", site.dynamic_sizes(number), [kind], before=before).results[0]
            for number, (kind, _) in site.results.items()
        ]
        operands = [*site.inputs, *numbers, *inits]
        attributes: dict[str, ir.Attribute] = {
            "callee": ir.StringAttr.get(self.call.symbol),
            "op": ir.StringAttr.get(self.call.op),
            "groups": ir.DenseI64ArrayAttr.get([len(site.inputs), len(numbers), len(inits)]),
            "operandSegmentSizes": _filled(len(operands), MOST_OPERANDS),
            "resultSegmentSizes": _filled(len(inits), MOST_RESULTS),
        }
        with ir.InsertionPoint(before), location_of(self.call.location, before):
            if self.call.keeps:
                attributes["keeps"] = ir.UnitAttr.get()
            made = ir.Operation.create("hotdesk.foreign", [v.type for v in inits], operands, attributes).operation
        return dict(zip(site.results, made.results, strict=True))


def _filled(count: int, most: int) -> ir.Attribute:
    return ir.DenseI32ArrayAttr.get([int(i < count) for i in range(most)])


def foreign_op(node: torch.fx.Node, places: Sequence[int], number: int) -> Foreign:
    """What calls the op of a node for some of its results; `number` is that of the call in the program."""
    target: Any = node.target
    several = not isinstance(node.meta["val"], torch.Tensor)
    values = [node.meta["val"][place] if several else node.meta["val"] for place in places]
    inputs: dict[torch.fx.Node, int] = {}
    numbers: list[Any] = []

    def filled(each: torch.fx.Node) -> Any:
        value = each.meta.get("val")
        if isinstance(value, torch.Tensor):
            return _Tensor(inputs.setdefault(each, len(inputs)))
        if isinstance(value, torch.SymInt):
            numbers.append(plain(value.node.expr))
            return _Number(len(numbers) - 1)
        return value

    arguments = map_arg((node.args, dict(node.kwargs)), filled)
    held = [carrier(each.meta["val"]) for each in inputs]
    made = [carrier(value) for value in values]
    total = sum(sympy.prod(shape_expressions(each)) * each.element_size() for each in made)
    call = ForeignCall(
        f"hotdesk_foreign_{number}",
        str(target).removesuffix(".default"),
        node_line(node),
        tuple(each.dim() for each in held),
        len(numbers),
        tuple(each.dim() for each in made),
        int(total) if getattr(total, "is_number", True) else 0 if _is_counted(made) else total,
        _Kernel(
            target,
            arguments,
            tuple((each.meta["val"].dtype, each_held.dtype) for each, each_held in zip(inputs, held, strict=True)),
            tuple(places),
            tuple(each.dtype for each in made),
            tuple(node.meta.get(CHECKS, ())),
        ),
    )
    if len(held) + len(numbers) + len(made) > MOST_OPERANDS or len(made) > MOST_RESULTS:
        raise UnsupportedOpError(
            f"op `{call.op}` has no lowering to linalg",
            expected=f"a foreign call of at most {MOST_OPERANDS} tensors, {MOST_RESULTS} of them results",
            got=f"{len(held) + len(numbers) + len(made)} and {len(made)}",
            where=call.location,
        )
    return Foreign(call, tuple(numbers), tuple(inputs))


def _is_counted(made: Sequence[torch.Tensor]) -> bool:
    """Whether sizes of results are known only when the program runs."""
    return any(free_unbacked_symbols(each.shape) for each in made)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Runs PyTorch's kernel of an op on tensors in memory, and copies its results to where they belong."""

    target: Any
    arguments: Any
    inputs: tuple[tuple[torch.dtype, torch.dtype], ...]
    results: tuple[int, ...]
    types: tuple[torch.dtype, ...]
    checks: tuple[tuple[int, tuple[Any, ...], dict[str, Any]], ...]

    def __call__(self, inputs: Sequence[Lying], numbers: Sequence[int], results: Sequence[Lying]) -> None:
        for place, made, dtype in zip(results, self.made(inputs, numbers), self.types, strict=True):
            store(made, place, dtype)

    def made(self, inputs: Sequence[Lying], numbers: Sequence[int]) -> list[torch.Tensor]:
        """What the kernel makes of them, as carriers."""
        given = [
            restored(tensor_at(each, held), dtype) for each, (dtype, held) in zip(inputs, self.inputs, strict=True)
        ]

        def fill(each: Any) -> Any:
            if isinstance(each, _Tensor):
                return given[each.number]
            return numbers[each.number] if isinstance(each, _Number) else each

        args, kwargs = map_aggregate(self.arguments, fill)
        with torch.no_grad():
            made = self.target(*args, **kwargs)
            made = (made,) if isinstance(made, torch.Tensor) else made
            for number, rest, named in self.checks:
                aten._linalg_check_errors(made[number], *rest, **named)
            return [carrier(made[number]) for number in self.results]


def store(made: torch.Tensor, place: Lying, dtype: torch.dtype) -> None:
    """Copies what a kernel has made to the memory that was planned for it.

    Raises RuntimeError if it is not what PyTorch said of the op beforehand.
    """
    if tuple(made.shape) != tuple(place.sizes) or made.dtype != dtype:
        planned = f"{dtype} of sizes {tuple(place.sizes)}"
        raise RuntimeError(f"the kernel made {made.dtype} of sizes {tuple(made.shape)}, and {planned} was planned")
    tensor_at(place, dtype).copy_(made)


def tensor_at(lying: Lying, dtype: torch.dtype) -> torch.Tensor:
    """The tensor that lies there, without a copy."""
    if 0 in lying.sizes:
        return torch.empty(lying.sizes, dtype=dtype, device="cpu")
    item = torch.empty((), dtype=dtype, device="cpu").element_size()
    extent = 1 + sum((size - 1) * stride for size, stride in zip(lying.sizes, lying.strides, strict=True))
    memory = (ctypes.c_uint8 * (extent * item)).from_address(lying.address)
    return torch.frombuffer(memory, dtype=dtype).as_strided(lying.sizes, lying.strides)
