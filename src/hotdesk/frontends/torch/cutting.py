"""Ops that torch-mlir does not see: a graph is cut there, and what stands for such an op is put in when the rest is lowered.

What the op reads becomes a result of the function, what it makes an argument.

    main(x):  y = sin(x); z = op(y); return cos(z)      ->      main(x, z):  y = sin(x); return cos(z), y

1. `cut` does so for all such ops of a graph at once.
2. The rest is lowered; its ops are in one block, in any order that their values allow.
3. `joined` writes the ops: each reads what was returned for it, and its results stand for the arguments. Ops are put in an
   order in which every value is made before it is read.

Sizes that vary are computed from those of the arguments, and from those that ops which were cut out have found.
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast

import sympy
import torch

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.carried import carrier
from hotdesk.frontends.torch.specs import plain
from hotdesk.ir.building import create, dim, index_constant
from hotdesk.ir.context import entered
from hotdesk.ir.locations import CHECKED_OP
from hotdesk.ir.walking import captured_operands, defining_op, entry_block, main_function
from hotdesk.ir.written_sizes import written


class Replacement(Protocol):
    """What is put in for an op that was cut out."""

    @property
    def inputs(self) -> tuple[torch.fx.Node, ...]:
        """The nodes of the graph that it reads: tensors, and numbers."""
        ...

    def write(
        self,
        inputs: Sequence[ir.Value],
        results: Mapping[int, tuple[ir.Type, tuple[Any, ...]]],
        sizes: SizeValues,
        before: ir.Operation,
    ) -> Mapping[int, ir.Value]:
        """Makes the op in front of another one, and gives its results.

        Args:
            inputs: the values of `inputs`.
            results: the type and the sizes, as expressions, of each result that is read, by its number.
        """
        ...


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


@dataclass(frozen=True, slots=True)
class Check:
    """A relation between sizes and numbers that PyTorch demands, its line, and how users are told of it."""

    relation: Any
    line: str
    told: str = ""


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
            found = each.written.write([made.get(value, value) for value in given], wanted, sizes, last)
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
        kinds = ir.FunctionType.get([value.type for value in block.arguments], [value.type for value in kept])
        function.attributes["function_type"] = ir.TypeAttr.get(kinds)
        if "arg_attrs" in function.attributes:
            kept_attributes = list(cast(Any, function.attributes["arg_attrs"]))[:own]
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(kept_attributes)
        if "res_attrs" in function.attributes:
            function.attributes["res_attrs"] = ir.ArrayAttr.get(
                list(cast(Any, function.attributes["res_attrs"]))[:results]
            )
        _put_in_order(block, new, sizes.checked)


def location_of(line: str, before: ir.Operation) -> ir.Location:
    """A line `file:number` as a location; that of an op where there is none."""
    file, _, number = line.rpartition(":")
    return ir.Location.file(file, int(number), 0) if file else before.location


class SizeValues:
    """Index values for expressions over the sizes of arguments, made in front of an op.

    Sizes that are known only when the program runs become known by `defined` and `told`; what is demanded of them is checked
    then. `checked` are the checks that go in front of an op, by that op.
    """

    def __init__(
        self, arguments: Sequence[Any], values: Sequence[ir.Value], before: ir.Operation, checks: Sequence[Check] = ()
    ) -> None:
        self._before = before
        self._known: dict[Any, ir.Value] = {}
        self._sources: dict[Any, tuple[ir.Value, int]] = {}
        self._numbers: dict[Any, ir.Value] = {}
        self._pending = list(checks)
        self.checked: dict[ir.Operation, list[ir.Operation]] = {}
        for given, value in zip(arguments, values, strict=True):
            if not isinstance(given, tuple):
                self._numbers.setdefault(given, value)
                continue
            self._note(value, cast("tuple[Any, ...]", given))

    def _note(self, value: ir.Value, shape: Sequence[Any]) -> None:
        for position, size in enumerate(shape):
            if isinstance(size, sympy.Symbol):
                self._sources.setdefault(size, (value, position))

    def is_new(self, size: Any) -> bool:
        """Whether a size is a symbol of which nobody has told what it is."""
        places = (self._known, self._sources, self._numbers)
        return isinstance(size, sympy.Symbol) and not any(size in each for each in places)

    def defined(self, symbol: Any, found: ir.Value, most: ir.Value | None = None) -> ir.Value:
        """The value of a symbol that an op has found, once what is demanded of it is checked: never more than its limits.

        Args:
            most: a limit that it never exceeds, if there is one.
        """
        self._known[symbol] = found
        ready = [check for check in self._pending if self._are_known(check.relation)]
        self._pending = [check for check in self._pending if check not in ready]
        asserts = [self._assert(check) for check in ready]
        limits = [self.of(limit) for limit in (_limit(check.relation, symbol) for check in ready) if limit is not None]
        least = max(
            (int(each) for each in (_least(check.relation, symbol) for check in ready) if each is not None), default=-1
        )
        checked = found
        for limit in limits if most is None else [most, *limits]:
            checked = self._made_of("arith.minsi", [checked, limit])
        if checked is not found and least >= 0:
            checked = self._made_of("arith.maxsi", [checked, index_constant(least, self._before)])
        if checked is found and asserts:  # an op of its own, that the checks go in front of
            checked = self._made_of("arith.addi", [found, index_constant(0, self._before)])
        if asserts:
            first = defining_op(checked)
            while first is not None and first.operands[0] != found:
                first = defining_op(first.operands[0])
            self.checked[cast(ir.Operation, first)] = asserts
        self._known[symbol] = checked
        return checked

    def told(self, value: ir.Value, shape: Sequence[Any], number: Any) -> ir.Value:
        """The result of an op that was cut out, with what it tells of sizes: a tensor of a shape, or the value of a number."""
        self._note(value, shape)
        if isinstance(number, sympy.Eq) and number.args[1] == 1 and self.is_new(number.args[0]):  # a truth, counted
            wide = create("arith.index_castui", [value], [ir.IndexType.get()], before=self._before).results[0]
            self.defined(number.args[0], wide)
        if number is None or not self.is_new(number):
            return value
        if not isinstance(value.type, ir.IntegerType) or value.type.width == 1:
            return value
        index = ir.IndexType.get()
        found = create("arith.index_cast", [value], [index], before=self._before).results[0]
        return create("arith.index_cast", [self.defined(number, found)], [value.type], before=self._before).results[0]

    def check_the_rest(self) -> None:
        """Makes the checks that no size had to wait for. Raises UnsupportedOpError if one is of what nobody knows."""
        for check in self._pending:
            self._assert(check)
        self._pending = []

    def _are_known(self, relation: Any) -> bool:
        return not any(self.is_new(symbol) for symbol in relation.free_symbols)

    def _assert(self, check: Check) -> ir.Operation:
        holds = self._holds(check.relation)
        message: dict[str, ir.Attribute] = {
            "msg": ir.StringAttr.get(check.told),
            CHECKED_OP: ir.StringAttr.get("torch._check"),
        }
        made = create("cf.assert", [holds], [], message, before=self._before)
        cast(Any, made).location = location_of(check.line, self._before)
        return made

    def _holds(self, relation: Any) -> ir.Value:
        """A relation as a bit."""
        bit, word = ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(64)
        if isinstance(relation, sympy.And | sympy.Or):
            first, *rest = [self._holds(each) for each in relation.args]
            for each in rest:
                name = "arith.andi" if isinstance(relation, sympy.And) else "arith.ori"
                first = create(name, [first, each], [bit], before=self._before).results[0]
            return first
        predicate = _PREDICATES.get(type(relation))
        if predicate is None:
            raise UnsupportedOpError(
                "a check of sizes has a form that is not known",
                expected="comparisons of sizes",
                got=written(relation),
            )
        operands = [self.of(each) for each in relation.args]
        attribute: dict[str, ir.Attribute] = {"predicate": ir.IntegerAttr.get(word, predicate)}
        return create("arith.cmpi", operands, [bit], attribute, before=self._before).results[0]

    def _made_of(self, op: str, operands: Sequence[ir.Value]) -> ir.Value:
        return create(op, operands, [ir.IndexType.get()], before=self._before).results[0]

    def of(self, size: Any) -> ir.Value:
        """The value of an expression. Raises UnsupportedOpError if it is none of integers and sizes of arguments."""
        if size not in self._known:
            self._known[size] = self._made(size)
        return self._known[size]

    def _made(self, size: Any) -> ir.Value:
        if isinstance(size, int) or size.is_Integer:
            return index_constant(int(size), self._before)
        if size in self._sources:
            value, position = self._sources[size]
            return dim(value, position, self._before)
        if size in self._numbers:
            return create("arith.index_cast", [self._numbers[size]], [ir.IndexType.get()], before=self._before).results[
                0
            ]
        if size.is_Pow and size.exp.is_Integer and int(size.exp) > 0:
            return self._folded("arith.muli", [size.base] * int(size.exp))
        if size.is_Add or (size.is_Mul and all(each.is_integer is not False for each in size.args)):
            return self._folded("arith.addi" if size.is_Add else "arith.muli", size.args)
        if isinstance(size, sympy.floor):
            above, below = cast(Any, size.args[0]).as_numer_denom()
            return self._folded("arith.floordivsi", [above, below])
        if isinstance(size, sympy.Mod):
            return self._folded("arith.remsi", size.args)
        if isinstance(size, sympy.Max | sympy.Min):
            return self._folded("arith.maxsi" if isinstance(size, sympy.Max) else "arith.minsi", size.args)
        raise UnsupportedOpError(
            "an op without a lowering has a size of a form that is not known",
            expected="sums, products, quotients and remainders of sizes of arguments",
            got=written(size),
        )

    def _folded(self, op: str, terms: Iterable[Any]) -> ir.Value:
        first, *rest = [self.of(term) for term in terms]
        for value in rest:
            first = create(op, [first, value], [ir.IndexType.get()], before=self._before).results[0]
        return first


_PREDICATES = {sympy.Eq: 0, sympy.Ne: 1, sympy.Lt: 2, sympy.Le: 3, sympy.Gt: 4, sympy.Ge: 5}


def _limit(relation: Any, symbol: Any) -> Any:
    """What a relation says that a symbol never exceeds; None if it does not."""
    if isinstance(relation, sympy.Ge | sympy.Gt):
        relation = relation.reversed
    if not isinstance(relation, sympy.Le | sympy.Lt) or relation.args[0] != symbol:
        return None
    limit: Any = relation.args[1]
    return None if symbol in limit.free_symbols else limit - 1 if isinstance(relation, sympy.Lt) else limit


def _least(relation: Any, symbol: Any) -> Any:
    """The number that a relation says a symbol is at least; None if it does not."""
    if isinstance(relation, sympy.Le | sympy.Lt):
        relation = relation.reversed
    if not isinstance(relation, sympy.Ge | sympy.Gt) or relation.args[0] != symbol:
        return None
    limit: Any = relation.args[1]
    if not limit.is_Integer:
        return None
    return limit + 1 if isinstance(relation, sympy.Gt) else limit


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
