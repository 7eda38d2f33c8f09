"""LSTM, GRU and RNN backwards or both ways: forwards on elements in reverse order, each direction by itself."""

from __future__ import annotations

from typing import Any

from hotdesk.frontends.onnx.rewrites.arithmetic import reversed_along
from hotdesk.frontends.onnx.rewrites.graph import Op, Rewrites, Value

_LENGTHS = 4
_BY_DIRECTION = {"LSTM": (1, 2, 3, 5, 6, 7), "GRU": (1, 2, 3, 5), "RNN": (1, 2, 3, 5)}
"""Inputs that have a dimension for directions: weights, biases, states and peepholes."""
_STATES = (5, 6)


def _recurrent(op: Op) -> Any:
    direction, layout = op.attribute("direction", "forward"), op.attribute("layout", 0)
    if direction == "forward" or op.optional(_LENGTHS) is not None:
        return NotImplemented
    ways = [True] if direction == "reverse" else [False, True]
    parts = [_one_way(op, number, backwards, layout) for number, backwards in enumerate(ways)]
    if len(parts) == 1:
        return parts[0]
    axis = 1 if layout else 0
    joined = [op.graph.concat([a, b], 2 if layout else 1) for a, b in zip(*([part[0]] for part in parts), strict=True)]
    joined += [op.graph.concat([a, b], axis) for a, b in zip(*(part[1:] for part in parts), strict=True)]
    return joined


def _one_way(op: Op, number: int, backwards: bool, layout: int) -> list[Value]:
    time = 1 if layout else 0
    x = reversed_along(op.x, time) if backwards else op.x
    inputs: list[Value | None] = [x]
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
    return [reversed_along(results[0], time) if backwards else results[0], *results[1:]]


REWRITES: Rewrites = dict.fromkeys(("GRU", "LSTM", "RNN"), _recurrent)
