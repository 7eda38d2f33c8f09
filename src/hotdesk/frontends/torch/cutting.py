"""Ops that torch-mlir does not see: a graph is cut there, and what stands for such an op is put in when the rest is lowered.

What the op reads becomes a result of the function, what it makes an argument.

    main(x):  y = sin(x); z = op(y); return cos(z)      ->      main(x, z):  y = sin(x); return cos(z), y

1. `cut` does so for all such ops of a graph at once.
2. The rest is lowered; its ops are in one block, in any order that their values allow.
3. `joined` writes the ops: each reads what was returned for it, and its results stand for the arguments. Ops are put in an
   order in which every value is made before it is read.

Sizes that vary are computed from those of the arguments, and from those that ops which were cut out have found (`size_values`).
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from hotdesk._bindings import ir
from hotdesk.frontends.torch.carried import carrier
from hotdesk.frontends.torch.size_values import Check, SizeValues
from hotdesk.frontends.torch.specs import plain
from hotdesk.ir.building import create
from hotdesk.ir.context import entered
from hotdesk.ir.signature import FunctionSignature, set_signature, signature
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import captured_operands, defining_op, entry_block, main_function


class Replacement(Protocol):
    """What is put in for an op that was cut out."""

    @property
    def inputs(self) -> tuple[torch.fx.Node, ...]:
        """The nodes of the graph that it reads: tensors, and numbers."""
        ...

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        """Makes what stands for the op, and gives its results by their numbers."""
        ...


@dataclass(frozen=True, slots=True)
class CutSite:
    """Where an op was cut out, for what is put in there.

    Attributes:
        inputs: the values of what it reads.
        results: the type and the sizes, as expressions, of each result that is read, by its number.
        sizes: what sizes are there.
        before: the op in front of which it goes.
    """

    inputs: Sequence[ir.Value]
    results: Mapping[int, tuple[ir.Type, tuple[Any, ...]]]
    sizes: SizeValues
    before: ir.Operation

    def dynamic_sizes(self, result: int) -> list[ir.Value]:
        """The sizes of a result that its type leaves open."""
        kind, shape = self.results[result]
        return [self.sizes.of(size) for size, known in zip(shape, shape_of(kind), strict=True) if known is None]


Maker: TypeAlias = Callable[[torch.fx.Node, Sequence[int]], Replacement]
"""Given a node and the numbers of its results that are read: what is put in for it."""


@dataclass(frozen=True, slots=True)
class CutOp:
    """An op that was cut out, and the sizes of its results that are read, by number; those of a number are none.

    `numbers` are the expressions of the results that are numbers, by number.
    """

    written: Replacement
    sizes: Mapping[int, tuple[Any, ...]]
    numbers: Mapping[int, Any] = field(default_factory=dict[int, Any])


def cut(
    graph: torch.fx.Graph, makers: Mapping[torch.fx.Node, Maker], checked: Collection[torch.fx.Node] = ()
) -> tuple[torch.fx.Graph, list[CutOp], dict[torch.fx.Node, torch.fx.Node]]:
    """A copy of a graph without some of its ops; those, in order; and for each node of the copy that of the graph.

    Of the ops that nobody reads those are kept whose result, one number or tensor, is `checked`.
    """
    new = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    cuts: list[CutOp] = []
    last: torch.fx.Node | None = None
    for node in graph.nodes:
        if node.op == "placeholder":
            last = copies[node] = new.node_copy(node, copies.__getitem__)
            last.meta["val"] = _carried(node.meta["val"])
            last.meta.pop("tensor_meta", None)
    read: list[torch.fx.Node] = []
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            continue
        if node in makers:
            readers = _readers(node) or ({node: 0} if node in checked and not _has_several(node) else {})
            if readers:
                places = sorted(set(readers.values()))
                made = makers[node](node, places)
                stand_ins = _stand_ins(new, last, node, len(cuts), readers)
                copies.update(stand_ins)
                last = list(stand_ins.values())[-1]
                values = {place: _result(node, place) for place in places}
                numbers = {place: expression_of(each) for place, each in values.items() if _is_number(each)}
                if (demanded := settled_number(node)) is not None:
                    numbers = dict.fromkeys(numbers, demanded.args[0])
                cuts.append(CutOp(made, {place: _sizes(each) for place, each in values.items()}, numbers))
                read += made.inputs
        elif node.op == "output":
            results = [copies[each] for each in node.args[0]]
            new.output((*results, *(copies[each] for each in read)))
        elif not (node.target is operator.getitem and node in copies):
            copies[node] = new.node_copy(node, copies.__getitem__)
    new.eliminate_dead_code()
    return new, cuts, {copy: node for node, copy in copies.items()}


def _carried(value: Any) -> Any:
    return carrier(value) if isinstance(value, torch.Tensor) else value


def _has_several(node: torch.fx.Node) -> bool:
    return isinstance(node.meta["val"], tuple | list)


def _readers(node: torch.fx.Node) -> dict[torch.fx.Node, int]:
    """The nodes that stand for the results of an op, itself if it has but one, each with the number of its result."""
    if not node.users:  # nor is there a value of what only asserts
        return {}
    if not _has_several(node):
        return {node: 0}
    readers = {user: cast(int, user.args[1]) for user in node.users if user.target is operator.getitem and user.users}
    return dict(sorted(readers.items(), key=lambda entry: entry[1]))


def _result(node: torch.fx.Node, place: int) -> Any:
    value: Any = node.meta["val"]
    return _carried(value[place] if isinstance(value, tuple | list) else value)


def _stand_ins(
    new: torch.fx.Graph, last: torch.fx.Node | None, node: torch.fx.Node, number: int, readers: dict[torch.fx.Node, int]
) -> dict[torch.fx.Node, torch.fx.Node]:
    """A placeholder behind the last one for each result of a node that is read, by its readers."""
    placed: dict[int, torch.fx.Node] = {}
    for place in sorted(set(readers.values())):
        with new.inserting_after(last) if last is not None else new.inserting_before():
            last = placed[place] = new.placeholder(f"cut_{number}_{place}")
        value = _result(node, place)
        last.meta.update(node.meta)
        last.meta.pop("tensor_meta", None)
        last.meta["val"] = value.new_empty(value.shape) if isinstance(value, torch.Tensor) else value
    return {reader: placed[place] for reader, place in readers.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool)


def expression_of(number: Any) -> Any:
    """A number of PyTorch's that varies as an expression."""
    return plain(number.node.expr)


def settled_number(node: torch.fx.Node) -> Any:
    """What PyTorch takes for granted of a number that an op reads from a tensor, as an equation: `torch._check(n == 5)` makes it
    write 5 for the number everywhere, in the check itself too. None if it takes nothing for granted."""
    number: Any = node.meta.get("val")
    if node.target is not torch.ops.aten._local_scalar_dense.default or not isinstance(number, torch.SymInt):
        return None
    symbol = number.node._expr  # as it was read
    if free_unbacked_symbols(number) or not symbol.is_Symbol:
        return None
    return sympy.Eq(plain(symbol), expression_of(number), evaluate=False)


def _sizes(value: Any) -> tuple[Any, ...]:
    return shape_expressions(value) if isinstance(value, torch.Tensor) else ()


def shape_expressions(value: torch.Tensor) -> tuple[Any, ...]:
    """The sizes of a tensor: integers, and expressions of SymPy's."""
    return tuple(_size(size) for size in value.shape)


def _size(size: Any) -> Any:
    if isinstance(size, int):
        return size
    expression = size.node.expr
    return int(expression) if expression.is_number else plain(expression)


def joined(module: ir.Module, cuts: Sequence[CutOp], arguments: Sequence[Any], checks: Sequence[Check] = ()) -> None:
    """Puts what was cut out into the lowered module.

    Args:
        arguments: of `@main` but for the stand-ins of results: the sizes of a tensor, a tuple, or the expression of a number.
        checks: what is demanded of sizes and numbers that ops which were cut out find.
    """
    if not cuts:
        return
    with entered(module.operation):
        function = main_function(module)
        block = entry_block(function)
        *_, last = (op.operation for op in block.operations)
        returned = list(last.operands)
        own = len(arguments)
        results = len(returned) - sum(len(each.written.inputs) for each in cuts)
        inputs, stand_ins = iter(returned[results:]), iter(list(block.arguments)[own:])
        sizes = SizeValues(arguments, list(block.arguments)[:own], last, checks)
        made: dict[ir.Value, ir.Value] = {}
        for each in cuts:
            given = [next(inputs) for _ in each.written.inputs]
            replaced = {place: next(stand_ins) for place in each.sizes}
            wanted = {place: (value.type, each.sizes[place]) for place, value in replaced.items()}
            found = each.written.write(CutSite([made.get(value, value) for value in given], wanted, sizes, last))
            found = {
                place: sizes.told(value, each.sizes[place], each.numbers.get(place)) for place, value in found.items()
            }
            for place, stand_in in replaced.items():
                stand_in.replace_all_uses_with(found[place])
                made[stand_in] = found[place]
        sizes.check_the_rest()
        kept = list(last.operands)[:results]
        new = create("func.return", kept, [], before=last)
        last.erase()
        for position in reversed(range(own, len(block.arguments))):
            block.erase_argument(position)
        known = signature(function)
        set_signature(function, FunctionSignature(known.arguments[:own], known.results[:results]))
        _put_in_order(block, new, sizes.checked)


def _put_in_order(block: ir.Block, last: ir.Operation, checked: Mapping[ir.Operation, Sequence[ir.Operation]]) -> None:
    """Moves the ops of a block, where need be, so that each comes behind those whose results it reads, and behind its checks."""
    ops = [op.operation for op in block.operations]
    settled: set[ir.Operation] = set()
    order: list[ir.Operation] = []
    for root in ops:
        waiting = [root]
        while waiting:
            op = waiting[-1]
            needed = [*_read_from(op, block), *checked.get(op, ())]
            missing = [each for each in needed if each not in settled]
            if op in settled or not missing:
                waiting.pop()
                if op not in settled:
                    settled.add(op)
                    order.append(op)
            else:
                waiting += missing
    for op in order:
        if op != last:
            cast(Any, op).move_before(last)


def _read_from(op: ir.Operation, block: ir.Block) -> list[ir.Operation]:
    """The ops of a block that an op of it reads results of, in its regions too."""
    values = [*op.operands, *(value for _, _, value in captured_operands(op))]
    made = (defining_op(value) for value in values)
    return [each for each in made if each is not None and each.block == block]
