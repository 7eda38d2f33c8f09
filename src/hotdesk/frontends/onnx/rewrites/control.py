"""If, Loop and Scan: written out where it is known how they go, and sequences and optionals whose tensors are known one by one.

1. An `If` on a constant is the branch it takes; on a condition, with branches that hold nothing but constants and outer values of
   equal types, a `Where`. One with branches of unequal ranks is that with which the rest of the graph goes together, if the
   condition says so when the program runs. Any other stays, its branches written anew.
2. A `Loop` of constant or declared trips whose condition holds to the end, and a `Scan` of a known length, are written out.
3. A `Loop` of a call's trips, whose condition is handed through, is one of so many trips, and so is any other `Scan`. What they
   stack is a tensor that is carried, into which each trip writes a row.
4. Any other `Loop` that stacks nothing goes on as long as its condition says.
5. A sequence is what its tensors are, an optional a sequence of at most one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hotdesk.frontends.onnx.rewrites.nodes import (
    GraphWriter,
    Held,
    Items,
    NotRewritten,
    OnnxNode,
    OnnxTensor,
    Rewrites,
    tensor_of,
)
from hotdesk.frontends.onnx.rewrites.reductions import selected

if TYPE_CHECKING:
    from onnx import NodeProto, TypeProto

Trip: TypeAlias = "Callable[[OnnxTensor, Sequence[OnnxTensor]], list[Held]]"
"""What one trip of a loop makes, of its number and of what is carried."""

_PLAIN = ("Constant", "Identity", "Optional", "SequenceConstruct", "SequenceEmpty")
"""Ops that compute nothing."""
_UNROLLED = 256
"""Trips of a loop that is written out."""
_MOST_TRIPS = (1 << 63) - 1
_WHILE = "hotdesk:while"
"""The name of the body of a loop that is written so that its condition counts."""


def _if(op: OnnxNode) -> Any:
    condition = op.x
    branches = (op.attribute("then_branch"), op.attribute("else_branch"))
    if condition.constant is not None:
        return op.graph.inline(branches[0 if bool(condition.constant.reshape(())) else 1], [], op.scope)
    condition = condition.reshape()
    if all(each.op_type in _PLAIN for branch in branches for each in branch.node):
        yes, no = (op.graph.inline(branch, [], op.scope) for branch in branches)
        return [_chosen(condition, a, b) for a, b in zip(yes, no, strict=True)]
    yes, no = (op.graph.body(branch, [], op.scope) for branch in branches)
    if any(_rank(a) != _rank(b) for a, b in zip(yes.output, no.output, strict=True)):
        return _one_branch(op, condition, branches)
    return op.graph.kept(op, {"then_branch": yes, "else_branch": no})


def _rank(result: Any) -> int | None:
    kind = result.type.tensor_type
    return len(kind.shape.dim) if kind.HasField("shape") else None


def _one_branch(op: OnnxNode, condition: OnnxTensor, branches: Sequence[Any]) -> list[Held]:
    """The branch that goes together with the rest of the graph; a call that takes the other one ends with an error.

    PyTorch's exporter writes `squeeze` of a size that it does not know so: what reads the result has one rank in mind.
    """
    takes = op.graph.choose()
    results = op.graph.inline(branches[0 if takes else 1], [], op.scope)
    return [selected([tensor_of(each)], [condition if takes else ~condition]) for each in results]


def _chosen(condition: OnnxTensor, yes: Held, no: Held) -> Held:
    if isinstance(yes, Items) and isinstance(no, Items) and len(yes.values) == len(no.values):
        return Items(tuple(_both(condition, a, b) for a, b in zip(yes.values, no.values, strict=True)))
    if isinstance(yes, OnnxTensor) and isinstance(no, OnnxTensor):
        return _both(condition, yes, no)
    raise NotRewritten("branches with results of equal sizes", "others")


def _both(condition: OnnxTensor, yes: OnnxTensor, no: OnnxTensor) -> OnnxTensor:
    if yes.sizes != no.sizes or yes.element != no.element:
        raise NotRewritten("branches with results of equal sizes", "others")
    return condition.where(yes, no)


def _loop(op: OnnxNode) -> Any:
    try:
        return _written_out(op)
    except NotRewritten:
        if is_counted(op.node) and _begins(op):
            return _counted(op)
        if len(op.node.output) > len(op.inputs) - 2:
            raise
        return _while(op)


def _begins(op: OnnxNode) -> bool:
    """Whether a loop is known to go on when it begins, however many trips there are."""
    condition = op.optional(1)
    return condition is None or (condition.constant is not None and bool(condition.constant.all()))


def is_counted(node: NodeProto) -> bool:
    """Whether a `Loop` has a number of trips and a condition that its body hands through, which lowers to a counted loop."""
    (body,) = (each.g for each in node.attribute if each.name == "body")
    passed = {inner.output[0]: inner.input[0] for inner in body.node if inner.op_type == "Identity"}
    return bool(node.input[0]) and body.input[1].name in (passed.get(body.output[0].name), body.output[0].name)


def is_while(node: NodeProto) -> bool:
    """Whether a `Loop` is written in the form in which its condition, and nothing else, says how often it runs."""
    return any(each.g.name == _WHILE for each in node.attribute)


def _counted(op: OnnxNode) -> Any:
    """A loop of so many trips as a call gives, its body written anew."""
    carried = [op.tensor(number) for number in range(2, len(op.inputs))]

    def trip(number: OnnxTensor, values: Sequence[OnnxTensor]) -> list[Held]:
        return op.graph.inline(op.attribute("body"), [number, op.graph.value(np.True_), *values], op.scope)[1:]

    trips: OnnxTensor = op.graph.op("Max", op.tensor(0).reshape(), np.int64(0))
    return _of_trips(op, trips, carried, trip)


def _of_trips(
    op: OnnxNode, trips: OnnxTensor, carried: Sequence[OnnxTensor], trip: Trip, from_end: Collection[int] = ()
) -> list[Held]:
    """A counted loop in the place of a node: its results are what it carries in the end, and what it stacks, trip after trip.

    `trip` makes what is carried and what is stacked, of the number of the trip and what was carried. Stacks are carried as well;
    those of the numbers `from_end` are filled from their end. A row of another size than the others ends with an error.
    """
    from onnx import helper

    graph, kept = op.graph, len(carried)
    head = [_formal(graph.value(each)) for each in (np.int64(0), np.True_)]
    values = [_formal(each) for each in carried]
    arguments = [*head, *values]
    rows: list[OnnxTensor] = []

    def once() -> list[Held]:
        made = [tensor_of(each) for each in trip(head[0], values)]
        rows.extend(made[kept:])
        stacks = [OnnxTensor(graph, graph.fresh(), _stacked(trips, row)) for row in rows]
        arguments.extend(stacks)
        for number, (row, stack) in enumerate(zip(rows, stacks, strict=True)):
            place = (trips - 1 - head[0]) if number in from_end else head[0]
            for axis in (axis for axis, size in enumerate(row.shape) if size is None):
                is_right = graph.op("Shape", row).gather(axis).equals(graph.op("Shape", stack).gather(axis + 1))
                place = graph.checked(place, is_right)
            made[kept + number] = graph.op("ScatterND", stack, place.reshape(1, 1), row.unsqueeze(0))
        return [head[1], *_alike(arguments[len(head) :], made)]

    body = graph.written_graph("body", arguments, once)
    known = [*carried, *(each for each in op.inputs if isinstance(each, OnnxTensor))]
    given = _alike(arguments[len(head) :], [*carried, *(_zeros(trips, each, known) for each in rows)])
    inputs = (trips, graph.value(np.True_), *given)
    node = helper.make_node("Loop", [each.name for each in inputs], [graph.fresh() for _ in given], body=body)
    return graph.kept(OnnxNode(graph, node, inputs, tuple(each.type for each in given), op.scope), {"body": body})


def _zeros(count: OnnxTensor, row: OnnxTensor, known: Sequence[OnnxTensor]) -> OnnxTensor:
    """So many rows of zeros. An open size of a row is that of a known tensor which has the same name for it."""
    from onnx import helper

    graph = row.graph
    named = {
        dim.dim_param: (tensor, axis)
        for tensor in known
        for axis, dim in enumerate(tensor.type.tensor_type.shape.dim)
        if dim.dim_param
    }
    sizes = [count.reshape(1)]
    for dim, size in zip(row.type.tensor_type.shape.dim, row.shape, strict=True):
        if size is None and dim.dim_param not in named:
            raise NotRewritten("sizes that are known of what is stacked", f"an open one for '{row.name}'")
        tensor, axis = named.get(dim.dim_param, (row, 0))
        sizes.append(graph.op("Shape", tensor).gather([axis]) if size is None else graph.value([size]))
    wanted = graph.concat(sizes, 0)
    zero = helper.make_tensor("", row.element, [1], [0])
    node = helper.make_node("ConstantOfShape", [wanted.name], [graph.fresh()], value=zero)
    return tensor_of(graph.kept(OnnxNode(graph, node, (wanted,), (_stacked(count, row),), {}))[0])


def _stacked(count: OnnxTensor, row: OnnxTensor) -> TypeProto:
    """The type of so many rows; how many is part of it where all sizes are numbers, as ONNX infers it."""
    from onnx import helper

    known = None if count.constant is None or None in row.shape else int(count.constant.reshape(()))
    return helper.make_tensor_type_proto(row.element, [known, *row.shape])


def _while(op: OnnxNode) -> Any:
    """A loop that goes on as long as a condition says, which counts its trips itself.

    That is the form in which torch-mlir heeds the condition: it takes a loop whose condition is constant before the first trip
    for a counted one, and looks at no number of trips in any other. So a maximum that nothing folds is part of the condition.
    """
    graph, trips = op.graph, op.optional(0)
    begins = op.optional(1) or graph.value(np.True_)
    carried = [op.tensor(number) for number in range(2, len(op.inputs))]
    first, most = graph.value(np.int64(0)), graph.value(np.int64(_MOST_TRIPS))
    limit = most if trips is None else trips.reshape()
    one: OnnxTensor = graph.op("ReduceMax", graph.value(np.ones(1, np.int64)), keepdims=0, stays=True)
    begins = graph.op("And", begins.reshape() & (limit > 0), graph.op("Greater", one, first, stays=True), stays=True)
    unread, going, number, *values = (_formal(each) for each in (first, begins, first, *carried))

    def trip() -> list[Held]:
        goes_on, *results = graph.inline(op.attribute("body"), [number, graph.value(np.True_), *values], op.scope)
        done = number + 1
        return [tensor_of(goes_on).reshape() & (done < limit), done, *_alike(carried, results)]

    written = graph.written_graph(_WHILE, [unread, going, number, *values], trip)
    given = (most, begins, first, *carried)
    results = (graph.fresh(), *op.node.output)
    return _kept(op, given, results, (first.type, *(each.type for each in carried)), written)[1:]


def _kept(
    op: OnnxNode, given: Sequence[OnnxTensor], results: Sequence[str], types: Sequence[TypeProto | None], body: Any
) -> list[Held]:
    """A loop on other inputs with another body."""
    node = type(op.node)()
    node.CopyFrom(op.node)
    del node.input[:], node.output[:]
    node.input.extend(each.name for each in given)
    node.output.extend(results)
    return op.graph.kept(OnnxNode(op.graph, node, tuple(given), tuple(types), op.scope), {"body": body})


def _formal(like: OnnxTensor) -> OnnxTensor:
    """An input of a body, of the type of another tensor."""
    return OnnxTensor(like.graph, like.graph.fresh(), like.type)


def _alike(before: Sequence[OnnxTensor], after: Sequence[Held]) -> list[OnnxTensor]:
    found = [tensor_of(each) for each in after]
    if any((a.element, a.shape) != (b.element, b.shape) for a, b in zip(before, found, strict=True)):
        raise NotRewritten("tensors that keep their sizes from trip to trip", "others")
    return found


def _written_out(op: OnnxNode) -> Any:
    trips, condition, *carried = op.inputs
    body, graph = op.attribute("body"), op.graph
    held: list[Held] = list(carried)
    going = condition if isinstance(condition, OnnxTensor) else graph.value(np.True_)
    count, right = _trips(op, trips, going, len(carried))
    stacked: list[list[OnnxTensor]] = [[] for _ in range(len(op.node.output) - len(carried))]
    for number in range(count):
        going, *results = graph.inline(body, [graph.value(np.int64(number)), going, *held], op.scope)
        held = results[: len(carried)]
        for column, value in zip(stacked, results[len(carried) :], strict=True):
            if not isinstance(value, OnnxTensor):
                raise NotRewritten("tensors", "a sequence")
            column.append(value)
        if not isinstance(going, OnnxTensor) or (right is None and going.constant is None):
            raise NotRewritten("a condition that is constant", "another")
        if going.constant is not None and not bool(going.constant.all()):
            if right is not None and number + 1 < count:
                raise NotRewritten("a condition that holds", "one that ends")
            break
    results = [*held, *(_stack(graph, column, op, number) for number, column in enumerate(stacked, len(carried)))]
    return results if right is None else [_if_right(each, right) for each in results]


def _if_right(value: Held, right: OnnxTensor) -> Held:
    return selected([value], [right]) if isinstance(value, OnnxTensor) else value


def _trips(op: OnnxNode, trips: Held, going: OnnxTensor, carried: int) -> tuple[int, OnnxTensor | None]:
    """How often a loop runs at most; and if that is what sizes declare, what has to hold of the number that is given."""
    if going.constant is not None and not bool(going.constant.all()):
        return 0, None
    if isinstance(trips, OnnxTensor) and trips.constant is not None and going.constant is not None:
        count = int(trips.constant.reshape(()))
        if count > _UNROLLED:
            raise NotRewritten(f"up to {_UNROLLED} trips", str(count))
        return max(count, 0), None
    if not isinstance(trips, OnnxTensor) or not is_counted(op.node):
        raise NotRewritten("a number of trips", "a condition that is computed")
    if len(op.node.output) == carried:
        raise NotRewritten("a constant number of trips", "one that a call gives")
    count = op.result_sizes(carried)[0]
    if count > _UNROLLED:
        raise NotRewritten(f"up to {_UNROLLED} trips", str(count))
    holds = going.reshape()
    right = trips.reshape().clip(0, count + 1).equals(count)
    return count, (right & holds) if count else (right | ~holds)


def _stack(graph: GraphWriter, column: list[OnnxTensor], op: OnnxNode, number: int, axis: int = 0) -> OnnxTensor:
    if column:
        return graph.concat([each.unsqueeze(axis) for each in column], axis)
    found = op.result(number)
    if found is None:
        raise NotRewritten("a result of known sizes", "none")
    like = OnnxTensor(graph, "", found)
    empty: Any = np.zeros(like.sizes, np.float32)
    return graph.value(empty, like)


def _scan(op: OnnxNode) -> Any:
    body, graph = op.attribute("body"), op.graph
    scanned = op.attribute("num_scan_inputs")
    count = len(op.inputs) - scanned
    if op.graph.opset < 9:
        raise NotRewritten("a Scan of opset 9 or later", str(op.graph.opset))
    outs = len(op.node.output) - count
    in_axes: list[int] = op.attribute("scan_input_axes", [0] * scanned)
    out_axes: list[int] = op.attribute("scan_output_axes", [0] * outs)
    backwards = op.attribute("scan_input_directions", [0] * scanned)
    prepended = op.attribute("scan_output_directions", [0] * outs)
    columns = [op.tensor(number) for number in range(count, len(op.inputs))]
    length = columns[0].shape[in_axes[0]]

    def trip(number: int | OnnxTensor, values: Sequence[Held]) -> list[Held]:
        parts = [
            column.gather(_from_end(column, axis, number) if back else number, axis)
            for column, axis, back in zip(columns, in_axes, backwards, strict=True)
        ]
        return graph.inline(body, [*values, *parts], op.scope)

    held: list[Held] = list(op.inputs[:count])
    if length is None or length > _UNROLLED:
        trips = graph.op("Shape", columns[0]).gather(in_axes[0])
        from_end = [number for number, front in enumerate(prepended) if front]
        results = _of_trips(op, trips, [tensor_of(each) for each in held], trip, from_end)
        return [
            *results[:count],
            *(tensor_of(each).move(0, axis) for each, axis in zip(results[count:], out_axes, strict=True)),
        ]
    stacked: list[list[OnnxTensor]] = [[] for _ in range(outs)]
    for number in range(length):
        results = trip(number, held)
        held = results[:count]
        for column, value in zip(stacked, results[count:], strict=True):
            column.append(tensor_of(value))
    whole = [
        _stack(graph, column[::-1] if front else column, op, count + number, axis)
        for number, (column, axis, front) in enumerate(zip(stacked, out_axes, prepended, strict=True))
    ]
    return [*held, *whole]


def _from_end(column: OnnxTensor, axis: int, number: int | OnnxTensor) -> OnnxTensor:
    return column.graph.op("Shape", column).gather(axis) - 1 - number


# Sequences and optionals.


def _items(op: OnnxNode) -> tuple[OnnxTensor, ...]:
    held = op.inputs[0]
    if not isinstance(held, Items):
        raise NotRewritten("a sequence whose tensors are known", "another")
    return held.values


def _place(op: OnnxNode, number: int, count: int, ends: int, default: int) -> int:
    """A constant position in a sequence of so many, or where one of so many places begins."""
    if op.optional(number) is None:
        return default
    found = op.constant(number)
    if found is None:
        raise NotRewritten("a position that is constant", "another")
    place = int(found.reshape(()))
    place = place + count if place < 0 else place
    if not 0 <= place < ends:
        raise NotRewritten(f"a position in a sequence of {count}", str(place))
    return place


def _construct(op: OnnxNode) -> Any:
    return Items(tuple(op.tensor(number) for number in range(len(op.inputs))))


def _at(op: OnnxNode) -> Any:
    items = _items(op)
    return items[_place(op, 1, len(items), len(items), 0)]


def _insert(op: OnnxNode) -> Any:
    items = _items(op)
    place = _place(op, 2, len(items), len(items) + 1, len(items))
    return Items((*items[:place], op.tensor(1), *items[place:]))


def _erase(op: OnnxNode) -> Any:
    items = _items(op)
    place = _place(op, 1, len(items), len(items), len(items) - 1)
    return Items((*items[:place], *items[place + 1 :]))


def _length(op: OnnxNode) -> Any:
    return op.graph.value(np.int64(len(_items(op))))


def _concat_from_sequence(op: OnnxNode) -> Any:
    axis, items = op.attribute("axis"), _items(op)
    if op.attribute("new_axis", 0):
        items = tuple(each.unsqueeze(axis) for each in items)
    return op.graph.concat(items, axis)


def _split_to_sequence(op: OnnxNode) -> Any:
    x, parts = op.x, op.optional(1)
    axis: int = op.attribute("axis", 0) % x.rank
    size = x.sizes[axis]
    if parts is None:
        keeps = bool(op.attribute("keepdims", 1))
        return Items(tuple(x.gather([each] if keeps else each, axis) for each in range(size)))
    if parts.constant is None:
        raise NotRewritten("a constant split", "another")
    if parts.constant.ndim:
        lengths = [int(each) for each in parts.constant]
    else:
        step = int(parts.constant)
        lengths = [min(step, size - start) for start in range(0, size, step)]
    ends = np.cumsum(lengths)
    return Items(tuple(x.slice(axis, int(end) - length, int(end)) for end, length in zip(ends, lengths, strict=True)))


def _sequence_map(op: OnnxNode) -> Any:
    count = len(_items(op))
    columns: list[list[OnnxTensor]] = [[] for _ in op.node.output]
    for number in range(count):
        given = [each.values[number] if isinstance(each, Items) else each for each in op.inputs]
        for column, value in zip(columns, op.graph.inline(op.attribute("body"), given, op.scope), strict=True):
            assert isinstance(value, OnnxTensor)
            column.append(value)
    return [Items(tuple(column)) for column in columns]


def _identity(op: OnnxNode) -> Any:
    return op.inputs[0] if isinstance(op.inputs[0], Items) else NotImplemented


def _optional(op: OnnxNode) -> Any:
    return op.inputs[0] if op.inputs else None


def _has_element(op: OnnxNode) -> Any:
    return op.graph.value(np.bool_(bool(op.inputs) and op.inputs[0] is not None))


def _get_element(op: OnnxNode) -> Any:
    if op.inputs[0] is None:
        raise NotRewritten("an optional that holds something", "nothing")
    return op.inputs[0]


REWRITES: Rewrites = {
    "ConcatFromSequence": _concat_from_sequence,
    "Identity": _identity,
    "If": _if,
    "Loop": _loop,
    "Optional": _optional,
    "OptionalGetElement": _get_element,
    "OptionalHasElement": _has_element,
    "Scan": _scan,
    "SequenceAt": _at,
    "SequenceConstruct": _construct,
    "SequenceEmpty": lambda op: Items(()),
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SequenceMap": _sequence_map,
    "SplitToSequence": _split_to_sequence,
}
