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
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol, TypeAlias, cast

import torch
from torch._ops import OpOverload
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.carried import carrier
from hotdesk.frontends.torch.lines import node_line
from hotdesk.frontends.torch.size_values import Check, SizeValues, check_divisions, location_of, made_check
from hotdesk.frontends.torch.symbolic_numbers import NUMBERS, plain
from hotdesk.frontends.torch.tensor_assertions import TensorAssertion
from hotdesk.graphs import postorder
from hotdesk.ir.building import create
from hotdesk.ir.context import entered
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.signature import FunctionSignature, set_signature, signature
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import defining_op, entry_block, main_function, values_read
from hotdesk.sizes.size import spelled


class Replacement(Protocol):
    """What is put in for an op that was cut out."""

    @property
    def inputs(self) -> tuple[torch.fx.Node, ...]:
        """The nodes of the graph that it reads: tensors, and numbers."""
        ...

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        """Makes what stands for the op, and gives its results by their numbers."""
        ...


_Checked: TypeAlias = OpMap[list[ir.Operation]]
"""The checks that go in front of an op, by that op."""


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

    `numbers` are the expressions of the results that are numbers, by number. `name` and `line` say which op it was, for refusals.
    """

    written: Replacement
    sizes: Mapping[int, tuple[Any, ...]]
    numbers: Mapping[int, Any] = field(default_factory=dict[int, Any])
    name: str = ""
    line: str = ""


@contextmanager
def _named(op: CutOp) -> Generator[None]:
    """Gives refusals from inside the `with` that name no line the op and its line."""
    try:
        yield
    except UnsupportedOpError as error:
        if error.where is not None:
            raise
        what = f"in op `{op.name}`, {error.what}"
        raise UnsupportedOpError(
            what, expected=error.expected, got=error.got, where=op.line, hint=error.hint
        ) from error


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
                found = settled_places(node)
                sizes = {
                    place: tuple(found.get((place, dim), size) for dim, size in enumerate(_sizes(each)))
                    for place, each in values.items()
                }
                numbers = {
                    place: found.get((place, 0), expression_of(each))
                    for place, each in values.items()
                    if _is_number(each)
                }
                cuts.append(CutOp(made, sizes, numbers, _op_name(node.target), node_line(node)))
                read += made.inputs
        elif node.op == "output":
            results = [copies[each] for each in node.args[0]]
            new.output((*results, *(copies[each] for each in read)))
        elif not (node.target is operator.getitem and node in copies):
            copies[node] = new.node_copy(node, copies.__getitem__)
    new.eliminate_dead_code()
    return new, cuts, {copy: node for node, copy in copies.items()}


def _op_name(target: Any) -> str:
    return str(target) if isinstance(target, OpOverload) else getattr(target, "__name__", str(target))


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
    return _carried(_results(node)[place])


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
    return isinstance(value, NUMBERS)


def expression_of(number: Any) -> Any:
    """A number of PyTorch's that varies as an expression."""
    return plain(number.node.expr)


def settled(node: torch.fx.Node) -> dict[Any, Any]:
    """What PyTorch takes for granted of sizes and numbers that an op finds in data: the value of each symbol.

    `torch._check(n == 5)` makes it write 5 for the number everywhere, in the check itself too.
    """
    return {symbol: _size(_numbers(node)[place]) for place, symbol in settled_places(node).items()}


def settled_places(node: torch.fx.Node) -> dict[tuple[int, int], Any]:
    """The symbols of those sizes and numbers, by the numbers of the result and of its dim; a number is its own dim 0."""
    if (noted := node.meta.get(_PLACES)) is not None:
        return noted
    if node.op == "placeholder":  # of a branch or a loop: found outside
        return {}
    found = {place: symbol for place, size in _numbers(node).items() if (symbol := _settled_symbol(size)) is not None}
    if not found:
        return {}
    given = (size for source in node.all_input_nodes for size in _numbers(source).values())
    older = {symbol for size in given if isinstance(size, torch.SymInt) for symbol in size.node._expr.free_symbols}
    return {place: plain(symbol) for place, symbol in found.items() if symbol not in older}


def note_settled_places(node: torch.fx.Node, places: Mapping[tuple[int, int], Any]) -> None:
    """Says `settled_places` of a node whose results do not tell."""
    node.meta[_PLACES] = dict(places)


_PLACES = "hotdesk_settled_places"


def _numbers(node: torch.fx.Node) -> dict[tuple[int, int], Any]:
    """The numbers among an op's results, and the sizes of those that are tensors, by place."""
    shapes = (each.shape if isinstance(each, torch.Tensor) else (each,) for each in _results(node))
    return {(place, dim): size for place, shape in enumerate(shapes) for dim, size in enumerate(shape)}


def _results(node: torch.fx.Node) -> Sequence[Any]:
    value: Any = node.meta.get("val")
    return value if isinstance(value, tuple | list) else (value,)


def _settled_symbol(number: Any) -> Any:
    """The symbol of a number that was found in data, if what is written for it by now follows from no data."""
    if not isinstance(number, torch.SymInt) or free_unbacked_symbols(number):
        return None
    symbol = number.node._expr  # as it was found
    return symbol if symbol.is_Symbol and free_unbacked_symbols(symbol) else None


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


def joined(
    module: ir.Module,
    cuts: Sequence[CutOp],
    arguments: Sequence[Any],
    checks: Sequence[Check] = (),
    asserted: Sequence[TensorAssertion] = (),
    *,
    checks_first: bool = False,
    spell: Callable[[Any], str] = spelled,
) -> None:
    """Puts what was cut out into the lowered module.

    Args:
        arguments: of `@main` but for the stand-ins of results: the sizes of a tensor, a tuple, or the expression of a number.
        checks: what is demanded of sizes and numbers that ops which were cut out find.
        asserted: what the last results are, truths: each is checked as soon as it is known.
        checks_first: whether all checks, with what they read, go in front of the other ops, not those of arguments alone.
        spell: how sizes are told in refusals.
    """
    with entered(module.operation):
        function = main_function(module)
        block = entry_block(function)
        if not (cuts or checks or asserted):
            check_divisions(function)
            return
        *_, last = (op.operation for op in block.operations)
        returned = list(last.operands)
        own = len(arguments)
        results = len(returned) - sum(len(each.written.inputs) for each in cuts)
        inputs, stand_ins = iter(returned[results:]), iter(list(block.arguments)[own:])
        sizes = SizeValues(arguments, list(block.arguments)[:own], last, checks, spell=spell)
        made: dict[ir.Value, ir.Value] = {}
        for each in cuts:
            given = [next(inputs) for _ in each.written.inputs]
            replaced = {place: next(stand_ins) for place in each.sizes}
            wanted = {place: (value.type, each.sizes[place]) for place, value in replaced.items()}
            cast(Any, last).location = location_of(each.line, function)  # what is made in front of it is there, too
            with _named(each):
                found = each.written.write(CutSite([made.get(value, value) for value in given], wanted, sizes, last))
                found = {
                    place: sizes.told(value, each.sizes[place], each.numbers.get(place))
                    for place, value in found.items()
                }
            for place, stand_in in replaced.items():
                stand_in.replace_all_uses_with(found[place])
                made[stand_in] = found[place]
        cast(Any, last).location = function.location
        sizes.check_the_rest()
        divisions = check_divisions(function)
        dividing = [check for checks in divisions.values() for check in checks]
        own_results = results - len(asserted)
        kept, truths = list(last.operands)[:own_results], list(last.operands)[own_results:results]
        asserts = _checks(asserted, truths, last)
        new = create("func.return", kept, [], before=last)
        last.erase()
        for position in reversed(range(own, len(block.arguments))):
            block.erase_argument(position)
        known = signature(function)
        set_signature(function, FunctionSignature(known.arguments[:own], known.results[:own_results]))
        first = [*sizes.asserts, *asserts, *dividing] if checks_first else sizes.asserts_of_arguments
        _put_in_order(block, first, new, _both(sizes.checked, divisions))


def _both(first: _Checked, second: _Checked) -> _Checked:
    return OpMap((op, [*first.get(op, ()), *second.get(op, ())]) for op in (*first, *second))


def _checks(asserted: Sequence[TensorAssertion], truths: Sequence[ir.Value], last: ir.Operation) -> list[ir.Operation]:
    """Checks truths, each behind what makes it; `last` ends the block."""
    bit, made = ir.IntegerType.get_signless(1), list[ir.Operation]()
    behind = OpMap(pairwise(op.operation for op in last.block.operations))
    for each, value in zip(asserted, truths, strict=True):
        maker = defining_op(value)
        place = last if maker is None else behind[maker]
        truth = create("tensor.extract", [value], [bit], before=place).results[0]
        made.append(made_check(truth, each.told, each.op, each.line, place))
    return made


def _put_in_order(
    block: ir.Block,
    first: Sequence[ir.Operation],
    last: ir.Operation,
    checked: _Checked,
) -> None:
    """Moves the ops of a block, where need be, so that each comes behind those whose results it reads, and behind its checks.

    Those that are to be `first` come in front of all that they do not need.
    """
    ops = [op.operation for op in block.operations]
    numbers = OpMap((op, number) for number, op in enumerate(ops))

    def needed(number: int) -> list[int]:
        op = ops[number]
        return [numbers[each] for each in (*checked.get(op, ()), *reversed(_read_from(op, block)))]

    for number in list(postorder((*map(numbers.__getitem__, first), *range(len(ops))), needed)):
        if ops[number] != last:
            cast(Any, ops[number]).move_before(last)


def _read_from(op: ir.Operation, block: ir.Block) -> list[ir.Operation]:
    """The ops of a block that an op of it reads results of, in its regions too."""
    values = values_read(op)
    made = (defining_op(value) for value in values)
    return [each for each in made if each is not None and each.block == block]
