"""Rule 6 of `named_ops`: a product of 16-bit floats whose sums only become such floats again rounds them itself.

    %p = hotdesk.contract %a, %b, %e {accumulate = false} : (bf16, bf16) -> f32
    %r = linalg.generic ins(%p) { truncf }                 ->   %r = hotdesk.contract %a, %b, %e' : (bf16, bf16) -> bf16

The numbers are the same: kernels sum in 32 bits and round each sum once. Sums over several letters are left alone: these may be
several products, added to one another in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.elements import HALVES, summed_in
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import create, empty_of
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import element_bytes, element_of
from hotdesk.ir.walking import attributes_of, flag_of, parallel_loops, segment_sizes, users
from hotdesk.models.hotdesk import letters_of
from hotdesk.program.symbolic import SymbolicSizes


def round_products(function: ir.Operation, products: list[ir.Operation]) -> Iterator[Decision]:
    """Rewrites those of the products, `hotdesk.contract`s of a function, to which the rule applies."""
    found = [(product, rounding) for product in products if (rounding := _rounding(product)) is not None]
    sizes = SymbolicSizes(function) if found else None
    for product, rounding in found:
        total: Any = element_bytes(element_of(product.results[0].type))
        for size in cast(SymbolicSizes, sizes).shape(product.results[0]):
            total = total * size
        yield Decision("sums", Outcome.FUSED, Reason.ROUNDED_AS_SUMMED, (source_of(product),), total)
        kind, (a, b, init) = rounding.results[0].type, product.operands
        new = create(
            product.name, [a, b, empty_of(kind, init, product)], [kind], attributes_of(product), before=product
        )
        rounding.results[0].replace_all_uses_with(new.results[0])
        rounding.erase()
        product.erase()


def _rounding(product: ir.Operation) -> ir.Operation | None:
    """What rounds the result of a product to the type of its operands, if nothing else reads it."""
    result = product.results[0] if len(product.results) else None
    if result is None or flag_of(product, "accumulate"):
        return None
    narrow = element_of(product.operands[0].type)
    if narrow not in HALVES or element_of(product.operands[1].type) != narrow:
        return None
    left, right, output = letters_of(product)
    if element_of(result.type) != summed_in(narrow) or len(set(left + right) - set(output)) != 1:
        return None
    reader = rounding_of(result, narrow)
    return reader if reader is not None and reader.block == product.block else None


def rounding_of(value: ir.Value, narrow: str) -> ir.Operation | None:
    """The op that rounds each element of a tensor to a type, if nothing else reads the tensor."""
    readers = users(value)
    return readers[0] if len(readers) == 1 and _rounds(readers[0], narrow) else None


def _rounds(op: ir.Operation, narrow: str) -> bool:
    """Whether an op gives each element of its operand, rounded to a type, in the same place."""
    if op.name != "linalg.generic" or segment_sizes(op) != (1, 1) or not all(parallel_loops(op)):
        return False
    body = [each.operation for each in op.regions[0].blocks[0].operations]
    maps = [each.value for each in cast(Any, op.attributes["indexing_maps"])]
    identity = all(each == ir.AffineMap.get_identity(each.n_dims) for each in maps)
    if not identity or element_of(op.results[0].type) != narrow or len(body) != 2:
        return False
    rounded, end = body
    return (
        rounded.name == "arith.truncf"
        and "roundingmode" not in rounded.attributes  # else to the nearest even, as kernels do
        and rounded.operands[0] == op.regions[0].blocks[0].arguments[0]
        and end.operands[0] == rounded.results[0]
    )
