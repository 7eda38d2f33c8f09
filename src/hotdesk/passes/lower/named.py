"""From `hotdesk` ops, and running sums, on memrefs to the specifications of their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.ir.dialect import FIRST_WANTED, ZeroRows
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import flag_of, int_array, integer_of, text_of
from hotdesk.kernels.machine import target
from hotdesk.kernels.text import KernelText
from hotdesk.models.convolution import convolution_of, sliding_of
from hotdesk.models.hotdesk import ATTENTION, CONTRACT, CONV, MOVE, SPREAD, WITH_KERNELS, letters_of
from hotdesk.passes.lower.attention import AttentionSpec, attention, scoring
from hotdesk.passes.lower.contraction import ContractionSpec, contraction
from hotdesk.passes.lower.convolution.dispatch import ConvolutionSpec, convolution, with_spread, workspace_bytes
from hotdesk.passes.lower.convolution.problem import Spread
from hotdesk.passes.lower.moves import MoveSpec, move
from hotdesk.passes.lower.pooling import PoolingSpec, pooling
from hotdesk.passes.lower.scalar import Reduction
from hotdesk.passes.lower.scans import ScanSpec, scan, scan_kind
from hotdesk.passes.lower.sorting import SortSpec, sort, sort_order
from hotdesk.passes.lower.structured.kernel import disjoint
from hotdesk.passes.lower.views import ResolvedMemref


def named_kernel(op: ir.Operation, operands: list[ResolvedMemref]) -> KernelText:
    """The kernel of an op with one (`has_named_kernel`) on the given operands, inputs, then destinations."""
    if op.name == CONTRACT:
        return contraction(_contraction(op, operands))
    if op.name == CONV:
        return convolution(convolution_spec(op, operands))
    if op.name == ATTENTION:
        return attention(attention_spec(op, operands), target())
    if op.name == MOVE:
        return move(MoveSpec(*(place.view() for place in operands)))
    if (kind := scan_kind(op)) is not None:
        x, y, last = (place.view() for place in operands)
        noalias = disjoint(operands, [False, True, True])
        return scan(ScanSpec(x, y, last, integer_of(op, "dimension"), kind, noalias))
    if (order := sort_order(op)) is not None:
        values, places = (place.view() for place in operands)
        first = integer_of(op, FIRST_WANTED) if FIRST_WANTED in op.attributes else None
        noalias = disjoint(operands, [True, True])
        return sort(SortSpec(values, places, integer_of(op, "dimension"), *order, noalias, first))
    return pooling(_pooling(op, operands))


def has_named_kernel(op: ir.Operation) -> bool:
    """Whether an op has a kernel that is written for it, and is no loop over its payload."""
    return op.name in WITH_KERNELS or scan_kind(op) is not None or sort_order(op) is not None


def _noalias(operands: list[ResolvedMemref]) -> tuple[bool, ...]:
    return disjoint(operands, [False] * (len(operands) - 1) + [True])


def _contraction(op: ir.Operation, operands: list[ResolvedMemref]) -> ContractionSpec:
    left, right, output = letters_of(op)
    a, b, c = (place.view() for place in operands)
    noalias = cast("tuple[bool, bool, bool]", _noalias(operands))
    return ContractionSpec(a, b, c, tuple(left), tuple(right), tuple(output), flag_of(op, "accumulate"), noalias)


def convolution_spec(op: ir.Operation, operands: list[ResolvedMemref]) -> ConvolutionSpec:
    """The specification of a `hotdesk.conv`.

    Raises:
        LoweringError: its workspace is too small for how its work is cut, or that is not three numbers.
    """
    x, w, y = (place.view() for place in operands[:3])
    said = convolution_of(op)
    spec = ConvolutionSpec(
        x,
        w,
        y,
        groups=said.groups,
        strides=said.sliding.strides,
        dilations=said.sliding.dilations,
        pad_low=said.sliding.pad_low,
        pad_high=said.sliding.pad_high,
        input_dilations=said.sliding.input_dilations,
        accumulate=said.accumulate,
        noalias=cast("tuple[bool, bool, bool]", _noalias(operands[:3])),
        spread=None if said.spread is None else _spread(said.spread),
        winograd=said.winograd,
    )
    wanted, given = workspace_bytes(spec), sum(shape_of(scratch.type)[0] or 0 for scratch in list(op.operands)[3:])
    if given < wanted or (given and not wanted):
        expected = f"{wanted} bytes or more" if wanted else f"none without `{SPREAD}`"
        raise LoweringError("the workspace of a convolution", expected=expected, got=f"{given} bytes")
    return spec


def scratch_wanted(op: ir.Operation, operands: list[ResolvedMemref]) -> tuple[tuple[int, int, int], int] | None:
    """How the work of a `hotdesk.conv` on operands without scratch memory is cut to fit in some, as `spread` says it, and the
    bytes of that; None if its kernel wants none."""
    spec = with_spread(convolution_spec(op, operands))
    cut = spec.spread
    return None if cut is None else ((cut.filters, cut.width, int(cut.gathers)), workspace_bytes(spec))


def _spread(numbers: Sequence[int]) -> Spread:
    if len(numbers) != 3:
        expected = "how many filters and columns at a time, and 1 for those that gather"
        raise LoweringError(f"`{SPREAD}` of a convolution", expected=expected, got=f"{len(numbers)} numbers")
    filters, width, gathers = numbers
    return Spread(filters, width, bool(gathers))


def attention_spec(op: ir.Operation, operands: list[ResolvedMemref]) -> AttentionSpec:
    """The specification of a `hotdesk.attention`."""
    views = tuple(place.view() for place in operands)
    return AttentionSpec(views, letters_of(op), scoring(op), ZeroRows(text_of(op, "zero_rows")), _noalias(operands))


def _pooling(op: ir.Operation, operands: list[ResolvedMemref]) -> PoolingSpec:
    x, y = (place.view() for place in operands)
    sliding = sliding_of(op)
    return PoolingSpec(
        x,
        y,
        kind=cast("Reduction", text_of(op, "kind")),
        window=int_array(op.attributes["window"]),
        strides=sliding.strides,
        dilations=sliding.dilations,
        pad_low=sliding.pad_low,
        pad_high=sliding.pad_high,
        accumulate=flag_of(op, "accumulate"),
        noalias=cast("tuple[bool, bool]", _noalias(operands)),
    )
