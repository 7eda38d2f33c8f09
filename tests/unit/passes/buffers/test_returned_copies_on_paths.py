"""A result that is an argument on one path is copied there; what lies between the branch and the return decides how."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.unit.passes.buffers.running import same

M = "memref<4xf32>"
NEW = f"%b = memref.alloc() : {M}\n"
TEMPORARY = f"%t = memref.alloc() : {M}\n"
READ = f"linalg.exp ins(%r : {M}) outs(%b : {M})\n"
USED = f"memref.copy %d, %b : {M} to {M}\n"
STORED = f"memref.store %one, %{{}}[%c1] : {M}\n"
CASES = {
    "only read": (NEW + READ, 1),
    "read and new memory written": (NEW + READ + STORED.format("b"), 1),
    "read through a view": (
        f"""{NEW}linalg.fill ins(%one : f32) outs(%b : {M})
        %v = memref.subview %r[1] [2] [1] : {M} to memref<2xf32, strided<[1], offset: 1>>
        %w = memref.subview %b[1] [2] [1] : {M} to memref<2xf32, strided<[1], offset: 1>>
        memref.copy %v, %w : memref<2xf32, strided<[1], offset: 1>> to memref<2xf32, strided<[1], offset: 1>>
        """,
        1,
    ),
    "the result written": (NEW + READ + STORED.format("r"), 2),
    "the argument written": (NEW + READ + STORED.format("x"), 2),
    "an older buffer used last": (NEW + USED, 2),
    "an older buffer written": (NEW + READ + STORED.format("d"), 2),
    "new memory freed": (f"{TEMPORARY}memref.copy %r, %t : {M} to {M}\n{NEW}memref.copy %t, %b : {M} to {M}\n", 2),
}


@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_result_that_is_an_argument_on_one_path(name: str, taken: bool) -> None:
    """One copy of what lies between stays behind the branch (1), or each way gets one (2)."""
    between, ways = CASES[name]
    text = f"""func.func @main(%p: i1, %x: {M}) -> ({M}, {M}) {{
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %d = memref.alloc() : {M}
      linalg.exp ins(%x : {M}) outs(%d : {M})
      %r = scf.if %p -> {M} {{
        %a = memref.alloc() : {M}
        linalg.exp ins(%d : {M}) outs(%a : {M})
        scf.yield %a : {M}
      }} else {{
        scf.yield %x : {M}
      }}
      {between}
      return %b, %r : {M}, {M}
    }}"""
    inputs = (np.bool_(taken), np.arange(4, dtype=np.float32))
    changed, _ = same(text, [DeallocateAfterLastUse()], inputs, [(4,), (4,)], leaks=0)
    inside = changed[: changed.index("return")].rstrip().endswith("}")
    assert inside == (ways == 2), changed
