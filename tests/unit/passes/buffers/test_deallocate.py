"""Deallocation runs: the same results before and after, nothing leaks, nothing is freed twice or used afterwards."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.errors import BufferizationError, OptionError
from hotdesk.explain import Decision
from hotdesk.ir.context import entered, make_context, run_mlir_passes
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.guarded import POISONS
from tests.running import Executable, executable
from tests.running.ownership import mark_given, runtime_checks
from tests.unit.passes.buffers.deallocation_programs import OF_ANOTHER, OF_ANY_SIZE, PROGRAMS, main, switched

OWNERSHIP = DeallocateAfterLastUse()
COPIES = DeallocateAfterLastUse(mode="copies")
AT_END = DeallocateAfterLastUse(placement="end-of-block")
LENT = DeallocateAfterLastUse(private_function_dynamic_ownership=True)


def deallocated(text: str, one: DeallocateAfterLastUse) -> tuple[ir.Module, tuple[Decision, ...]]:
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    with entered(module.operation):
        decisions = one.run(module)
        module.operation.verify()
    return module, decisions


@cache
def undeallocated(text: str) -> Executable:
    with make_context():
        plain = ir.Module.parse(text)
        run_mlir_passes(plain, "func.func(expand-realloc{emit-deallocs=false})")
        return Executable(plain)


def check_runs(text: str, one: DeallocateAfterLastUse) -> None:
    """Fails unless it computes the same after deallocation, however often it loops and branches, and leaks nothing."""
    module, _ = deallocated(text, one)
    before = undeallocated(text)
    with make_context():
        after = Executable(ir.Module.parse(str(module)))
    for n, p, poison in itertools.product((0, 1, 2, 5), (False, True), POISONS):
        inputs = [np.int64(n), np.bool_(p), np.arange(4, dtype=np.float32), np.arange(4, 8, dtype=np.float32)]
        was, now = (each(inputs, [(4,)], poison) for each in (before, after))
        assert np.array_equal(was.results[0], now.results[0])
        assert now.leaks == 0


@pytest.mark.parametrize("one", [OWNERSHIP, AT_END, COPIES], ids=["ownership", "end", "copies"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs(name: str, one: DeallocateAfterLastUse) -> None:
    check_runs(PROGRAMS[name], one)


@pytest.mark.parametrize(
    "name",
    # without a private function the option changes nothing
    [pytest.param(n, marks=[] if "private" in text else [pytest.mark.slow]) for n, text in PROGRAMS.items()],
)
def test_runs_with_flags_returned(name: str) -> None:
    check_runs(PROGRAMS[name], LENT)


def asked(text: str, one: DeallocateAfterLastUse = OWNERSHIP) -> int:
    """How many conditions there are only to free something, or to copy what is returned; and comparisons of addresses."""
    module = ir.Module.parse(text, make_context())
    mark_given(module)
    return runtime_checks(deallocated(str(module), one)[0])


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("swap", 0),
        ("loop, new each time", 2),
        ("loop that runs, new each time", 1),
        ("loop that never runs, new each time", 2),
        ("loop that runs, unsigned, new each time", 1),
        ("loop that never runs, signed, new each time", 2),
        ("loop that runs, swap with an argument and a new one", 2),
        ("returned from a loop that runs", 1),
        ("loop, new sometimes", 2),
        ("loop, new sometimes, from an allocation", 0),
        ("one twice", 2),
        ("selected", 0),
        ("view carried", 0),
        ("while", 0),
        ("reallocated", 0),
        ("returned from one of two ways", 0),
        ("returned from nested ways", 0),
        ("returned choice of an argument", 0),
        ("returned choice of two", 0),
        ("returned choice, one is written behind", 0),
        ("returned from a loop, one may be the other", 3),
        ("returned from blocks", 0),
    ],
)
def test_what_is_asked_at_run_time(name: str, count: int) -> None:
    assert asked(PROGRAMS[name]) == count


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_asked_with_copies(name: str) -> None:
    assert asked(PROGRAMS[name], COPIES) == 0


class _Counting:
    """A heap that only counts, for many iterations: addresses are those of small arrays, reused when freed."""

    most = 0
    """How many allocations have been live at once."""

    def __init__(self, poison: int) -> None:
        del poison
        self._live: dict[int, Any] = {}
        self.frees = 0

    def allocate(self, size: int) -> int:
        memory = np.empty(size + 64, np.uint8)
        address = -(-memory.ctypes.data // 64) * 64
        self._live[address] = memory
        _Counting.most = max(_Counting.most, len(self._live))
        return address

    def free(self, address: int) -> None:
        self.frees += 1
        if self._live.pop(address, None) is None:
            self.frees = -(10**9)

    def check(self) -> None:
        assert self.frees >= 0, "freed what was not allocated, or twice"

    def holds(self, address: int) -> bool:
        return address in self._live

    @property
    def live(self) -> int:
        return len(self._live)


MANY = {
    "loop, new sometimes": 5 * 10**4,
    "loop, new each time": 10**5,
    "swap": 2,
    "swap with a new one": 10**5,
    "one twice": 10**5,
    "selected and carried": 10**5,
    "while": 10**5,
    "loop of blocks": 10**5,
}


KINDS_OF_LOOPS = ("loop, new sometimes", "while", "loop of blocks")


@pytest.mark.parametrize("one", [OWNERSHIP, pytest.param(COPIES, marks=pytest.mark.slow)], ids=["ownership", "copies"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in KINDS_OF_LOOPS else [pytest.mark.slow]) for name in MANY]
)
def test_many_iterations(name: str, one: DeallocateAfterLastUse, monkeypatch: pytest.MonkeyPatch) -> None:
    """10^5 iterations: what is allocated is freed once, and no more memory is held at once than in three iterations."""
    monkeypatch.setattr(executable, "Heap", _Counting)
    module, _ = deallocated(PROGRAMS[name], one)
    with make_context():
        run = Executable(ir.Module.parse(str(module)))
    rest = [np.bool_(True), np.zeros(4, np.float32), np.ones(4, np.float32)]
    _Counting.most = 0
    run([np.int64(3), *rest], [(4,)])
    most = _Counting.most
    done = run([np.int64(10**5), *rest], [(4,)])
    assert done.leaks == 0
    assert done.frees >= MANY[name]
    assert _Counting.most == most


@pytest.mark.parametrize(
    "body",
    [switched("%there", "%x", OF_ANOTHER), switched("%a", "%there", OF_ANY_SIZE)],
    ids=["of an allocation", "of the stack, perhaps without elements"],
)
def test_addresses_that_a_view_has_shifted_are_not_compared(body: str) -> None:
    with pytest.raises(BufferizationError, match="one that may come from a `memref.view` with a shift"):
        deallocated(main(body), OWNERSHIP)


@pytest.mark.parametrize(("field", "value"), [("mode", "fast"), ("placement", "nowhere")])
def test_options(field: str, value: str) -> None:
    with pytest.raises(OptionError, match=f"option '{field}'"):
        deallocated("func.func @f() { return }", DeallocateAfterLastUse(**{field: value}))
