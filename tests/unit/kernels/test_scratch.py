"""Scratch memory of a pool: who takes it has it alone, and it is made once."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import pytest

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.kernels.scratch import PRODUCTS, SCORES, SLOTS
from hotdesk.kernels.sharing import SHARING
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.threads import ThreadPool

CALLS = """
llvm.func @take(%kind: i64, %bytes: i64, %otherwise: !llvm.ptr, %to: !llvm.ptr) {
  %block = llvm.call @hotdesk_take_scratch(%kind, %bytes, %otherwise) : (i64, i64, !llvm.ptr) -> !llvm.ptr
  llvm.store %block, %to : !llvm.ptr, !llvm.ptr
  llvm.return
}
llvm.func @give(%block: !llvm.ptr, %otherwise: !llvm.ptr) {
  llvm.call @hotdesk_give_scratch(%block, %otherwise) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
"""
OTHERWISE = 64  # an address that no block has


class Scratch:
    """The functions, on a pool of their own unless there is to be none."""

    def __init__(self, *, pooled: bool = True) -> None:
        self.machine = CompiledCode(lambda: ir.Module.parse(SHARING + CALLS, make_context()), [])
        self.pool = ThreadPool() if pooled else None
        if self.pool is not None:
            self.pool.serve(self.machine, 1)

    def take(self, kind: int, size: int) -> int:
        found = ctypes.c_int64()
        self.machine.call("take", kind, size, OTHERWISE, ctypes.addressof(found))
        return found.value

    def give(self, block: int) -> None:
        self.machine.call("give", block, OTHERWISE)


@pytest.fixture
def scratch() -> Scratch:
    return Scratch()


def test_a_block_is_made_once_and_begins_a_line(scratch: Scratch) -> None:
    first = scratch.take(PRODUCTS, 1000)
    ctypes.memset(first, 7, 1000)
    scratch.give(first)
    assert first % 64 == 0
    for size in (1, 999, 1000):
        assert scratch.take(PRODUCTS, size) == first
        scratch.give(first)


def test_a_block_that_is_too_small_is_made_anew(scratch: Scratch) -> None:
    scratch.give(scratch.take(PRODUCTS, 100))
    large = scratch.take(PRODUCTS, 1 << 20)
    ctypes.memset(large, 7, 1 << 20)
    scratch.give(large)
    assert scratch.take(PRODUCTS, 1 << 20) == large


def test_the_bytes_of_all_blocks_are_counted(scratch: Scratch) -> None:
    pool = scratch.pool
    assert pool is not None
    assert pool.scratch_bytes == 0
    taken = [scratch.take(kind, size) for kind, size in ((PRODUCTS, 100), (PRODUCTS, 200), (SCORES, 1000))]
    assert pool.scratch_bytes == 1300
    scratch.give(taken[0])
    assert pool.scratch_bytes == 1300
    assert scratch.take(PRODUCTS, 1 << 60) == OTHERWISE  # the small block is gone
    assert pool.scratch_bytes == 1200
    scratch.take(PRODUCTS, 500)
    pool.forked()  # nobody gives back what the threads of the parent had
    assert pool.scratch_bytes == 1700


def test_blocks_in_use_are_different(scratch: Scratch) -> None:
    blocks = [scratch.take(kind, 64) for kind in (PRODUCTS, PRODUCTS, SCORES, SCORES)]
    assert len({*blocks, OTHERWISE}) == 5
    scratch.give(blocks[1])
    assert scratch.take(PRODUCTS, 64) == blocks[1]
    assert scratch.take(SCORES, 64) not in blocks


def test_there_may_be_none() -> None:
    alone = Scratch(pooled=False)
    assert alone.take(PRODUCTS, 64) == OTHERWISE
    alone.give(OTHERWISE)


def test_when_all_slots_or_all_memory_are_taken_there_is_none(scratch: Scratch) -> None:
    assert scratch.take(PRODUCTS, 1 << 60) == OTHERWISE
    blocks = [scratch.take(PRODUCTS, 64) for _ in range(SLOTS)]
    assert len({*blocks, OTHERWISE}) == SLOTS + 1
    assert scratch.take(PRODUCTS, 64) == OTHERWISE
    assert scratch.take(SCORES, 64) != OTHERWISE
    scratch.give(blocks[3])
    assert scratch.take(PRODUCTS, 64) == blocks[3]


def test_no_two_threads_have_the_same_block(scratch: Scratch) -> None:
    def work(number: int) -> bool:
        right = True
        for _ in range(200):
            block = scratch.take(PRODUCTS, 8)
            cell = ctypes.c_int64.from_address(block)
            cell.value = number
            right &= cell.value == number
            scratch.give(block)
        return right

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(8)))


def test_a_forked_child_has_the_blocks_that_nobody_had(scratch: Scratch) -> None:
    kept = scratch.take(PRODUCTS, 64)
    free = scratch.take(PRODUCTS, 64)
    scratch.give(free)
    pool = scratch.pool
    assert pool is not None
    pool.forked()  # what a child does first: whoever had a block is not there
    assert scratch.take(PRODUCTS, 64) not in (kept, free)
    assert scratch.take(PRODUCTS, 64) == free
