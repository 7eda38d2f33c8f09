"""The second region: memory for what is known only when a program runs, taken and given back by machine code.

A region is one range of addresses, of which the system gives pages when they are first written. It is cut into blocks, one behind
the other up to its top, each with 64 bytes in front that say how long it is and whether it is taken. The first block that is free
and long enough is taken, free neighbours joined on the way (first fit, D. E. Knuth, The Art of Computer Programming, volume 1,
section 2.5), or else a new one at the top, which grows. So a loop that takes and gives back the same sizes stays where it is.

`REGION` are the words that describe a region, in order, all `i64`: its address; its top and the highest that ever was, as bytes
from there; and how many bytes there are.
"""

from __future__ import annotations

TAKE, GIVE = "hotdesk_region_take", "hotdesk_region_give"
REGION = ("address", "top", "highest", "limit")

FUNCTIONS = f"""
func.func private @{TAKE}(%region: i64, %bytes: i64) -> i64 {{
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %header = arith.constant 64 : i64
  %round = arith.constant 127 : i64
  %mask = arith.constant -64 : i64
  %words = llvm.inttoptr %region : i64 to !llvm.ptr
  %top_at = llvm.getelementptr %words[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %highest_at = llvm.getelementptr %words[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %limit_at = llvm.getelementptr %words[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %base = llvm.load %words : !llvm.ptr -> i64
  %limit = llvm.load %limit_at : !llvm.ptr -> i64
  %too_long = arith.cmpi ugt, %bytes, %limit : i64
  cf.cond_br %too_long, ^none, ^begin
^none:
  return %c0 : i64
^begin:
  %longer = arith.addi %bytes, %round : i64
  %need = arith.andi %longer, %mask : i64
  %top = llvm.load %top_at : !llvm.ptr -> i64
  %end = arith.addi %base, %top : i64
  cf.br ^next(%base : i64)
^next(%at: i64):
  %more = arith.cmpi ult, %at, %end : i64
  cf.cond_br %more, ^look, ^append(%at : i64)
^look:
  %block = llvm.inttoptr %at : i64 to !llvm.ptr
  %taken_at = llvm.getelementptr %block[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %size = llvm.load %block : !llvm.ptr -> i64
  %taken = llvm.load %taken_at : !llvm.ptr -> i64
  %is_taken = arith.cmpi ne, %taken, %c0 : i64
  %behind = arith.addi %at, %size : i64
  cf.cond_br %is_taken, ^next(%behind : i64), ^join(%size : i64)
^join(%joined: i64):
  %follows = arith.addi %at, %joined : i64
  %is_last = arith.cmpi uge, %follows, %end : i64
  cf.cond_br %is_last, ^append(%at : i64), ^neighbour
^neighbour:
  %other = llvm.inttoptr %follows : i64 to !llvm.ptr
  %other_taken_at = llvm.getelementptr %other[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %other_size = llvm.load %other : !llvm.ptr -> i64
  %other_taken = llvm.load %other_taken_at : !llvm.ptr -> i64
  %both = arith.addi %joined, %other_size : i64
  %is_free = arith.cmpi eq, %other_taken, %c0 : i64
  cf.cond_br %is_free, ^join(%both : i64), ^fit
^fit:
  llvm.store %joined, %block : i64, !llvm.ptr
  %fits = arith.cmpi uge, %joined, %need : i64
  cf.cond_br %fits, ^take, ^next(%follows : i64)
^take:
  %rest = arith.subi %joined, %need : i64
  %is_much = arith.cmpi ugt, %rest, %header : i64
  llvm.store %c1, %taken_at : i64, !llvm.ptr
  cf.cond_br %is_much, ^split, ^found(%at : i64)
^split:
  %rest_number = arith.addi %at, %need : i64
  %rest_block = llvm.inttoptr %rest_number : i64 to !llvm.ptr
  %rest_taken_at = llvm.getelementptr %rest_block[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %need, %block : i64, !llvm.ptr
  llvm.store %rest, %rest_block : i64, !llvm.ptr
  llvm.store %c0, %rest_taken_at : i64, !llvm.ptr
  cf.br ^found(%at : i64)
^append(%last: i64):
  %begins = arith.subi %last, %base : i64
  %ends = arith.addi %begins, %need : i64
  %is_full = arith.cmpi ugt, %ends, %limit : i64
  cf.cond_br %is_full, ^none, ^grow
^grow:
  %new = llvm.inttoptr %last : i64 to !llvm.ptr
  %new_taken_at = llvm.getelementptr %new[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %need, %new : i64, !llvm.ptr
  llvm.store %c1, %new_taken_at : i64, !llvm.ptr
  llvm.store %ends, %top_at : i64, !llvm.ptr
  %highest = llvm.load %highest_at : !llvm.ptr -> i64
  %higher = arith.maxui %highest, %ends : i64
  llvm.store %higher, %highest_at : i64, !llvm.ptr
  cf.br ^found(%last : i64)
^found(%place: i64):
  %address = arith.addi %place, %header : i64
  return %address : i64
}}
func.func private @{GIVE}(%address: i64) {{
  %c0 = arith.constant 0 : i64
  %header = arith.constant 64 : i64
  %place = arith.subi %address, %header : i64
  %block = llvm.inttoptr %place : i64 to !llvm.ptr
  %taken_at = llvm.getelementptr %block[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %c0, %taken_at : i64, !llvm.ptr
  return
}}
"""
"""`TAKE` gives the address of so many bytes, aligned to 64, in the region that words at an address describe, or 0 if it is full;
`GIVE` gives back what it gave."""
