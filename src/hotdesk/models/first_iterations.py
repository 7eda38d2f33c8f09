"""Whether a loop certainly has a first iteration: so nothing gets past it without having run it.

An `scf.for` compares its bounds before it steps, so they alone tell: constants of which the lower one is less, as signed numbers,
or as unsigned ones with `unsignedCmp`. An `index` has 32 bits or more: bounds are compared if each of these widths holds them.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.walking import constant_of

_INDEX_BITS = 32


def has_first_iteration(op: ir.Operation) -> bool:
    """Whether the op is an `scf.for` whose body certainly runs."""
    if op.name != "scf.for":
        return False
    low, high = (constant_of(bound) for bound in list(op.operands)[:2])
    if not isinstance(low, int) or not isinstance(high, int):
        return False
    kind = op.operands[0].type
    bits = kind.width if isinstance(kind, ir.IntegerType) else _INDEX_BITS
    if not all(-(1 << bits - 1) <= bound < 1 << bits - 1 for bound in (low, high)):
        return False
    if "unsignedCmp" in op.attributes:
        low, high = low % (1 << bits), high % (1 << bits)
    return low < high
