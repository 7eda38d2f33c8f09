"""PyTorch's ops with subgraphs, `cond`, `while_loop`, `scan` and `map`, as loops and branches of `scf`.

    cond(p, f, g, (x,))                 ->    scf.if %p { f(x) } else { g(x) }
    while_loop(c, f, (i, x), (w,))      ->    scf.while (%i, %x) { scf.condition(c(i, x, w)) } do { f(i, x, w) }
    scan(f, [h], [xs], (w,))            ->    scf.for %k (%h, %ys) { %h, %y = f(h, xs[k], w); ys[k] = %y }
    map(f, [xs], (w,))                  ->    scf.for %k (%ys) { ys[k] = f(xs[k], w) }

1. torch-mlir sees nothing of such an op (`cutting`).
2. Each subgraph is lowered as a graph of its own, whose arguments are tensors and numbers; its ops are moved into a region.
3. What is carried from one iteration to the next has one type; numbers are `i64`, `f64` or `i1`.
4. A result of `scan` or `map` that nobody reads is not made.

`associative_scan` is none of them: PyTorch takes it apart when it exports.
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import torch
from torch._ops import HigherOrderOperator

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.carried import carrier
from hotdesk.frontends.torch.cutting import CutSite, Replacement, shape_expressions
from hotdesk.frontends.torch.lines import node_line
from hotdesk.frontends.torch.size_values import location_of
from hotdesk.frontends.torch.symbolic_numbers import NUMBERS, plain
from hotdesk.ir.building import slice_parts
from hotdesk.ir.types import shape_of, tensor_with
from hotdesk.ir.walking import entry_block, main_function

Number: TypeAlias = "bool | int | float"
Lower: TypeAlias = Callable[[torch.fx.Graph, Sequence[Any]], ir.Module]
"""Lowers a subgraph, given the sizes of its arguments, or the expressions of those that are numbers."""

_CONSTANTS = (bool, int, float, type(None))


def is_control_flow(node: torch.fx.Node) -> bool:
    """Whether a node is one of the ops above."""
    return isinstance(node.target, HigherOrderOperator) and node.target.name() in _MAKERS


def subgraphs(node: torch.fx.Node) -> Iterator[torch.fx.GraphModule]:
    """The subgraphs of a node."""
    owner: Any = node.graph.owning_module
    for each in node.all_input_nodes:
        if each.op == "get_attr" and isinstance(found := getattr(owner, str(each.target), None), torch.fx.GraphModule):
            yield found


def all_graphs(graph: torch.fx.Graph) -> Iterator[torch.fx.Graph]:
    """A graph and the subgraphs of its control flow, outermost first."""
    yield graph
    for node in graph.nodes:
        if is_control_flow(node):
            for found in subgraphs(node):
                yield from all_graphs(found.graph)


def control_flow_op(node: torch.fx.Node, lower: Lower) -> Replacement:
    """What is put in for a node of control flow."""
    return _MAKERS[cast(Any, node.target).name()](node, lower)


# What an op reads


@dataclass(frozen=True, slots=True)
class _Input:
    number: int


_Operand: TypeAlias = "_Input | Number | None"


class _Reads:
    """The operands of an op: each is one of the values that it reads, or a constant."""

    def __init__(self, node: torch.fx.Node) -> None:
        self._node = node
        self._numbers: dict[torch.fx.Node, int] = {}

    @property
    def nodes(self) -> tuple[torch.fx.Node, ...]:
        return tuple(self._numbers)

    def one(self, given: Any) -> _Operand:
        if isinstance(given, torch.fx.Node):
            return _Input(self._numbers.setdefault(given, len(self._numbers)))
        if isinstance(given, _CONSTANTS):
            return given
        raise UnsupportedOpError(
            f"op `{self._node.target}` has an operand of a kind that is not known",
            expected="tensors and numbers",
            got=type(given).__name__,
            where=node_line(self._node),
        )

    def many(self, given: Any) -> tuple[_Operand, ...]:
        return tuple(self.one(each) for each in given)


def _values(operands: Sequence[_Operand], inputs: Sequence[ir.Value]) -> list[ir.Value | Number | None]:
    return [inputs[each.number] if isinstance(each, _Input) else each for each in operands]


# Subgraphs


@dataclass(frozen=True, slots=True)
class _Returned:
    number: int


class _Subgraph:
    """A subgraph, lowered. `types` are those of its arguments, None for one that is not read: a constant."""

    def __init__(self, node: torch.fx.Node, name: Any, lower: Lower) -> None:
        owner = cast(torch.fx.GraphModule, getattr(cast(Any, node.graph.owning_module), str(name.target)))
        graph = deepcopy(owner.graph)
        graph.owning_module = owner
        arguments = self._arguments(graph)
        self._results = self._taken_results(graph)
        self._module = lower(graph, [each for each in arguments if each is not None])
        types = iter(argument.type for argument in entry_block(main_function(self._module)).arguments)
        self.types = tuple(None if each is None else next(types) for each in arguments)

    def _arguments(self, graph: torch.fx.Graph) -> list[Any]:
        found: list[Any] = []
        for node in graph.find_nodes(op="placeholder"):
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor):
                found.append(shape_expressions(carrier(value)))
            elif isinstance(value, NUMBERS):
                found.append(plain(cast(Any, value).node.expr))
            else:
                node.replace_all_uses_with(value)
                graph.erase_node(node)
                found.append(None)
        return found

    def _taken_results(self, graph: torch.fx.Graph) -> tuple[Any, ...]:
        (output,) = graph.find_nodes(op="output")
        returned = output.args[0] if isinstance(output.args[0], tuple | list) else (output.args[0],)
        nodes = [each for each in returned if isinstance(each, torch.fx.Node)]
        output.args = (tuple(nodes),)
        numbers = iter(range(len(nodes)))
        return tuple(_Returned(next(numbers)) if isinstance(each, torch.fx.Node) else each for each in returned)

    def moved(self, block: ir.Block, given: Sequence[ir.Value | Number | None]) -> list[ir.Value | Number | None]:
        """Moves the ops behind those of a block, the values of the arguments given, and returns the results."""
        entry = entry_block(main_function(self._module))
        read = [value for value, kind in zip(given, self.types, strict=True) if kind is not None]
        for argument, value in zip(entry.arguments, read, strict=True):
            argument.replace_all_uses_with(_as(value, argument.type))
        *ops, last = (op.operation for op in entry.operations)
        returned = list(last.operands)
        last.erase()
        for op in ops:
            block.append(op)
        return [returned[each.number] if isinstance(each, _Returned) else each for each in self._results]


def _as(value: ir.Value | Number | None, kind: ir.Type) -> ir.Value:
    """A value as one of another type that holds the same: more or less of its sizes known, or a constant, at this point."""
    if not isinstance(value, ir.Value):
        attribute = (
            ir.FloatAttr.get(kind, float(value or 0)) if "f" in str(kind) else ir.IntegerAttr.get(kind, int(value or 0))
        )
        return _made("arith.constant", [], [kind], {"value": attribute}).results[0]
    return value if value.type == kind else _made("tensor.cast", [value], [kind]).results[0]


def _made(
    name: str,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: Mapping[str, ir.Attribute] | None = None,
    regions: int = 0,
) -> ir.Operation:
    """An op at this point."""
    made = ir.Operation.create(
        name, results=results, operands=operands, attributes=dict(attributes or {}), regions=regions
    )
    return made.operation


def _block(op: ir.Operation, region: int, types: Sequence[ir.Type] = ()) -> ir.Block:
    return op.regions[region].blocks.append(*types, arg_locs=[op.location] * len(types))


@contextmanager
def _placed(site: CutSite, line: str) -> Generator[None]:
    """Ops that are made inside of the `with` go where an op was cut out, at a line."""
    with ir.InsertionPoint(site.before), location_of(line, site.before):
        yield


def _truth(value: ir.Value | Number | None) -> ir.Value:
    """A condition as an `i1`."""
    bit = ir.IntegerType.get_signless(1)
    if isinstance(value, ir.Value) and isinstance(value.type, ir.RankedTensorType):
        return _made("tensor.extract", [value], [bit]).results[0]
    return _as(value, bit)


def _results_as(values: Sequence[ir.Value], wanted: Mapping[int, tuple[ir.Type, Any]]) -> dict[int, ir.Value]:
    return {place: _as(value, wanted[place][0]) for place, value in zip(wanted, values, strict=True)}


# The ops


@dataclass(frozen=True, slots=True)
class _Cond:
    inputs: tuple[torch.fx.Node, ...]
    predicate: _Operand
    operands: tuple[_Operand, ...]
    ways: tuple[_Subgraph, _Subgraph]
    line: str

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        with _placed(site, self.line):
            (predicate,) = _values([self.predicate], site.inputs)
            types = [kind for kind, _ in site.results.values()]
            branch = _made("scf.if", [_truth(predicate)], types, regions=2)
            for number, way in enumerate(self.ways):
                block = _block(branch, number)
                with ir.InsertionPoint(block):
                    made = way.moved(block, _values(self.operands, site.inputs))
                    _made("scf.yield", [_as(made[place], kind) for place, (kind, _) in site.results.items()], [])
        return dict(zip(site.results, branch.results, strict=True))


@dataclass(frozen=True, slots=True)
class _While:
    inputs: tuple[torch.fx.Node, ...]
    carried: tuple[_Operand, ...]
    additional: tuple[_Operand, ...]
    condition: _Subgraph
    body: _Subgraph
    line: str

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        with _placed(site, self.line):
            types = [cast(ir.Type, kind) for kind in self.body.types[: len(self.carried)]]
            first = [_as(value, kind) for value, kind in zip(_values(self.carried, site.inputs), types, strict=True)]
            rest = _values(self.additional, site.inputs)
            loop = _made("scf.while", first, types, regions=2)
            block = _block(loop, 0, types)
            with ir.InsertionPoint(block):
                (condition,) = self.condition.moved(block, [*block.arguments, *rest])
                _made("scf.condition", [_truth(condition), *block.arguments], [])
            block = _block(loop, 1, types)
            with ir.InsertionPoint(block):
                made = self.body.moved(block, [*block.arguments, *rest])
                _made("scf.yield", [_as(value, kind) for value, kind in zip(made, types, strict=True)], [])
            return _results_as([loop.results[place] for place in site.results], site.results)


@dataclass(frozen=True, slots=True)
class _For:
    """`scan`, or `map` if nothing is carried."""

    inputs: tuple[torch.fx.Node, ...]
    carried: tuple[_Operand, ...]
    scanned: tuple[_Operand, ...]
    additional: tuple[_Operand, ...]
    body: _Subgraph
    line: str

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        states = len(self.carried)
        stacked = [place for place in site.results if place >= states]
        with _placed(site, self.line):
            types = [cast(ir.Type, kind) for kind in self.body.types[:states]]
            first = [_as(value, kind) for value, kind in zip(_values(self.carried, site.inputs), types, strict=True)]
            scanned = [cast(ir.Value, each) for each in _values(self.scanned, site.inputs)]
            rest = _values(self.additional, site.inputs)
            for place in stacked:
                kind, _ = site.results[place]
                first.append(_made("tensor.empty", site.dynamic_sizes(place), [kind]).results[0])
                types.append(kind)
            bounds = _index(0), _length(scanned[0]), _index(1)
            loop = _made("scf.for", [*bounds, *first], types, regions=1)
            block = _block(loop, 0, [ir.IndexType.get(), *types])
            with ir.InsertionPoint(block):
                at, *held = block.arguments
                made = self.body.moved(block, [*held[:states], *(_row(each, at) for each in scanned), *rest])
                new = [_as(value, kind) for value, kind in zip(made[:states], types, strict=False)]
                new += [_with_row(stack, made[place], at) for stack, place in zip(held[states:], stacked, strict=True)]
                _made("scf.yield", new, [])
            places = [*range(states), *stacked]
            return _results_as([loop.results[places.index(place)] for place in site.results], site.results)


def _index(value: int) -> ir.Value:
    return _as(value, ir.IndexType.get())


def _length(tensor: ir.Value) -> ir.Value:
    """The number of rows of a tensor, at this point."""
    known = shape_of(tensor.type)[0]
    return _index(known) if known is not None else _dim(tensor, 0)


def _dim(tensor: ir.Value, position: int) -> ir.Value:
    return _made("tensor.dim", [tensor, _index(position)], [ir.IndexType.get()]).results[0]


def _row(tensor: ir.Value, at: ir.Value) -> ir.Value:
    """One row of a tensor, at this point."""
    kind = tensor_with(shape_of(tensor.type)[1:], tensor.type)
    operands, attributes = _row_of([tensor], tensor, at)
    return _made("tensor.extract_slice", operands, [kind], attributes).results[0]


def _with_row(tensor: ir.Value, row: ir.Value | Number | None, at: ir.Value) -> ir.Value:
    """A tensor with another row, at this point."""
    made = _as(row, tensor_with(shape_of(tensor.type)[1:], tensor.type))
    operands, attributes = _row_of([made, tensor], tensor, at)
    return _made("tensor.insert_slice", operands, [tensor.type], attributes).results[0]


def _row_of(
    given: Sequence[ir.Value], tensor: ir.Value, at: ir.Value
) -> tuple[list[ir.Value], dict[str, ir.Attribute]]:
    """The operands and attributes of an op on one row; `given` are the operands in front."""
    shape = shape_of(tensor.type)[1:]
    sizes = [_dim(tensor, position) if size is None else size for position, size in enumerate(shape, 1)]
    return slice_parts(given, [at, *[0] * len(sizes)], [1, *sizes])


def _cond(node: torch.fx.Node, lower: Lower) -> Replacement:
    predicate, first, second, operands = node.args
    reads = _Reads(node)
    given = reads.one(predicate), reads.many(operands)
    return _Cond(reads.nodes, *given, (_Subgraph(node, first, lower), _Subgraph(node, second, lower)), node_line(node))


def _while_loop(node: torch.fx.Node, lower: Lower) -> Replacement:
    condition, body, carried, additional = node.args
    reads = _Reads(node)
    given = reads.many(carried), reads.many(additional)
    return _While(reads.nodes, *given, _Subgraph(node, condition, lower), _Subgraph(node, body, lower), node_line(node))


def _scan(node: torch.fx.Node, lower: Lower) -> Replacement:
    body, first, scanned, additional = node.args
    reads = _Reads(node)
    given = reads.many(first), reads.many(scanned), reads.many(additional)
    return _For(reads.nodes, *given, _Subgraph(node, body, lower), node_line(node))


def _map(node: torch.fx.Node, lower: Lower) -> Replacement:
    body, mapped, additional = node.args
    reads = _Reads(node)
    given = reads.many(mapped), reads.many(additional)
    return _For(reads.nodes, (), *given, _Subgraph(node, body, lower), node_line(node))


_MAKERS: Mapping[str, Callable[[torch.fx.Node, Lower], Replacement]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "scan": _scan,
    "map_impl": _map,
}
