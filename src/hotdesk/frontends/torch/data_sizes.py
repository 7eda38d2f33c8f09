"""Sizes and numbers that follow from the values of tensors, in PyTorch models: elements that are counted when the program runs.

    nonzero(x)        ->    scf.for … { room[n] = place; n += x != 0 }, and the first n rows of the room
    x[mask]           ->    x[nonzero(mask)]
    unique(x)         ->    a foreign call that says how long the results are, and one that fetches them
    x.item()          ->    tensor.extract
    return nonzero(x) ->    a call that gives the caller a copy of that size

1. torch-mlir sees nothing of these ops (`cutting`): to it their results are arguments whose sizes vary.
2. PyTorch's checks of such a size are made as soon as it is known (`size_checks`); a limit among them is written down as
   `arith.minsi %size, %limit`: what has that size is planned at the limit.
3. Selections and stores are brought into these forms first (`selections`).
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

from hotdesk._bindings import ir
from hotdesk.frontends.torch.carried import carrier, restored
from hotdesk.frontends.torch.cutting import (
    CutSite,
    Maker,
    Replacement,
    settled,
)
from hotdesk.frontends.torch.foreign import Foreign, can_be_called, foreign_op, store, tensor_at
from hotdesk.frontends.torch.lines import node_line, place_like
from hotdesk.frontends.torch.specs import DTYPES
from hotdesk.frontends.torch.symbolic_numbers import NUMBERS
from hotdesk.ir.building import cast_to, create, dim, index_cast, index_constant, sliced
from hotdesk.ir.types import shape_of
from hotdesk.runtime.code.deliveries import Delivery, delivering
from hotdesk.runtime.code.deliveries import deliver as deliver_tensor
from hotdesk.runtime.code.foreign import ForeignCall, Lying

aten: Any = torch.ops.aten


def defined_symbols(node: torch.fx.Node) -> set[Any]:
    """The sizes and numbers that a node is the first to have: those of its results that none of its inputs has."""
    return new_symbols(node) | settled(node).keys()


def new_symbols(node: torch.fx.Node) -> set[Any]:
    """Those of its results that none of its inputs has, but for what is settled."""
    made = symbols_in(node.meta.get("val"))
    return made and made - symbols_in([each.meta.get("val") for each in node.all_input_nodes])


def symbols_in(values: Any) -> set[Any]:
    """The sizes and numbers in values, and in the shapes of tensors among them, that are known only when the program runs."""
    found: set[Any] = set()
    for value in pytree.tree_leaves(values):
        if isinstance(value, torch.Tensor):
            found |= free_unbacked_symbols([size for size in value.shape if type(size) is not int])
        elif isinstance(value, NUMBERS):
            found |= free_unbacked_symbols(value)
    return found


def value_of(node: Any) -> torch.Tensor:
    """The tensor that a node stands for, without its elements."""
    return node.meta["val"]


def data_maker(node: torch.fx.Node, number: Callable[[], int], calls: list[ForeignCall]) -> Maker | None:
    """Given an op that defines a size or a number, what is put in for it; None if there is nothing.

    Args:
        number: gives a new number of a foreign call.
        calls: gets the foreign calls that are made.
    """

    def delivery(node: torch.fx.Node, _: Sequence[int]) -> Replacement:
        return _delivery(node, number(), calls)

    def item(node: torch.fx.Node, _: Sequence[int]) -> Replacement:
        return _Item((node.args[0],))

    def nonzero(node: torch.fx.Node, _: Sequence[int]) -> Replacement:
        return _Nonzero((node.args[0],))

    def measured(node: torch.fx.Node, places: Sequence[int]) -> Replacement:
        return _measured(node, places, number, calls)

    def stores(node: torch.fx.Node, _: Sequence[int]) -> Replacement:
        return _Stores((node.args[0], node.args[1], node.args[2]), is_sum=bool(node.args[3]))

    if node.target is store_rows:
        return stores
    if node.target is deliver:
        return delivery
    if node.target is aten._local_scalar_dense.default:
        return item
    if node.op != "call_function" or not defined_symbols(node):
        return None
    if node.target is aten.nonzero.default and not value_of(node.args[0]).dtype.is_complex:
        return nonzero
    return measured if can_be_called(node) else None


def is_settled(node: torch.fx.Node, *, foreign: bool) -> bool:
    """Whether there is something to put in for an op that defines a size or a number."""
    by_kernel = node.target in (aten.nonzero.default, aten.masked_select.default, aten.index.Tensor)
    return by_kernel or node.target is aten._local_scalar_dense.default or (foreign and can_be_called(node))


@dataclass(frozen=True, slots=True)
class _Item:
    """The one element of a tensor, as a number."""

    inputs: tuple[Any, ...]

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        (tensor,), before = site.inputs, site.before
        zero = index_constant(0, before)
        element = cast(Any, tensor.type).element_type
        places = [zero] * len(shape_of(tensor.type))
        value = create("tensor.extract", [tensor, *places], [element], before=before).results[0]
        kind = site.results[0][0]
        if value.type == kind:
            return {0: value}
        if isinstance(kind, ir.F64Type):
            return {0: create("arith.extf", [value], [kind], before=before).results[0]}
        is_unsigned = value_of(self.inputs[0]).dtype in (torch.bool, torch.uint8)
        name = "arith.extui" if is_unsigned else "arith.extsi"
        return {0: create(name, [value], [kind], before=before).results[0]}


@dataclass(frozen=True, slots=True)
class _Nonzero:
    """The places of the elements that are not zero, row by row: counted and stored by a loop."""

    inputs: tuple[Any, ...]

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        (tensor,), before = site.inputs, site.before
        kind, (count, rank) = site.results[0]
        lengths = [dim(tensor, position, before) for position in range(rank)]
        total = index_constant(1, before)
        known: int | None = 1
        for length, size in zip(lengths, shape_of(tensor.type), strict=True):
            total = create("arith.muli", [total, length], [ir.IndexType.get()], before=before).results[0]
            known = None if known is None or size is None else known * size
        rows, demanded = total, site.sizes.demanded(count)
        if demanded is not None and not (demanded.is_Integer and known is not None and demanded <= known):
            rows, known = site.sizes.larger(total, demanded), None  # ops may be moved in front of the check
        words = ir.IntegerType.get_signless(64)
        room_kind = ir.RankedTensorType.get([_dynamic(known), rank], words)
        room = create("tensor.empty", [] if known is not None else [rows], [room_kind], before=before).results[0]
        nest = _Nest(tensor, lengths, before)
        found, filled = nest.run(index_constant(0, before), room)
        length = site.sizes.defined(count, found, total)
        if not rank:
            none = ir.RankedTensorType.get([_dynamic(None), 0], words)
            return {0: cast_to(create("tensor.empty", [length], [none], before=before).results[0], kind, before)}
        rows_kind = ir.RankedTensorType.get([_dynamic(None), rank], words)
        part = sliced("tensor.extract_slice", [filled], rows_kind, [0, 0], [length, rank], before)
        return {0: cast_to(part, kind, before)}


def _dynamic(size: int | None) -> int:
    return ir.ShapedType.get_dynamic_size() if size is None else size


class _Nest:
    """Loops over all elements of a tensor that store the place of each at the end of a list, and make that longer where it
    is not zero. The place that is stored at is never outside of a room of as many rows as there are elements."""

    def __init__(self, tensor: ir.Value, lengths: Sequence[ir.Value], before: ir.Operation) -> None:
        self._tensor, self._lengths, self._before = tensor, lengths, before
        self._index = ir.IndexType.get()

    def run(self, count: ir.Value, room: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The number of elements that are not zero, and the room with their places."""
        steps = index_constant(0, self._before), index_constant(1, self._before)
        with ir.InsertionPoint(self._before), self._before.location:
            return self._loops([], count, room, *steps)

    def _loops(
        self, at: list[ir.Value], count: ir.Value, room: ir.Value, zero: ir.Value, one: ir.Value
    ) -> tuple[ir.Value, ir.Value]:
        if len(at) == len(self._lengths):
            return self._body(at, count, room, one)
        bounds = [zero, self._lengths[len(at)], one]
        loop = ir.Operation.create("scf.for", [self._index, room.type], [*bounds, count, room], regions=1).operation
        kinds = [self._index, self._index, room.type]
        block = loop.regions[0].blocks.append(*kinds, arg_locs=[loop.location] * 3)
        with ir.InsertionPoint(block):
            place, *carried = block.arguments
            made = self._loops([*at, place], carried[0], carried[1], zero, one)
            ir.Operation.create("scf.yield", [], list(made))
        return loop.results[0], loop.results[1]

    def _body(self, at: list[ir.Value], count: ir.Value, room: ir.Value, one: ir.Value) -> tuple[ir.Value, ir.Value]:
        words = ir.IntegerType.get_signless(64)
        element = _op("tensor.extract", [self._tensor, *at], cast(Any, self._tensor.type).element_type)
        for number, each in enumerate(at):
            column = _op("arith.constant", [], self._index, {"value": ir.IntegerAttr.get(self._index, number)})
            room = _op("tensor.insert", [_op("arith.index_cast", [each], words), room, count, column], room.type)
        longer = _op("arith.addi", [count, one], self._index)
        return _op("arith.select", [_is_true(element), longer, count], self._index), room


def _is_true(element: ir.Value) -> ir.Value:
    bit, kind = ir.IntegerType.get_signless(1), element.type
    if kind == bit:
        return element
    word = ir.IntegerType.get_signless(64)
    if isinstance(kind, ir.IntegerType):
        zero = _op("arith.constant", [], kind, {"value": ir.IntegerAttr.get(kind, 0)})
        return _op("arith.cmpi", [element, zero], bit, {"predicate": ir.IntegerAttr.get(word, 1)})
    zero = _op("arith.constant", [], kind, {"value": ir.FloatAttr.get(kind, 0.0)})
    return _op("arith.cmpf", [element, zero], bit, {"predicate": ir.IntegerAttr.get(word, 13)})  # unordered or unequal


def _op(
    name: str, operands: Sequence[ir.Value], kind: ir.Type, attributes: Mapping[str, ir.Attribute] | None = None
) -> ir.Value:
    return ir.Operation.create(name, [kind], list(operands), dict(attributes or {})).results[0]


def store_rows(tensor: torch.Tensor, index: torch.Tensor, rows: torch.Tensor, is_sum: bool) -> torch.Tensor:
    """What stands in a graph for storing rows at places, or adding them to what is there. It is cut out before anything runs it.

    Args:
        tensor: what they are stored in.
        index: the places, [n, k], in its first k dims.
        rows: [n, 1, …, 1, rest], with k ones.
        is_sum: whether they are added.
    """
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _Stores:
    """A scatter."""

    inputs: tuple[Any, ...]
    is_sum: bool

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        tensor, index, rows = site.inputs
        depth = cast(int, shape_of(index.type)[1])
        attributes: dict[str, ir.Attribute] = {
            "dimension_map": ir.DenseI64ArrayAttr.get(list(range(depth))),
            "unique_indices": ir.BoolAttr.get(False),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1]),
        }
        operands = [rows, index, tensor]
        made = create("tm_tensor.scatter", operands, [tensor.type], attributes, regions=1, before=site.before)
        element = cast(Any, tensor.type).element_type
        block = made.regions[0].blocks.append(element, element, arg_locs=[made.location] * 2)
        with ir.InsertionPoint(block), made.location:
            new, old = block.arguments
            result = new
            if self.is_sum:
                result = _op("arith.addi" if isinstance(element, ir.IntegerType) else "arith.addf", [old, new], element)
            ir.Operation.create("tm_tensor.yield", [], [result])
        return {0: cast_to(made.results[0], site.results[0][0], site.before)}


# Foreign calls whose results are as long as they happen to be

_HELD = threading.local()
"""What this thread's last calls have made and not passed on yet, by the symbol of the call."""


@dataclass(frozen=True, slots=True)
class _Measuring:
    """Runs a kernel, keeps what it makes, and says the sizes of it."""

    symbol: str
    kernel: Any

    def __call__(self, inputs: Sequence[Lying], numbers: Sequence[int], results: Sequence[Lying]) -> None:
        made = self.kernel.made(inputs, numbers)
        setattr(_HELD, self.symbol, made)
        tensor_at(results[0], torch.int64).copy_(torch.tensor([size for each in made for size in each.shape]))


@dataclass(frozen=True, slots=True)
class _Fetching:
    """Copies what such a call has made to where it belongs."""

    symbol: str
    types: tuple[torch.dtype, ...]

    def __call__(self, inputs: Sequence[Lying], numbers: Sequence[int], results: Sequence[Lying]) -> None:
        made = getattr(_HELD, self.symbol)
        delattr(_HELD, self.symbol)
        for place, each, dtype in zip(results, made, self.types, strict=True):
            store(each, place, dtype)


@dataclass(frozen=True, slots=True)
class _Measured:
    """Two calls: the first runs the kernel and gives the sizes of its results, the second one fetches these."""

    measure: Foreign
    fetch: Foreign

    @property
    def inputs(self) -> tuple[torch.fx.Node, ...]:
        return self.measure.inputs

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        before = site.before
        total = sum(len(shape) for _, shape in site.results.values())
        kind = ir.RankedTensorType.get([total], ir.IntegerType.get_signless(64))
        told = self.measure.write(replace(site, results={0: (kind, (total,))}))[0]
        number = 0
        for _, shape in site.results.values():
            for size in shape:
                if site.sizes.is_new(size):
                    place = index_constant(number, before)
                    words = cast(Any, kind).element_type
                    read = create("tensor.extract", [told, place], [words], before=before).results[0]
                    index = index_cast(read, ir.IndexType.get(), before)
                    site.sizes.defined(size, index)
                number += 1
        open_results = {place: (_with_sizes_open(kind, shape), shape) for place, (kind, shape) in site.results.items()}
        made = self.fetch.write(replace(site, inputs=[told], results=open_results))
        return {place: cast_to(value, site.results[place][0], before) for place, value in made.items()}


def _with_sizes_open(kind: ir.Type, shape: Sequence[Any]) -> ir.Type:
    """A type of a result whose sizes its op finds, without what is taken for granted of them."""
    sizes = [size if isinstance(size, int) else _dynamic(None) for size in shape]
    return ir.RankedTensorType.get(sizes, cast(Any, kind).element_type)


def _measured(
    node: torch.fx.Node, places: Sequence[int], number: Callable[[], int], calls: list[ForeignCall]
) -> _Measured:
    one = foreign_op(node, places, number())
    measure = one.call._replace(results=(1,), runs=_Measuring(one.call.symbol, one.call.runs), keeps=True)
    calls.append(measure)
    symbol, runs = f"hotdesk_foreign_{number()}", _Fetching(one.call.symbol, cast(Any, one.call.runs).held)
    fetch = one.call._replace(symbol=symbol, inputs=(1,), numbers=0, runs=runs, is_op=False, keeps=True)
    calls.append(fetch)
    return _Measured(Foreign(measure, one.numbers, one.inputs), Foreign(fetch, (), ()))


# Results


def deliver(tensor: torch.Tensor, place: int) -> torch.Tensor:
    """What stands in a graph for a result that is returned as long as it happens to be; a number comes of it.

    It is cut out before anything runs it.
    """
    raise NotImplementedError


def delivered(graph: torch.fx.Graph, node: torch.fx.Node, place: int) -> torch.fx.Node:
    """A node in front of the graph's end that delivers a tensor as the result of a number."""
    output = next(each for each in reversed(graph.nodes) if each.op == "output")
    with graph.inserting_before(output):
        made = graph.call_function(deliver, (node, place))
    place_like(made, node)
    with node.meta["val"].fake_mode:
        made.meta["val"] = torch.empty((), dtype=torch.int64)
    return made


@dataclass(frozen=True, slots=True)
class _Restoring:
    """Copies a tensor for the caller that another one carries."""

    place: int
    held: torch.dtype
    dtype: torch.dtype

    def __call__(self, inputs: Sequence[Lying], numbers: Sequence[int], results: Sequence[Lying]) -> None:
        deliver_tensor(self.place, restored(tensor_at(inputs[0], self.held).clone(), self.dtype), results[0])


def _delivery(node: torch.fx.Node, number: int, calls: list[ForeignCall]) -> Foreign:
    tensor, place = cast("tuple[Any, Any]", node.args)
    dtype, held = tensor.meta["val"].dtype, carrier(tensor.meta["val"])
    is_plain = held.dtype == dtype
    runs = Delivery(int(place), DTYPES[dtype]) if is_plain else _Restoring(int(place), held.dtype, dtype)
    call = delivering(f"hotdesk_foreign_{number}", held.dim(), node_line(tensor), runs)
    calls.append(call)
    return Foreign(call, (), (tensor,))
