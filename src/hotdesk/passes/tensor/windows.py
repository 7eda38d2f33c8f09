"""Rule 3 of `named_ops`: what a window op reads around each position: `tensor.pad` and spreading made attributes."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import constant_of, defining_op, int_array, segment_sizes
from hotdesk.models.linalg import fill_value
from hotdesk.models.tensor_slices import INSERT_SLICE


@dataclass(frozen=True, slots=True)
class WindowRead:
    """What is read around each output position: the unpadded input and how it is spread and padded."""

    source: ir.Value
    low: tuple[int, ...]
    high: tuple[int, ...]
    input_dilations: tuple[int, ...]


def find_window(value: ir.Value, neutral: float) -> WindowRead:
    rank = len(shape_of(value.type)) - 2
    plain = WindowRead(value, (0,) * rank, (0,) * rank, (1,) * rank)
    producer = defining_op(value)
    if producer is None:
        return plain
    if producer.name == "tensor.pad":
        return _padded(producer, neutral) or plain
    if producer.name == INSERT_SLICE and neutral == 0.0:
        return _spread(producer) or plain
    return plain


def _padded(pad: ir.Operation, neutral: float) -> WindowRead | None:
    counts = segment_sizes(pad)
    low, high = int_array(pad.attributes["static_low"]), int_array(pad.attributes["static_high"])
    body = [o.operation for o in pad.regions[0].blocks[0].operations]
    if counts[1] or counts[2] or constant_of(body[-1].operands[0]) != neutral:
        return None
    if any(low[:2]) or any(high[:2]) or min(*low, *high) < 0:
        return None
    source = pad.operands[0]
    inner = find_window(source, neutral)
    rank = len(low) - 2
    if inner.input_dilations != (1,) * rank:
        return WindowRead(source, low[2:], high[2:], (1,) * rank)
    total_low = tuple(a + b for a, b in zip(low[2:], inner.low, strict=True))
    total_high = tuple(a + b for a, b in zip(high[2:], inner.high, strict=True))
    return WindowRead(inner.source, total_low, total_high, (1,) * rank)


def _spread(insert: ir.Operation) -> WindowRead | None:
    counts = segment_sizes(insert)
    source, destination = insert.operands[0], insert.operands[1]
    inner, outer = shape_of(source.type), shape_of(destination.type)
    if counts[2] or counts[3] or counts[4] or fill_value(destination) != 0.0 or len(inner) != len(outer):
        return None
    offsets, strides = int_array(insert.attributes["static_offsets"]), int_array(insert.attributes["static_strides"])
    if None in inner[2:] or None in outer[2:] or any(offsets[:2]) or strides[:2] != (1, 1) or inner[:2] != outer[:2]:
        return None
    high: list[int] = []
    for size, total, offset, stride in zip(inner[2:], outer[2:], offsets[2:], strides[2:], strict=True):
        assert size is not None
        assert total is not None
        high.append(total - (offset + (size - 1) * stride + 1))
    return None if min(high) < 0 else WindowRead(source, offsets[2:], tuple(high), strides[2:])


def folded_decisions(value: ir.Value, window: WindowRead) -> list[Decision]:
    producer = defining_op(value)
    if window.source == value or producer is None:
        return []
    source = source_of(producer)
    return [Decision("padding", Outcome.FOLDED, Reason.VIEW_OF_OPERAND, (source,), 0)]
