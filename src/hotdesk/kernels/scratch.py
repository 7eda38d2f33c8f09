"""Scratch memory of the threads' pool: blocks that kernels take while they run and give back, kept for the next that asks.

    hotdesk_take_scratch(kind, bytes, otherwise)    a block of at least so many bytes, or `otherwise` where there is none
    hotdesk_give_scratch(block, otherwise)          gives it back, unless it is `otherwise`

So panels of a product and scores of an attention need no room on the stack of whoever calls, and no part of an arena. There are
as many blocks of a kind as threads have ever computed at once, each as large as what it was last too small for: programs that run
for a second time allocate nothing. Where there is no pool, no slot left or no memory, a kernel works in what it brought along, a
little on its stack, in smaller pieces.

A pool has `SLOTS` slots of each kind behind its other fields: 0 where no block was made yet, 1 while it is taken, else its
address. In front of them is counted how many bytes all blocks have. Before a block lie 64 bytes: the address of its slot, and its
size.
"""

from __future__ import annotations

PRODUCTS, SCORES, CONVERTED = 0, 1, 2
"""Kinds of blocks: a kernel that holds one of a kind may call one that takes another kind."""

SLOTS, KINDS = 64, 3
HELD_AT, SLOTS_AT, TAKEN = 312, 320, 1
"""Where in a pool the bytes of all blocks are counted and the slots begin, and what one holds whose block is in use."""

SCRATCH_BYTES = 8 * SLOTS * KINDS

_HEADER = 64

SCRATCH = f"""
llvm.func @posix_memalign(!llvm.ptr, i64, i64) -> i32
llvm.func @free(!llvm.ptr)

llvm.func internal @hotdesk_take_scratch(%kind: i64, %bytes: i64, %otherwise: !llvm.ptr) -> !llvm.ptr {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant({TAKEN} : i64) : i64
  %slots = llvm.mlir.constant({SLOTS} : i64) : i64
  %header = llvm.mlir.constant({_HEADER} : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %box = llvm.alloca %one x !llvm.ptr {{alignment = 8 : i64}} : (i64) -> !llvm.ptr
  %where = llvm.mlir.addressof @hotdesk_pool : !llvm.ptr
  %pool = llvm.load %where : !llvm.ptr -> !llvm.ptr
  %none = llvm.icmp "eq" %pool, %null : !llvm.ptr
  llvm.cond_br %none, ^nothing, ^some
^some:
  %all = llvm.getelementptr %pool[{SLOTS_AT}] : (!llvm.ptr) -> !llvm.ptr, i8
  %before = llvm.mul %kind, %slots : i64
  %own = llvm.getelementptr %all[%before] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.br ^look(%zero : i64)
^look(%i: i64):
  %slot = llvm.getelementptr %own[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %found = llvm.atomicrmw xchg %slot, %one acquire {{alignment = 8 : i64}} : !llvm.ptr, i64
  %taken = llvm.icmp "eq" %found, %one : i64
  llvm.cond_br %taken, ^next, ^mine
^next:
  %i1 = llvm.add %i, %one : i64
  %left = llvm.icmp "slt" %i1, %slots : i64
  llvm.cond_br %left, ^look(%i1 : i64), ^nothing
^nothing:
  llvm.return %otherwise : !llvm.ptr
^mine:
  %empty = llvm.icmp "eq" %found, %zero : i64
  llvm.cond_br %empty, ^make, ^measure
^measure:
  %base_number = llvm.sub %found, %header : i64
  %base = llvm.inttoptr %base_number : i64 to !llvm.ptr
  %a_size = llvm.getelementptr %base[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %a_size : !llvm.ptr -> i64
  %fits = llvm.icmp "sge" %size, %bytes : i64
  llvm.cond_br %fits, ^use, ^drop
^use:
  %block = llvm.inttoptr %found : i64 to !llvm.ptr
  llvm.return %block : !llvm.ptr
^drop:
  llvm.call @free(%base) : (!llvm.ptr) -> ()
  %a_held = llvm.getelementptr %pool[{HELD_AT}] : (!llvm.ptr) -> !llvm.ptr, i8
  %fewer = llvm.atomicrmw sub %a_held, %size monotonic {{alignment = 8 : i64}} : !llvm.ptr, i64
  llvm.br ^make
^make:
  %whole = llvm.add %bytes, %header : i64
  %failed = llvm.call @posix_memalign(%box, %header, %whole) : (!llvm.ptr, i64, i64) -> i32
  %good = llvm.mlir.constant(0 : i32) : i32
  %made = llvm.icmp "eq" %failed, %good : i32
  llvm.cond_br %made, ^fill, ^back
^back:
  llvm.store %zero, %slot atomic release {{alignment = 8 : i64}} : i64, !llvm.ptr
  llvm.return %otherwise : !llvm.ptr
^fill:
  %new = llvm.load %box : !llvm.ptr -> !llvm.ptr
  llvm.store %slot, %new : !llvm.ptr, !llvm.ptr
  %a_new = llvm.getelementptr %new[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %bytes, %a_new : i64, !llvm.ptr
  %a_total = llvm.getelementptr %pool[{HELD_AT}] : (!llvm.ptr) -> !llvm.ptr, i8
  %more = llvm.atomicrmw add %a_total, %bytes monotonic {{alignment = 8 : i64}} : !llvm.ptr, i64
  %result = llvm.getelementptr %new[{_HEADER}] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.return %result : !llvm.ptr
}}

llvm.func internal @hotdesk_give_scratch(%block: !llvm.ptr, %otherwise: !llvm.ptr) {{
  %own = llvm.icmp "eq" %block, %otherwise : !llvm.ptr
  llvm.cond_br %own, ^end, ^give
^give:
  %number = llvm.ptrtoint %block : !llvm.ptr to i64
  %base = llvm.getelementptr %block[-{_HEADER}] : (!llvm.ptr) -> !llvm.ptr, i8
  %slot = llvm.load %base : !llvm.ptr -> !llvm.ptr
  llvm.store %number, %slot atomic release {{alignment = 8 : i64}} : i64, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}}
"""
"""The functions above, as text in the LLVM dialect; they belong to `kernels.sharing`, which says which pool there is."""

TAKE_SCORES, GIVE_SCORES = "hotdesk_take_scores", "hotdesk_give_scores"

SCORES_TEXT = f"""
llvm.func @{TAKE_SCORES}(%bytes: i64, %otherwise: !llvm.ptr) -> !llvm.ptr {{
  %kind = llvm.mlir.constant({SCORES} : i64) : i64
  %block = llvm.call @hotdesk_take_scratch(%kind, %bytes, %otherwise) : (i64, i64, !llvm.ptr) -> !llvm.ptr
  llvm.return %block : !llvm.ptr
}}

llvm.func @{GIVE_SCORES}(%block: !llvm.ptr, %otherwise: !llvm.ptr) {{
  llvm.call @hotdesk_give_scratch(%block, %otherwise) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}}
"""
"""The same for blocks of scores, as functions that kernels of programs call."""

DECLARED = """
func.func private @hotdesk_take_scratch(index, index, memref<{element}>) -> memref<{element}>
func.func private @hotdesk_give_scratch(memref<{element}>, memref<{element}>)
"""
"""Their declarations for functions of an element type."""
