"""Normal forms: named contractions, convolutions and poolings become `hotdesk.contract`, `hotdesk.conv`, `hotdesk.pool`.

    %t = linalg.transpose ins(%w) permutation = [1, 0]
    %f = linalg.fill ins(0) outs(%e)
    %r = linalg.matmul ins(%x, %t) outs(%f)            ->  %r = hotdesk.contract %x, %w, %e {"mk,nk->mn", accumulate = false}

Rules:

1. A transpose or broadcast of an operand is folded into the letters of the equation: the operand is read in place.
2. An init that is a fill with the op's neutral element (0 for sums, the smallest value for a maximum) is not read:
   `accumulate` becomes false and the init an undefined tensor.
3. A `tensor.pad` of the spatial dims with the neutral element becomes `pad_low`/`pad_high`; an `insert_slice` with strides into
   zeros (how a transposed convolution is lowered) becomes `input_dilations` with padding. No padded copy is made.
4. Grouped and depthwise convolutions are the same op with `groups`.

Left alone: contractions with indexing maps of their own, unsigned, channels-last and quantized ops, padding with other values
or of the channel dims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create, empty_like, integers, replace
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import constant_of, defined_functions, defining_op, int_array, segment_sizes, top_level_ops
from hotdesk.passes.base import Pass

_EQUATIONS: Mapping[str, str] = {
    "linalg.matmul": "mk,kn->mn",
    "linalg.batch_matmul": "bmk,bkn->bmn",
    "linalg.matvec": "mk,k->m",
    "linalg.vecmat": "k,kn->n",
    "linalg.batch_matvec": "bmk,bk->bm",
    "linalg.batch_vecmat": "bk,bkn->bn",
    "linalg.dot": "k,k->",
}


@dataclass(frozen=True, slots=True)
class NormalizeNamedOps(Pass):
    """Rewrites named linalg ops into the `hotdesk` dialect (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-normalize-named-ops"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in defined_functions(module):
            for op in top_level_ops(function):
                rewrite = _REWRITES.get(op.name)
                if rewrite is not None:
                    decisions.extend(rewrite(op))
        return tuple(decisions)


# Contractions


def _has_default_maps(op: ir.Operation) -> bool:
    if "indexing_maps" not in op.attributes:
        return True
    left, right = _EQUATIONS[op.name].split("->")
    for attribute, letters in zip(cast(Any, op.attributes["indexing_maps"]), [*left.split(","), right], strict=True):
        results = [str(e) for e in attribute.value.results]
        order = "bmnk" if "b" in _EQUATIONS[op.name] else "mnk"
        order = "".join(c for c in order if c in left + right)
        if results != [f"d{order.index(letter)}" for letter in letters]:
            return False
    return True


def _contract(op: ir.Operation) -> list[Decision]:
    if not _has_default_maps(op) or _extends_unsigned(op):
        return []
    inputs, output = _EQUATIONS[op.name].split("->")
    decisions: list[Decision] = []
    operands: list[ir.Value] = []
    letters: list[str] = []
    for value, names in zip(op.operands, inputs.split(","), strict=False):
        last_of = set(names) - set(output) - set(letters[0]) if letters else set[str]()
        value, names, folded = _through_transposes(value, names, last_of)
        operands.append(value)
        letters.append(names)
        decisions.extend(folded)
    accumulate, init = _initial(op, 0.0)
    attributes = {
        "equation": ir.StringAttr.get(f"{','.join(letters)}->{output}"),
        "accumulate": ir.BoolAttr.get(accumulate),
    }
    replace(op, create("hotdesk.contract", [*operands, init], [op.results[0].type], attributes, before=op))
    return decisions


def _extends_unsigned(op: ir.Operation) -> bool:
    """Whether the op widens its inputs as unsigned integers, which our ops do not."""
    return "unsigned" in str(op.attributes["cast"]) if "cast" in op.attributes else False


def _through_transposes(value: ir.Value, letters: str, keep: set[str]) -> tuple[ir.Value, str, list[Decision]]:
    """Follows an operand back through transposes and broadcasts that lose no letter of `keep`: its source, and its letters.

    A summed letter that no operand had any more would lose its size, and with it how often the product is added.
    """
    decisions: list[Decision] = []
    producer = defining_op(value)
    while producer is not None:
        source_letters = _source_letters(producer, letters)
        if source_letters is None or not keep <= set(source_letters):
            break
        letters, value = source_letters, producer.operands[0]
        source = Source(producer.name, python_line(producer.location))
        decisions.append(Decision("rearranged operand", Outcome.FOLDED, Reason.VIEW_OF_OPERAND, (source,), 0))
        producer = defining_op(value)
    return value, letters, decisions


def _source_letters(producer: ir.Operation, letters: str) -> str | None:
    """The letters of the input of an op that only rearranges or repeats it, or None if it does more."""
    if producer.name == "linalg.transpose":
        placed = dict(zip(int_array(producer.attributes["permutation"]), letters, strict=True))
        return "".join(placed[i] for i in range(len(letters)))
    if producer.name == "linalg.broadcast":
        added = set(int_array(producer.attributes["dimensions"]))
        return "".join(letter for i, letter in enumerate(letters) if i not in added)
    if producer.name != "linalg.generic" or segment_sizes(producer) != (1, 1):
        return None
    block = producer.regions[0].blocks[0]
    body = [op.operation for op in block.operations]
    source_map, result_map = (m.value for m in cast(Any, producer.attributes["indexing_maps"]))
    if len(body) != 1 or body[0].operands[0] != block.arguments[0] or not source_map.is_projected_permutation:
        return None
    positions = [int(str(result).removeprefix("d")) for result in source_map.results if str(result).startswith("d")]
    if result_map != ir.AffineMap.get_identity(len(letters)) or len(positions) != len(source_map.results):
        return None
    return "".join(letters[position] for position in positions)


def _initial(op: ir.Operation, neutral: float) -> tuple[bool, ir.Value]:
    """Whether the init must be read, and the init to use."""
    init = op.operands[len(op.operands) - 1]
    if fill_value(init) != neutral:
        return True, init
    return False, empty_like(init, op)


def fill_value(value: ir.Value) -> float | None:
    """The number every element of a tensor has when it is a fill or a splat constant, else None. Integers stay exact."""
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "linalg.fill":
        number = constant_of(op.operands[0])
        return number
    if op.name == "arith.constant":
        attribute = op.attributes["value"]
        if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
            splat = cast(Any, attribute.get_splat_value())
            return splat.value
        return None
    if op.name == "linalg.generic" and segment_sizes(op)[0] == 0:
        body = [o.operation for o in op.regions[0].blocks[0].operations]
        if len(body) == 1:
            return constant_of(body[0].operands[0])
    return None


# Windows


@dataclass(frozen=True, slots=True)
class _Window:
    """What is read around each output position: the unpadded input and how it is spread and padded."""

    source: ir.Value
    low: tuple[int, ...]
    high: tuple[int, ...]
    input_dilations: tuple[int, ...]


def _window(value: ir.Value, neutral: float) -> _Window:
    rank = len(shape_of(value.type)) - 2
    plain = _Window(value, (0,) * rank, (0,) * rank, (1,) * rank)
    producer = defining_op(value)
    if producer is None:
        return plain
    if producer.name == "tensor.pad":
        return _padded(producer, neutral) or plain
    if producer.name == "tensor.insert_slice" and neutral == 0.0:
        return _spread(producer) or plain
    return plain


def _padded(pad: ir.Operation, neutral: float) -> _Window | None:
    counts = segment_sizes(pad)
    low, high = int_array(pad.attributes["static_low"]), int_array(pad.attributes["static_high"])
    body = [o.operation for o in pad.regions[0].blocks[0].operations]
    if counts[1] or counts[2] or constant_of(body[-1].operands[0]) != neutral:
        return None
    if any(low[:2]) or any(high[:2]) or min(*low, *high) < 0:
        return None
    source = pad.operands[0]
    inner = _window(source, neutral)
    rank = len(low) - 2
    if inner.input_dilations != (1,) * rank:
        return _Window(source, low[2:], high[2:], (1,) * rank)
    total_low = tuple(a + b for a, b in zip(low[2:], inner.low, strict=True))
    total_high = tuple(a + b for a, b in zip(high[2:], inner.high, strict=True))
    return _Window(inner.source, total_low, total_high, (1,) * rank)


def _spread(insert: ir.Operation) -> _Window | None:
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
    return None if min(high) < 0 else _Window(source, offsets[2:], tuple(high), strides[2:])


def _folded_window(value: ir.Value, window: _Window) -> list[Decision]:
    producer = defining_op(value)
    if window.source == value or producer is None:
        return []
    source = Source(producer.name, python_line(producer.location))
    return [Decision("padding", Outcome.FOLDED, Reason.VIEW_OF_OPERAND, (source,), 0)]


def _convolution(op: ir.Operation) -> list[Decision]:
    if _extends_unsigned(op):
        return []
    value, weight, _ = op.operands
    window = _window(value, 0.0)
    decisions = _folded_window(value, window)
    groups = 1
    if op.name.startswith("linalg.depthwise"):
        groups = shape_of(weight.type)[0]
        if groups is None:
            return []
        weight = _reshaped(weight, _split_leading(shape_of(weight.type)), op, "tensor.expand_shape")
    accumulate, init = _initial(op, 0.0)
    attributes = {
        "strides": integers(int_array(op.attributes["strides"])),
        "dilations": integers(int_array(op.attributes["dilations"])),
        "pad_low": integers(window.low),
        "pad_high": integers(window.high),
        "input_dilations": integers(window.input_dilations),
        "groups": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), groups),
        "accumulate": ir.BoolAttr.get(accumulate),
    }
    replace(op, create("hotdesk.conv", [window.source, weight, init], [op.results[0].type], attributes, before=op))
    return decisions


def _grouped_convolution(op: ir.Operation) -> list[Decision]:
    """`[N, G, C, …] * [G, F, C, …]` with the group dims merged into their neighbours."""
    value, weight, init = op.operands
    groups = shape_of(weight.type)[0]
    if groups is None or _extends_unsigned(op):
        return []
    value, weight, init = (
        _merged(value, 1, op),
        _merged(weight, 0, op),
        _merged(init, 1, op),
    )
    window = _window(value, 0.0)
    decisions = _folded_window(value, window)
    fill = fill_value(op.operands[2])
    if fill == 0.0:
        init = empty_like(init, op)
    attributes = {
        "strides": integers(int_array(op.attributes["strides"])),
        "dilations": integers(int_array(op.attributes["dilations"])),
        "pad_low": integers(window.low),
        "pad_high": integers(window.high),
        "input_dilations": integers(window.input_dilations),
        "groups": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), groups),
        "accumulate": ir.BoolAttr.get(fill != 0.0),
    }
    conv = create("hotdesk.conv", [window.source, weight, init], [init.type], attributes, before=op)
    full = shape_of(op.results[0].type)
    split = _reshape_to(conv.results[0], full, _groups_merging(len(full), 1), op.operands[2], op)
    op.results[0].replace_all_uses_with(split)
    op.erase()
    return decisions


def _groups_merging(rank: int, position: int) -> list[list[int]]:
    groups: list[list[int]] = []
    for i in range(rank):
        if i == position + 1:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _merged(value: ir.Value, position: int, before: ir.Operation) -> ir.Value:
    """Collapses dims `position` and `position + 1`; looks through the expansion that made them, and through padding."""
    producer = defining_op(value)
    sizes = shape_of(value.type)
    groups = _groups_merging(len(sizes), position)
    if (
        producer is not None
        and producer.name == "tensor.expand_shape"
        and len(sizes) == len(shape_of(producer.operands[0].type)) + 1
    ):
        reassociation = [list(int_array(g)) for g in cast(Any, producer.attributes["reassociation"])]
        if reassociation == groups:
            return producer.operands[0]
    merged = tuple(
        None if any(sizes[i] is None for i in group) else math.prod(cast(int, sizes[i]) for i in group)
        for group in groups
    )
    return _reshaped(value, (merged, groups), before, "tensor.collapse_shape")


def _split_leading(sizes: tuple[int | None, ...]) -> tuple[tuple[int | None, ...], list[list[int]]]:
    return (sizes[0], 1, *sizes[1:]), [[0, 1], *([i + 2] for i in range(len(sizes) - 1))]


def _reassociation(groups: list[list[int]]) -> ir.Attribute:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, i) for i in group]) for group in groups])


def _tensor_type(sizes: tuple[int | None, ...], like: ir.Value) -> ir.Type:
    dynamic = ir.ShapedType.get_dynamic_size()
    element = cast(Any, like.type).element_type
    return ir.RankedTensorType.get([dynamic if s is None else s for s in sizes], element)


def _reshaped(
    value: ir.Value, target: tuple[tuple[int | None, ...], list[list[int]]], before: ir.Operation, name: str
) -> ir.Value:
    sizes, groups = target
    attributes: dict[str, ir.Attribute] = {"reassociation": _reassociation(groups)}
    if name == "tensor.expand_shape":
        attributes["static_output_shape"] = integers([cast(int, size) for size in sizes])
    return create(name, [value], [_tensor_type(sizes, value)], attributes, before=before).results[0]


def _reshape_to(
    value: ir.Value, sizes: tuple[int | None, ...], groups: list[list[int]], like: ir.Value, before: ir.Operation
) -> ir.Value:
    from hotdesk.ir.building import dim

    dynamic = ir.ShapedType.get_dynamic_size()
    operands = [value, *(dim(like, i, before) for i, size in enumerate(sizes) if size is None)]
    attributes = {
        "reassociation": _reassociation(groups),
        "static_output_shape": integers([dynamic if size is None else size for size in sizes]),
    }
    return create("tensor.expand_shape", operands, [_tensor_type(sizes, value)], attributes, before=before).results[0]


def _neutral(kind: str, element: str) -> float:
    if kind == "sum":
        return 0.0
    sign = -1.0 if kind == "max" else 1.0
    if element.startswith(("f", "bf")):
        return sign * math.inf
    bits = int(element[1:])
    return float(-(2 ** (bits - 1)) if kind == "max" else 2 ** (bits - 1) - 1)


def _pool(kind: str) -> Callable[[ir.Operation], list[Decision]]:
    def rewrite(op: ir.Operation) -> list[Decision]:
        value, shape_operand, _ = op.operands
        sizes = shape_of(shape_operand.type)
        if None in sizes:
            return []
        neutral = _neutral(kind, element_of(value.type))
        window = _window(value, neutral)
        if any(d != 1 for d in window.input_dilations):
            window = _Window(value, (0,) * len(sizes), (0,) * len(sizes), (1,) * len(sizes))
        decisions = _folded_window(value, window)
        accumulate, init = _initial(op, neutral)
        attributes = {
            "kind": ir.StringAttr.get(kind),
            "window": integers([cast(int, size) for size in sizes]),
            "strides": integers(int_array(op.attributes["strides"])),
            "dilations": integers(int_array(op.attributes["dilations"])),
            "pad_low": integers(window.low),
            "pad_high": integers(window.high),
            "accumulate": ir.BoolAttr.get(accumulate),
        }
        replace(op, create("hotdesk.pool", [window.source, init], [op.results[0].type], attributes, before=op))
        return decisions

    return rewrite


_REWRITES: Mapping[str, Callable[[ir.Operation], list[Decision]]] = {
    **dict.fromkeys(_EQUATIONS, _contract),
    "linalg.conv_1d_ncw_fcw": _convolution,
    "linalg.conv_2d_nchw_fchw": _convolution,
    "linalg.conv_3d_ncdhw_fcdhw": _convolution,
    "linalg.depthwise_conv_1d_ncw_cw": _convolution,
    "linalg.depthwise_conv_2d_nchw_chw": _convolution,
    "linalg.conv_2d_ngchw_gfchw": _grouped_convolution,
    "linalg.pooling_nchw_max": _pool("max"),
    "linalg.pooling_nchw_sum": _pool("sum"),
    "linalg.pooling_ncw_max": _pool("max"),
    "linalg.pooling_ncw_sum": _pool("sum"),
}


def erase_dead(module: ir.Module) -> None:
    """Erases top-level ops without side effects whose results nobody uses, users first."""
    for function in defined_functions(module):
        for op in reversed(top_level_ops(function)):
            unused = len(op.results) > 0 and all(next(iter(r.uses), None) is None for r in op.results)
            if unused and op.name.split(".")[0] in ("linalg", "tensor", "arith", "hotdesk", "tm_tensor", "math"):
                op.erase()
