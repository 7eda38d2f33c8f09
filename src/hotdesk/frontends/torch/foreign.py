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
from hotdesk.frontends.torch.specs import DTYPES
from hotdesk.frontends.torch.symbolic_numbers import expression_at, plain
from hotdesk.ir.building import create
from hotdesk.ir.dialect import MOST_OPERANDS, MOST_RESULTS
from hotdesk.models.hotdesk import KEEPS
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


def take_checks(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """Has each foreign op make the checks of its results that come after it in the graph (`_linalg_check_errors`).

    Returns the arguments that are tokens and order nothing any more; they are returned as they came.
    """
    tokens: set[torch.fx.Node] = set()
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
        tokens.add(cast(torch.fx.Node, token))
    return {token for token in tokens if token.op == "placeholder" and all(user.op == "output" for user in token.users)}


def take_tokens(exported: ExportedProgram) -> None:
    """Leaves nothing of tokens that order nothing."""
    graph = exported.graph
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
                attributes[KEEPS] = ir.UnitAttr.get()
            made = ir.Operation.create("hotdesk.foreign", [v.type for v in inits], operands, attributes).operation
        return dict(zip(site.results, made.results, strict=True))


def _filled(count: int, most: int) -> ir.Attribute:
    return ir.DenseI32ArrayAttr.get([int(i < count) for i in range(most)])


def foreign_op(node: torch.fx.Node, places: Sequence[int], number: int) -> Foreign:
    """What calls the op of a node for some of its results; `number` is that of the call in the program."""
    target: Any = node.target
    several = not isinstance(node.meta["val"], torch.Tensor)
    every = node.meta["val"] if several else [node.meta["val"]]
    values = [every[place] for place in places]
    inputs: dict[torch.fx.Node, int] = {}
    numbers: list[Any] = []

    def filled(each: torch.fx.Node) -> Any:
        value = each.meta.get("val")
        if isinstance(value, torch.Tensor):
            return _Tensor(inputs.setdefault(each, len(inputs)))
        if isinstance(value, torch.SymInt):
            numbers.append(plain(expression_at(each)))
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
            tuple((each.dtype, each_made.dtype) for each, each_made in zip(values, made, strict=True)),
            tuple(node.meta.get(CHECKS, ())),
            None if None in every else out_variant(target),
            tuple((number, each.dtype) for number, each in enumerate(every) if number not in places),
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
class OutVariant:
    """The variant of an op that writes its results where it is told: `names` are those of the arguments that say where."""

    target: Any
    names: tuple[str, ...]


def out_variant(target: Any) -> OutVariant | None:
    """The variant of an elementwise op with the same arguments and a place for each result; None if there is none.

    Kernels of other ops may refuse the values when they have begun to write, where memory of the model may be, and some of them
    (`fft_ihfftn`, `_histogramdd_bin_edges`) give other results that way than by themselves.
    """
    if torch.Tag.pointwise not in target.tags:
        return None
    given = [(each.name, str(each.type)) for each in target._schema.arguments]
    for name in target.overloadpacket.overloads():
        variant = getattr(target.overloadpacket, name)
        arguments = variant._schema.arguments
        outs = tuple(each.name for each in arguments if each.is_out)
        others = [(each.name, str(each.type)) for each in arguments if not each.is_out]
        if outs and len(outs) == len(target._schema.returns) and others == given:
            return OutVariant(variant, outs)
    return None


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Runs PyTorch's kernel of an op on tensors in memory; it writes its results where they belong, or they are copied there."""

    target: Any
    arguments: Any
    inputs: tuple[tuple[torch.dtype, torch.dtype], ...]
    results: tuple[int, ...]
    types: tuple[tuple[torch.dtype, torch.dtype], ...]
    checks: tuple[tuple[int, tuple[Any, ...], dict[str, Any]], ...]
    out: OutVariant | None
    unread: tuple[tuple[int, torch.dtype], ...]

    @property
    def held(self) -> tuple[torch.dtype, ...]:
        """The element types of the results as they lie in memory."""
        return tuple(held for _, held in self.types)

    def __call__(self, inputs: Sequence[Lying], numbers: Sequence[int], results: Sequence[Lying]) -> None:
        given = self._given(inputs)
        if self.out is not None and not self.checks:
            places = [
                restored(tensor_at(place, held), dtype)
                for place, (dtype, held) in zip(results, self.types, strict=True)
            ]
            if all(place.is_contiguous() for place in places) and _are_apart(given, places):
                self._write(self.out, given, numbers, places)
                for made, place, held in zip(places, results, self.held, strict=True):
                    check_made(carrier(made), place, held)
                return
        for place, made, held in zip(results, self._made(given, numbers), self.held, strict=True):
            store(made, place, held)

    def made(self, inputs: Sequence[Lying], numbers: Sequence[int]) -> list[torch.Tensor]:
        """What the kernel makes of them, as carriers."""
        return self._made(self._given(inputs), numbers)

    def _made(self, given: Sequence[torch.Tensor], numbers: Sequence[int]) -> list[torch.Tensor]:
        args, kwargs = self._filled(given, numbers)
        with torch.no_grad():
            made = self.target(*args, **kwargs)
            made = (made,) if isinstance(made, torch.Tensor) else made
            for number, rest, named in self.checks:
                aten._linalg_check_errors(made[number], *rest, **named)
            return [carrier(made[number]) for number in self.results]

    def _write(
        self, out: OutVariant, given: Sequence[torch.Tensor], numbers: Sequence[int], places: Sequence[torch.Tensor]
    ) -> None:
        args, kwargs = self._filled(given, numbers)
        written = {out.names[number]: place for number, place in zip(self.results, places, strict=True)}
        unread = {out.names[number]: torch.empty(0, dtype=dtype, device="cpu") for number, dtype in self.unread}
        with torch.no_grad():
            out.target(*args, **kwargs, **written, **unread)

    def _given(self, inputs: Sequence[Lying]) -> list[torch.Tensor]:
        return [restored(tensor_at(each, held), dtype) for each, (dtype, held) in zip(inputs, self.inputs, strict=True)]

    def _filled(self, given: Sequence[torch.Tensor], numbers: Sequence[int]) -> Any:
        """The arguments of the op, by position and by name."""

        def fill(each: Any) -> Any:
            if isinstance(each, _Tensor):
                return given[each.number]
            return numbers[each.number] if isinstance(each, _Number) else each

        return map_aggregate(self.arguments, fill)


def store(made: torch.Tensor, place: Lying, dtype: torch.dtype) -> None:
    """Copies what a kernel has made to the memory that was planned for it.

    Raises RuntimeError if it is not what PyTorch said of the op beforehand.
    """
    check_made(made, place, dtype)
    tensor_at(place, dtype).copy_(made)


def check_made(made: torch.Tensor, place: Lying, dtype: torch.dtype) -> None:
    """Raises RuntimeError if what a kernel has made is not what PyTorch said of the op beforehand."""
    if tuple(made.shape) != tuple(place.sizes) or made.dtype != dtype:
        planned = f"{dtype} of sizes {tuple(place.sizes)}"
        raise RuntimeError(f"the kernel made {made.dtype} of sizes {tuple(made.shape)}, and {planned} was planned")


def _are_apart(given: Sequence[torch.Tensor], places: Sequence[torch.Tensor]) -> bool:
    """Whether no result lies in the memory of an input."""
    read, written = ([_extent(each) for each in tensors if each.numel()] for tensors in (given, places))
    return not any(a < end and begin < b for a, b in written for begin, end in read)


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + (1 + last) * tensor.element_size()


def tensor_at(lying: Lying, dtype: torch.dtype) -> torch.Tensor:
    """The tensor that lies there, without a copy."""
    if 0 in lying.sizes:
        return torch.empty(lying.sizes, dtype=dtype, device="cpu")
    item = torch.empty((), dtype=dtype, device="cpu").element_size()
    extent = 1 + sum((size - 1) * stride for size, stride in zip(lying.sizes, lying.strides, strict=True))
    memory = (ctypes.c_uint8 * (extent * item)).from_address(lying.address)
    return torch.frombuffer(memory, dtype=dtype).as_strided(lying.sizes, lying.strides)
