"""LSTM, GRU and RNN backwards or both ways: forwards on elements in reverse order, each direction by itself.

An LSTM with peepholes, clipping, coupled gates or lengths of sequences is written out step by step; one of quantised weights
is that of the floats which they mean. A batch that is open is as large as that of a state, if that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk.frontends.onnx.elements import F32, I64
from hotdesk.frontends.onnx.rewrites.arithmetic import reversed_along
from hotdesk.frontends.onnx.rewrites.nodes import NotRewritten, OnnxNode, OnnxTensor, Rewrites

LENGTHS, PEEPHOLES = 4, 7
_BY_DIRECTION = {"LSTM": (1, 2, 3, 5, 6, 7), "GRU": (1, 2, 3, 5), "RNN": (1, 2, 3, 5)}
"""Inputs that have a dimension for directions: weights, biases, states and peepholes."""
_STATES = (5, 6)
_FUNCTIONS = ("Relu", "Sigmoid", "Softplus", "Softsign", "Tanh")
"""Activations without a parameter, which are ops."""
_LSTM = ["sigmoid", "tanh", "tanh"]
"""Those of an LSTM that says none; torch-mlir takes them for others, too."""
_UNROLLED = 256
"""Steps that are written out."""


def _recurrent(op: OnnxNode) -> Any:
    direction, layout = op.attribute("direction", "forward"), op.attribute("layout", 0)
    x = _of_known_batch(op, layout)
    if x is not op.x:
        return op.like(x, *op.inputs[1:])
    if direction == "forward":
        return _steps(op, layout) if op.node.op_type == "LSTM" and _is_beyond_gates(op) else NotImplemented
    if op.optional(LENGTHS) is not None and op.node.op_type != "LSTM":
        return NotImplemented
    ways = [True] if direction == "reverse" else [False, True]
    parts = [_one_way(op, number, backwards, layout) for number, backwards in enumerate(ways)]
    if len(parts) == 1:
        return parts[0]
    axis = 1 if layout else 0
    joined = [op.graph.concat([a, b], 2 if layout else 1) for a, b in zip(*([part[0]] for part in parts), strict=True)]
    joined += [op.graph.concat([a, b], axis) for a, b in zip(*(part[1:] for part in parts), strict=True)]
    return joined


def _of_known_batch(op: OnnxNode, layout: int) -> OnnxTensor:
    """The elements, as many sequences of them as there are states; a call that gives another number ends with an error."""
    x, batch = op.x, 0 if layout else 1
    states = [op.optional(place) for place in _STATES]
    counts = {state.shape[batch] for state in states if state is not None} - {None}
    if x.shape[batch] is not None or len(counts) != 1:
        return x
    (count,) = counts
    is_right = op.graph.op("Shape", x).gather(batch).equals(count)
    return x.gather(op.graph.checked(op.graph.arange(cast(int, count)), is_right), batch)


def _quantised(op: OnnxNode) -> Any:
    """An LSTM whose weights lie transposed and quantised, by direction or by column."""

    def weights(place: int, scale: int) -> OnnxTensor:
        steps, zero = (op.tensor(number) for number in (scale, scale + 1))
        steps, zero = (each.unsqueeze(*range(1, 4 - each.rank)) for each in (steps, zero))
        return ((op.tensor(place).cast(F32) - zero.cast(F32)) * steps).transpose(0, 2, 1)

    attributes = {each.name: op.attribute(each.name) for each in op.node.attribute}
    given = [op.x, weights(1, 8), weights(2, 10), *op.inputs[3:8]]
    return op.graph.op("LSTM", *given, outputs=len(op.node.output), **attributes)


def _one_way(op: OnnxNode, number: int, backwards: bool, layout: int) -> list[OnnxTensor]:
    time = 1 if layout else 0
    lengths = op.optional(LENGTHS)

    def turned(value: OnnxTensor) -> OnnxTensor:
        """Each sequence in reverse order up to its length."""
        if lengths is None:
            return reversed_along(value, time)
        return op.graph.op("ReverseSequence", value, lengths.cast(I64), time_axis=time, batch_axis=1 - time)

    x = turned(op.x) if backwards else op.x
    inputs: list[OnnxTensor | None] = [x]
    for place in range(1, len(op.inputs)):
        value = op.optional(place)
        if value is not None and place in _BY_DIRECTION[op.node.op_type]:
            axis = 1 if layout and place in _STATES else 0
            value = value.slice(axis, number, number + 1)
        inputs.append(value)
    functions = op.attribute("activations")
    if functions is not None:
        size = len(functions) // (2 if op.attribute("direction") == "bidirectional" else 1)
        functions = functions[number * size : (number + 1) * size]
    made: Any = op.like(*inputs, direction="forward", activations=functions)
    results: list[Any] = list(made) if isinstance(made, tuple) else [made]  # pyright: ignore[reportUnknownArgumentType]
    if backwards:
        y = results[0].squeeze(2 if layout else 1)
        results[0] = turned(y).unsqueeze(2 if layout else 1)
    return results


def _is_beyond_gates(op: OnnxNode) -> bool:
    """Whether torch-mlir passes something over."""
    given = (op.optional(LENGTHS), op.optional(PEEPHOLES))
    own = [each.lower() for each in op.attribute("activations") or _LSTM] != _LSTM
    return (
        own or any(each is not None for each in given) or bool(op.attribute("clip") or op.attribute("input_forget", 0))
    )


def _steps(op: OnnxNode, layout: int) -> Any:
    """An LSTM forwards, as ONNX defines it; behind its end a sequence is 0, and its states stay."""
    functions = _functions(op)
    x = op.x.transpose(1, 0, 2) if layout else op.x
    weights, recurrence = (op.tensor(each).squeeze(0).transpose(1, 0) for each in (1, 2))
    steps, size = x.shape[0], op.attribute("hidden_size", recurrence.sizes[0])
    if steps is None or not 0 < steps <= _UNROLLED:
        raise NotRewritten(f"from 1 to {_UNROLLED} steps", str(steps or f"an open number for '{op.x.name}'"))
    axis = 1 if layout else 0
    h, c = (_zeros(x, size) if given is None else given.squeeze(axis) for given in (op.optional(5), op.optional(6)))
    lengths, bias, peepholes = op.optional(LENGTHS), op.optional(3), op.optional(PEEPHOLES)
    whole = x @ weights
    if bias is not None:
        flat = bias.reshape(-1)
        whole = whole + (flat.slice(0, 0, 4 * size) + flat.slice(0, 4 * size))
    ys: list[OnnxTensor] = []
    for step in range(steps):
        gates = whole.gather(step) + h @ recurrence
        new_h, new_c = _cell(op, functions, gates, c, peepholes, size)
        if lengths is None:
            h, c, y = new_h, new_c, new_h
        else:
            going = (lengths > step).unsqueeze(1)
            h, c, y = going.where(new_h, h), going.where(new_c, c), going.where(new_h, 0)
        ys.append(y)
    y = op.graph.concat([each.unsqueeze(0) for each in ys], 0)
    y = y.transpose(1, 0, 2).unsqueeze(2) if layout else y.unsqueeze(1)
    return [y, h.unsqueeze(axis), c.unsqueeze(axis)][: len(op.node.output)]


def _zeros(x: OnnxTensor, size: int) -> OnnxTensor:
    """The first state of so many elements for each sequence of a batch."""
    graph, batch = x.graph, x.shape[1]
    if batch is not None:
        return graph.value(0, x).expand(batch, size)
    return graph.op(
        "Expand", graph.value(0, x), graph.concat([graph.op("Shape", x).gather([1]), graph.value([size])], 0)
    )


def _functions(op: OnnxNode) -> tuple[str, ...]:
    """The activations of gates, of what is put into a cell, and of what it gives."""
    named: list[str] = op.attribute("activations", ["Sigmoid", "Tanh", "Tanh"])
    found = {each.lower(): each for each in _FUNCTIONS}
    other = next((each for each in named if each.lower() not in found), None)
    if other is not None:
        raise NotRewritten(f"activations {', '.join(_FUNCTIONS)}", other)
    return tuple(found[each.lower()] for each in named)


def _cell(
    op: OnnxNode, functions: Sequence[str], gates: OnnxTensor, c: OnnxTensor, peepholes: OnnxTensor | None, size: int
) -> tuple[OnnxTensor, OnnxTensor]:
    """A step: the new output and the new cell. Gates lie in the order input, output, forget, cell; peepholes too."""
    clip = op.attribute("clip")
    gate, put, give = functions

    def activated(function: str, value: OnnxTensor) -> OnnxTensor:
        return op.graph.op(function, value if clip is None else value.clip(-clip, clip))

    def part(number: int, cell: OnnxTensor | None = None) -> OnnxTensor:
        value = gates.slice(1, number * size, (number + 1) * size)
        if cell is None or peepholes is None:
            return value
        return value + peepholes.reshape(-1).slice(0, number * size, (number + 1) * size) * cell

    entry = activated(gate, part(0, c))
    kept = 1 - entry if op.attribute("input_forget", 0) else activated(gate, part(2, c))
    new = kept * c + entry * activated(put, part(3))
    return activated(gate, part(1, new)) * op.graph.op(give, new), new


REWRITES: Rewrites = {
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _recurrent),
    "com.microsoft.DynamicQuantizeLSTM": _quantised,
}
