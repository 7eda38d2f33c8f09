"""Rule 6 of `named_ops`: a product or convolution of 16-bit floats whose sums only become such floats again rounds them itself.

    %p = hotdesk.contract %a, %b, %e {accumulate = false} : (bf16, bf16) -> f32
    %r = linalg.generic ins(%p) { truncf }                 ->   %r = hotdesk.contract %a, %b, %e' : (bf16, bf16) -> bf16

The numbers are the same: kernels sum in 32 bits and round each sum once. One that adds to what it finds does so only where that
is a broadcast of 16-bit floats, as a bias is: then it finds these. Products over several letters are left alone, and transposed
convolutions whose windows overlap: these may be several products, added to one another in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.elements import HALVES, summed_in
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import create, empty_of, structured
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import element_bytes, element_of, shape_of
from hotdesk.ir.walking import (
    attributes_of,
    defining_op,
    flag_of,
    int_array,
    parallel_loops,
    segment_sizes,
    users,
)
from hotdesk.models.hotdesk import letters_of
from hotdesk.program.symbolic import SymbolicSizes


@dataclass(frozen=True, slots=True)
class _Rounded:
    """A product or convolution, the op that rounds its result, and the 16-bit floats whose broadcast it adds to, if any."""

    maker: ir.Operation
    rounding: ir.Operation
    base: ir.Operation | None
    source: ir.Value | None


def round_products(function: ir.Operation, makers: list[ir.Operation]) -> Iterator[Decision]:
    """Rewrites those of the products and convolutions of a function to which the rule applies."""
    found = [each for maker in makers if (each := _rounded(maker)) is not None]
    sizes = SymbolicSizes(function) if found else None
    for each in found:
        maker, rounding = each.maker, each.rounding
        total: Any = element_bytes(element_of(maker.results[0].type))
        for size in cast(SymbolicSizes, sizes).shape(maker.results[0]):
            total = total * size
        yield Decision("sums", Outcome.FUSED, Reason.ROUNDED_AS_SUMMED, (source_of(maker),), total)
        kind, (a, b, init) = rounding.results[0].type, maker.operands
        to = empty_of(kind, init, maker)
        if each.base is not None and each.source is not None:
            to = _broadcast(each.source, int_array(each.base.attributes["dimensions"]), to, maker)
        new = create(maker.name, [a, b, to], [kind], attributes_of(maker), before=maker)
        rounding.results[0].replace_all_uses_with(new.results[0])
        _erase_up_to(rounding, maker)


def _erase_up_to(rounding: ir.Operation, maker: ir.Operation) -> None:
    """Erases a chain of ops, each of which alone reads the one before it."""
    while rounding != maker:
        before = cast(ir.Operation, defining_op(rounding.operands[0]))
        rounding.erase()
        rounding = before
    maker.erase()


def _broadcast(source: ir.Value, dimensions: tuple[int, ...], to: ir.Value, before: ir.Operation) -> ir.Value:
    """A tensor broadcast along dimensions of a destination."""
    op, end = structured([to], [to], before)
    rank = len(cast(Any, to.type).shape)
    kept = [ir.AffineExpr.get_dim(i) for i in range(rank) if i not in dimensions]
    maps = [ir.AffineMap.get(rank, 0, kept), ir.AffineMap.get_identity(rank)]
    op.operands[0] = source
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
    end.operands[0] = op.regions[0].blocks[0].arguments[0]
    return op.results[0]


def _rounded(maker: ir.Operation) -> _Rounded | None:
    """What rounds the result of a product or convolution to the type of its operands, if nothing else reads it."""
    result = maker.results[0] if len(maker.results) else None
    if result is None:
        return None
    narrow = element_of(maker.operands[0].type)
    if narrow not in HALVES or element_of(maker.operands[1].type) != narrow:
        return None
    if element_of(result.type) != summed_in(narrow) or not _is_one_sum(maker):
        return None
    reader = rounding_of(_as_it_was(result), narrow)
    if reader is None or reader.block != maker.block:
        return None
    if not flag_of(maker, "accumulate"):
        return _Rounded(maker, reader, None, None)
    base = defining_op(maker.operands[2])
    source = None if base is None or base.name != "linalg.broadcast" else widened_from(base.operands[0], narrow)
    return None if source is None else _Rounded(maker, reader, base, source)


def _is_one_sum(maker: ir.Operation) -> bool:
    if maker.name == "hotdesk.conv":
        widened = int_array(maker.attributes["input_dilations"])
        return set(widened) == {1} or widened == tuple(shape_of(maker.operands[1].type)[2:])
    left, right, output = letters_of(maker)
    return len(set(left + right) - set(output)) == 1


def _as_it_was(value: ir.Value) -> ir.Value:
    """A tensor that is expanded and collapsed again, as filters in groups are; else the value."""
    expanded = users(value)
    if len(expanded) != 1 or expanded[0].name != "tensor.expand_shape":
        return value
    collapsed = users(expanded[0].results[0])
    if len(collapsed) != 1 or collapsed[0].name != "tensor.collapse_shape":
        return value
    again = collapsed[0].results[0]
    same = str(collapsed[0].attributes["reassociation"]) == str(expanded[0].attributes["reassociation"])
    return again if same and again.type == value.type else value


def rounding_of(value: ir.Value, narrow: str) -> ir.Operation | None:
    """The op that rounds each element of a tensor to a type, if nothing else reads the tensor."""
    readers = users(value)
    return readers[0] if len(readers) == 1 and _converts(readers[0], "arith.truncf", narrow) else None


def widened_from(value: ir.Value, narrow: str) -> ir.Value | None:
    """The tensor of a type each of whose elements another has in a wider one."""
    maker = defining_op(value)
    if maker is None or not _converts(maker, "arith.extf", element_of(value.type)):
        return None
    source = maker.operands[0]
    return source if element_of(source.type) == narrow else None


def _converts(op: ir.Operation, conversion: str, to: str) -> bool:
    """Whether an op gives each element of its operand, converted to a type, in the same place."""
    if op.name != "linalg.generic" or segment_sizes(op) != (1, 1) or not all(parallel_loops(op)):
        return False
    body = [each.operation for each in op.regions[0].blocks[0].operations]
    maps = [each.value for each in cast(Any, op.attributes["indexing_maps"])]
    identity = all(each == ir.AffineMap.get_identity(each.n_dims) for each in maps)
    if not identity or element_of(op.results[0].type) != to or len(body) != 2:
        return False
    converted, end = body
    return (
        converted.name == conversion
        and "roundingmode" not in converted.attributes  # else to the nearest even, as kernels do
        and converted.operands[0] == op.regions[0].blocks[0].arguments[0]
        and end.operands[0] == converted.results[0]
    )
