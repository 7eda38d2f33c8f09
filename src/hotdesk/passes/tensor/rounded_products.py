"""Rule 6 of `named_ops`: a product or convolution of 16-bit floats whose sums only become such floats again rounds them itself.

    %p = hotdesk.contract %a, %b, %e {accumulate = false} : (bf16, bf16) -> f32
    %r = linalg.generic ins(%p) { truncf }                 ->   %r = hotdesk.contract %a, %b, %e' : (bf16, bf16) -> bf16

What its sums are added to (`arith.addf`) before they are rounded is what they begin with, if that is 16-bit floats, as a bias;
and a product whose operands are 16-bit floats, widened for it, reads them as they are.

    %a = linalg.generic ins(%x) { extf }, and %b and %s likewise of %y and %bias
    %p = hotdesk.contract %a, %b, %e {accumulate = false} : (f32, f32) -> f32
    %t = linalg.generic ins(%p, %s) { p + s }                   %i = linalg.generic ins(%bias) outs(%e') { bias }
    %r = linalg.generic ins(%t) { truncf }                 ->   %r = hotdesk.contract %x, %y, %i {accumulate = true} : bf16

Where more is computed of the sums before they are rounded, as with the factors of `addmm`, the product gives them in 32 bits, but
reads its operands as they are, too.

The numbers are the same, but for the order in which they are added up: kernels sum in 32 bits and round each sum once. One that
adds to what it finds does so only where that is a broadcast of 16-bit floats: then it finds these. Products over several letters
are left alone, and transposed convolutions whose windows overlap: these may be several products, added to one another in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.elements import HALVES, summed_in
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import create, empty_of, structured
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import (
    attributes_of,
    defining_op,
    flag_of,
    int_array,
    made_by,
    parallel_loops,
    segment_sizes,
    users,
)
from hotdesk.models.convolution import sliding_of
from hotdesk.models.generics import GENERIC, read_generic
from hotdesk.models.hotdesk import CONTRACT, CONV, letters_of
from hotdesk.models.linalg import BROADCAST
from hotdesk.models.tensor import COLLAPSE, EXPAND
from hotdesk.passes.tensor.contractions import through_transposes
from hotdesk.program.symbolic import byte_size

_Base = tuple[ir.Value, ir.AffineMap]
"""What sums begin with: 16-bit floats, and for each place of the result at which of them."""


@dataclass(frozen=True, slots=True)
class _Rounded:
    """A product or convolution that rounds its sums itself.

    Attributes:
        at: the op in front of which all is there that it reads.
        behind: the ops up to the one that rounds them, which comes last; each alone reads the one before.
        operands: what is multiplied, as 16-bit floats.
        base: what the sums begin with; None if with zeros.
    """

    at: ir.Operation
    behind: tuple[ir.Operation, ...]
    operands: tuple[ir.Value, ir.Value]
    base: _Base | None


def round_products(function: ir.Operation, makers: list[ir.Operation]) -> Iterator[Decision]:
    """Rewrites those of the products and convolutions of a function to which the rule applies."""
    for maker in makers:
        each = _rounded(
            maker
        )  # of what the rewriting of others has left: a product may multiply what another one rounds
        if each is None:
            yield from _read_as_they_were(maker)
            continue
        at, rounding = each.at, each.behind[-1]
        total = byte_size(maker.results[0], function)
        yield Decision("sums", Outcome.FUSED, Reason.ROUNDED_AS_SUMMED, (source_of(maker),), total)
        kind, attributes = rounding.results[0].type, attributes_of(maker)
        to = empty_of(kind, maker.operands[2], at)
        if each.base is not None:
            to = _begun(*each.base, to, at)
            attributes["accumulate"] = ir.BoolAttr.get(True)
        operands, equation, folded = _read(maker, each.operands)
        yield from folded
        new = create(maker.name, [*operands, to], [kind], {**attributes, **equation}, before=at)
        rounding.results[0].replace_all_uses_with(new.results[0])
        for op in (*reversed(each.behind), maker):
            op.erase()


def _read(
    maker: ir.Operation, operands: Sequence[ir.Value]
) -> tuple[list[ir.Value], dict[str, ir.Attribute], list[Decision]]:
    """What a product reads in place of operands of its own, its equation, and what has been folded into that."""
    found, letters = [*operands], [*letters_of(maker)] if maker.name == CONTRACT else []
    decisions = list[Decision]()
    for i, value in enumerate(operands):
        if value != maker.operands[i]:
            last_of = set(letters[i]) - set(letters[2]) - set(letters[1 - i])
            found[i], letters[i], folded = through_transposes(value, letters[i], last_of)
            decisions.extend(folded)
    equation = ir.StringAttr.get(f"{','.join(letters[:2])}->{letters[2]}") if letters else None
    return found, {} if equation is None else {"equation": equation}, decisions


def _read_as_they_were(maker: ir.Operation) -> Iterator[Decision]:
    """Has a product in 32 bits whose result becomes 16-bit floats in the end read the 16-bit floats that it multiplies."""
    if maker.name != CONTRACT or not _is_one_sum(maker):
        return
    given = maker.operands[0], maker.operands[1]
    operands = _as_they_were(given)
    narrow = element_of(operands[0].type)
    if operands == given or not _is_rounded_later(maker.results[0], narrow):
        return
    found, equation, folded = _read(maker, operands)
    yield from folded
    kind, attributes = maker.results[0].type, {**attributes_of(maker), **equation}
    new = create(maker.name, [*found, maker.operands[2]], [kind], attributes, before=maker)
    maker.results[0].replace_all_uses_with(new.results[0])
    maker.erase()


def _is_rounded_later(value: ir.Value, narrow: str) -> bool:
    """Whether elementwise ops alone, each of which alone reads the one before, lie between a tensor and its rounding."""
    while rounding_of(value, narrow) is None:
        readers = users(value)
        each = read_generic(readers[0]) if len(readers) == 1 else None
        if each is None or not all(each.parallel) or len(each.op.results) != 1 or each.op.results[0].type != value.type:
            return False
        value = each.op.results[0]
    return True


def _begun(source: ir.Value, places: ir.AffineMap, to: ir.Value, before: ir.Operation) -> ir.Value:
    """A destination each place of which holds the element of a tensor that a map tells."""
    if source.type == to.type and places == ir.AffineMap.get_identity(places.n_dims):
        return source
    op, end = structured([to], [to], before)
    op.operands[0] = source
    maps = [places, ir.AffineMap.get_identity(places.n_dims)]
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
    end.operands[0] = op.regions[0].blocks[0].arguments[0]
    return op.results[0]


def _rounded(maker: ir.Operation) -> _Rounded | None:
    """What a product or convolution becomes; None if the rule does not apply."""
    result = maker.results[0] if len(maker.results) else None
    if result is None or not _is_one_sum(maker):
        return None
    operands = maker.operands[0], maker.operands[1]
    if maker.name == CONTRACT and element_of(result.type) == element_of(operands[0].type):
        operands = _as_they_were(operands)
    narrow = element_of(operands[0].type)
    if narrow not in HALVES or element_of(operands[1].type) != narrow or element_of(result.type) != summed_in(narrow):
        return None
    behind, base = list[ir.Operation](), None
    if flag_of(maker, "accumulate"):
        base = _broadcast(maker.operands[2], narrow)
        if base is None:
            return None
    elif (added := _added(result, narrow)) is not None:
        total, base = added
        behind, result = [total], total.results[0]
    views, result = _as_it_was(result)
    reader = rounding_of(result, narrow)
    if reader is None or reader.block != maker.block:
        return None
    return _Rounded(reader if behind else maker, (*behind, *views, reader), operands, base)


def _as_they_were(operands: tuple[ir.Value, ir.Value]) -> tuple[ir.Value, ir.Value]:
    """The 16-bit floats that both operands are widened from, if they are, and to the same type."""
    left, right = (next((x for half in HALVES if (x := widened_from(each, half))), None) for each in operands)
    if left is None or right is None or element_of(left.type) != element_of(right.type):
        return operands
    return left, right


def _broadcast(value: ir.Value, narrow: str) -> _Base | None:
    """The 16-bit floats that a tensor is a broadcast of, as wider ones."""
    maker = made_by(value, BROADCAST)
    source = None if maker is None else widened_from(maker.operands[0], narrow)
    if maker is None or source is None:
        return None
    rank, added = len(shape_of(value.type)), int_array(maker.attributes["dimensions"])
    return source, ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(i) for i in range(rank) if i not in added])


def _added(sums: ir.Value, narrow: str) -> tuple[ir.Operation, _Base] | None:
    """The op that adds 16-bit floats, widened, to each element of a tensor that nothing else reads; and these floats."""
    readers = users(sums)
    total = read_generic(readers[0]) if len(readers) == 1 else None
    if total is None or total.op.name != GENERIC or total.inputs != 2 or len(total.maps) != 3:
        return None
    block = total.op.regions[0].blocks[0]
    body = [each.operation for each in block.operations]
    identity = ir.AffineMap.get_identity(len(total.parallel))
    own = 0 if total.op.operands[0] == sums else 1
    places, other = total.maps[1 - own], total.op.operands[1 - own]
    is_sum = len(body) == 2 and body[0].name == "arith.addf" and body[1].operands[0] == body[0].results[0]
    if not is_sum or set(body[0].operands) != set(list(block.arguments)[:2]) or not all(total.parallel):
        return None
    if total.maps[own] != identity or total.maps[2] != identity or other == sums:
        return None
    source = widened_from(other, narrow)
    return None if source is None else (total.op, (source, places))


def _is_one_sum(maker: ir.Operation) -> bool:
    if maker.name == CONV:
        sliding = sliding_of(maker)
        return not sliding.transposed or sliding.input_dilations == tuple(shape_of(maker.operands[1].type)[2:])
    left, right, output = letters_of(maker)
    return len(set(left + right) - set(output)) == 1


def _as_it_was(value: ir.Value) -> tuple[list[ir.Operation], ir.Value]:
    """A tensor that is expanded and collapsed again, as filters in groups are, and by which ops; else the value."""
    expanded = users(value)
    if len(expanded) != 1 or expanded[0].name != EXPAND:
        return [], value
    collapsed = users(expanded[0].results[0])
    if len(collapsed) != 1 or collapsed[0].name != COLLAPSE:
        return [], value
    again = collapsed[0].results[0]
    same = str(collapsed[0].attributes["reassociation"]) == str(expanded[0].attributes["reassociation"])
    return ([expanded[0], collapsed[0]], again) if same and again.type == value.type else ([], value)


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
    if op.name != GENERIC or segment_sizes(op) != (1, 1) or not all(parallel_loops(op)):
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
