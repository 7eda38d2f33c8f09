"""Names of the ops on integers that places in memory are computed by: sums, choices, comparisons."""

from __future__ import annotations

ADD, SUBTRACT, MULTIPLY = "arith.addi", "arith.subi", "arith.muli"
INDEX_CAST = "arith.index_cast"
LEAST, GREATEST = "arith.minsi", "arith.maxsi"
"""Of two signed numbers."""
ABSOLUTE = "math.absi"
COMPARE = "arith.cmpi"
