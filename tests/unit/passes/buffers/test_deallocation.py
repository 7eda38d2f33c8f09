"""Deallocation runs: the same results before and after, nothing leaks, nothing is freed twice or used afterwards."""

from __future__ import annotations

import itertools
import time
from functools import cache
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.errors import BufferizationError, OptionError
from hotdesk.explain import Decision, Reason
from hotdesk.ir.context import entered, make_context, run_mlir_passes
from hotdesk.ir.walking import nested_ops
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.guarded import POISONS
from tests.running import Executable, executable
from tests.running.ownership import mark_given, runtime_checks

M = "memref<4xf32>"
COPY = f"memref.copy {{}}, {{}} : {M} to {M}"
HEAD = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
"""
OWNERSHIP = DeallocateAfterLastUse()
COPIES = DeallocateAfterLastUse(mode="copies")
AT_END = DeallocateAfterLastUse(placement="end-of-block")
LENT = DeallocateAfterLastUse(private_function_dynamic_ownership=True)


def copy(a: str, b: str) -> str:
    return COPY.format(a, b)


def main(body: str, functions: str = "") -> str:
    arguments = f"%n: index, %p: i1, %x: {M}, %y: {M}, %out: {M} {{bufferize.result = 0 : i64}}"
    return f"{functions}\nfunc.func @main({arguments}) {{\n{HEAD}{body}\nreturn\n}}"


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


def loop(yielded: str, inits: str, body: str = "", names: str = "%u %v") -> str:
    carried = ", ".join(f"{a} = {b}" for a, b in zip(names.split(), inits.split(), strict=False))
    count = len(inits.split())
    types = ", ".join([M] * count)
    return f"""%r:{count} = scf.for %i = %c0 to %n step %c1 iter_args({carried}) -> ({types}) {{
    {body}
    scf.yield {yielded} : {types}
  }}
"""


A = f"%a = memref.alloc() : {M}\n{copy('%x', '%a')}\n"
B = f"%b = memref.alloc() : {M}\n{copy('%y', '%b')}\n"
FRESH = f"%w = memref.alloc() : {M}\n{copy('%u', '%w')}\n"
ODD = "%odd = arith.remui %i, %c2 : index\n%q = arith.cmpi eq, %odd, %c0 : index\n"
SOMETIMES = f"""{ODD}%w = scf.if %q -> {M} {{
  %f = memref.alloc() : {M}
  {copy("%u", "%f")}
  scf.yield %f : {M}
}} else {{
  scf.yield %u : {M}
}}
"""
D = f"%d = memref.alloc() : {M}\n{copy('%v', '%d')}\n"


def picked(body: str) -> str:
    """A program that calls a function which returns `%r`, made of its arguments `%u` and `%v`."""
    return main(
        f"{A}{B}%r = func.call @pick(%n, %p, %a, %b) : (index, i1, {M}, {M}) -> {M}\n"
        f"{copy('%a', '%out')}\n{copy('%r', '%out')}",
        f"func.func private @pick(%n: index, %p: i1, %u: {M}, %v: {M}) -> {M} {{\n{HEAD}{body}\nreturn %r : {M}\n}}",
    )


PROGRAMS = {
    "s2_8 loop, new sometimes": main(f"{loop('%w', '%x', SOMETIMES)}{copy('%r#0', '%out')}"),
    "loop, new sometimes, from an allocation": main(f"{A}{loop('%w', '%a', SOMETIMES)}{copy('%r#0', '%out')}"),
    "loop, new each time": main(f"{loop('%w', '%x', FRESH)}{copy('%r#0', '%out')}"),
    "loop, new each time, first one used later": main(
        f"{A}{loop('%w', '%a', FRESH)}{copy('%r#0', '%out')}\n{copy('%a', '%out')}"
    ),
    "swap": main(f"{A}{B}{loop('%v, %u', '%a %b')}{copy('%r#0', '%out')}"),
    "swap with an argument": main(f"{A}{loop('%v, %u', '%a %x')}{copy('%r#0', '%out')}"),
    "swap of one": main(f"{A}{loop('%v, %u', '%a %a')}{copy('%r#1', '%out')}"),
    "one twice": main(f"{A}{loop('%w, %w', '%a %a', FRESH)}{copy('%r#1', '%out')}\n{copy('%r#0', '%out')}"),
    "swap with a new one": main(f"{A}{B}{loop('%v, %w', '%a %b', FRESH)}{copy('%r#1', '%out')}"),
    "swap, new sometimes": main(
        f"{A}{loop('%v, %w', '%a %x', SOMETIMES)}{copy('%r#0', '%out')}\n{copy('%r#1', '%out')}"
    ),
    "selected": main(f"{A}{B}%s = arith.select %p, %a, %b : {M}\n{copy('%s', '%out')}"),
    "selected and carried": main(
        f"{A}{B}{loop('%s', '%a', f'{FRESH}%s = arith.select %p, %u, %w : {M}', '%u')}{copy('%r#0', '%out')}"
    ),
    "selected of an outer one and carried": main(
        f"{A}{B}{loop('%s', '%a', f'{FRESH}%s = arith.select %p, %b, %w : {M}', '%u')}{copy('%r#0', '%out')}"
    ),
    "view carried": main(
        f"""%a = memref.alloc() : memref<8xf32>
  %t = memref.subview %a[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %z = memref.cast %t : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[?], offset: ?>>
  memref.copy %x, %t : {M} to memref<4xf32, strided<[1], offset: 4>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %z) -> memref<4xf32, strided<[?], offset: ?>> {{
    %w = memref.alloc() : memref<8xf32>
    %o = memref.subview %w[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
    memref.copy %u, %o : memref<4xf32, strided<[?], offset: ?>> to memref<4xf32, strided<[1], offset: 2>>
    %k = memref.cast %o : memref<4xf32, strided<[1], offset: 2>> to memref<4xf32, strided<[?], offset: ?>>
    scf.yield %k : memref<4xf32, strided<[?], offset: ?>>
  }}
  memref.copy %r, %out : memref<4xf32, strided<[?], offset: ?>> to {M}"""
    ),
    "while": main(
        f"""{A}%r:2 = scf.while (%i = %c0, %u = %a) : (index, {M}) -> (index, {M}) {{
    %more = arith.cmpi slt, %i, %n : index
    {FRESH}
    scf.condition(%more) %i, %w : index, {M}
  }} do {{
  ^bb0(%i: index, %v: {M}):
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %v : index, {M}
  }}
  {copy("%r#1", "%out")}"""
    ),
    "called": main(
        f"{A}%r = func.call @pick(%p, %a) : (i1, {M}) -> {M}\n{copy('%a', '%out')}\n{copy('%r', '%out')}",
        f"""func.func private @pick(%p: i1, %x: {M}) -> {M} {{
    %c = memref.alloc() : {M}
    %one = arith.constant 1.0 : f32
    linalg.fill ins(%one : f32) outs(%c : {M})
    %r = scf.if %p -> {M} {{ scf.yield %c : {M} }} else {{ scf.yield %x : {M} }}
    return %r : {M}
  }}""",
    ),
    "returned from one of two ways": picked(
        f"%r = scf.if %p -> {M} {{\n{FRESH}scf.yield %w : {M}\n}} else {{\nscf.yield %u : {M}\n}}"
    ),
    "returned from nested ways": picked(
        f"""{D}%r = scf.if %p -> {M} {{
    scf.yield %d : {M}
  }} else {{
    %q = arith.cmpi eq, %n, %c1 : index
    %s = scf.if %q -> {M} {{
      scf.yield %u : {M}
    }} else {{
      {FRESH}
      scf.yield %w : {M}
    }}
    %z = memref.cast %s : {M} to {M}
    scf.yield %z : {M}
  }}"""
    ),
    "returned from one of two ways, the argument is written before": picked(
        f"""{D}%r = scf.if %p -> {M} {{ scf.yield %d : {M} }} else {{ scf.yield %u : {M} }}
  {copy("%d", "%u")}"""
    ),
    "returned from one of two ways, the other one is read before": picked(
        f"""{D}%r = scf.if %p -> {M} {{ scf.yield %d : {M} }} else {{ scf.yield %u : {M} }}
  %k = memref.load %d[%c0] : {M}"""
    ),
    "returned choice of an argument": picked(f"{D}%r = arith.select %p, %d, %u : {M}"),
    "returned choice of two": picked(f"{D}{FRESH}%r = arith.select %p, %d, %w : {M}"),
    "returned choice, also read": picked(f"{D}{FRESH}%r = arith.select %p, %d, %w : {M}\n{copy('%d', '%u')}"),
    "returned from blocks": picked(
        f"""{D}cf.cond_br %p, ^one, ^two
^one:
  {FRESH}
  cf.br ^end(%w : {M})
^two:
  {copy("%d", "%u")}
  cf.br ^end(%u : {M})
^end(%r: {M}):"""
    ),
    "last used in front of an allocation, on one way": main(
        f"""{A}{B}{copy("%x", "%out")}
  scf.if %p {{
    {copy("%a", "%out")}
    %w = memref.alloc() : {M}
    {copy("%b", "%w")}
    {copy("%w", "%out")}
  }}"""
    ),
    "reallocated": main(
        f"""%a = memref.alloc(%c2) : memref<?xf32>
  %half = memref.subview %x[0] [2] [1] : {M} to memref<2xf32, strided<[1]>>
  %d = memref.cast %half : memref<2xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  memref.copy %d, %a : memref<?xf32, strided<[1]>> to memref<?xf32>
  %wanted = arith.addi %n, %c1 : index
  %r = memref.realloc %a(%wanted) : memref<?xf32> to memref<?xf32>
  %first = memref.load %r[%c0] : memref<?xf32>
  linalg.fill ins(%first : f32) outs(%out : {M})"""
    ),
}
BLOCKS = f"""
  cf.cond_br %p, ^one(%x : {M}), ^two(%a : {M})
^one(%u: {M}):
  %w = memref.alloc() : {M}
  {copy("%u", "%w")}
  cf.cond_br %p, ^end(%w : {M}), ^two(%w : {M})
^two(%v: {M}):
  {copy("%v", "%out")}
  cf.br ^end(%v : {M})
^end(%m: {M}):
  {copy("%m", "%out")}
"""
PROGRAMS["blocks"] = main(f"{A}{BLOCKS}")
PROGRAMS["loop of blocks"] = main(
    f"""cf.br ^head(%c0, %x : index, {M})
^head(%i: index, %u: {M}):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  {FRESH}
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %w : index, {M})
^end:
  {copy("%u", "%out")}
"""
)
PROGRAMS["blocks and one used at the end"] = main(f"{A}{BLOCKS}{copy('%a', '%out')}")
PROGRAMS["blocks after a select"] = main(f"{B}%a = arith.select %p, %b, %x : {M}\n{BLOCKS}")
PROGRAMS["one of two on one way"] = main(
    f"""{A}{B}%s = arith.select %p, %a, %b : {M}
  %more = arith.cmpi slt, %n, %c2 : index
  cf.cond_br %more, ^loop(%s : {M}), ^end(%x : {M})
^loop(%u: {M}):
  {FRESH}
  %again = arith.cmpi slt, %n, %c0 : index
  cf.cond_br %again, ^loop(%w : {M}), ^end(%w : {M})
^end(%m: {M}):
  {copy("%m", "%out")}
"""
)


ALIGNED = "{alignment = 16 : i64}"


def viewed(arena: str, size: str = "", cast: str = "") -> str:
    """A memref `%there` that a view with a shift shows of an arena."""
    kind = "memref<?xf32>" if size else M
    return f"""%c16 = arith.constant 16 : index
    %arena = {arena}() {ALIGNED} : memref<64xi8>
    %{"part" if cast else "there"} = memref.view %arena[%c16][{size}] : memref<64xi8> to {kind}
    {cast}
    {copy("%y", "%there")}
    {copy("%there", "%a")}
    {copy("%a", "%out")}"""


OF_ANOTHER, OF_THE_STACK = viewed("memref.alloc"), viewed("memref.alloca")
OF_ANY_SIZE = viewed("memref.alloca", "%c4", f"%there = memref.cast %part : memref<?xf32> to {M}")


def switched(passed: str, other: str = "%x", before: str = "") -> str:
    """What is `passed` is taken over on one way of a switch, and only shown on another."""
    return f"""%c4 = arith.constant 4 : index
  %m = scf.if %p -> {M} {{
    scf.yield %x : {M}
  }} else {{
    {A}{before}
    %s:2 = scf.index_switch %n -> {M}, {M}
    case 0 {{
      scf.yield {passed}, {passed} : {M}, {M}
    }}
    case 1 {{
      scf.yield %x, {passed} : {M}, {M}
    }}
    default {{
      scf.yield {passed}, {other} : {M}, {M}
    }}
    scf.yield %s#1 : {M}
  }}
  {copy("%m", "%out")}"""


PROGRAMS["taken over on one way of a switch, only shown on another"] = main(switched("%a"))
PROGRAMS["taken over on one way of a switch, beside a view with a shift"] = main(switched("%a", "%x", OF_ANOTHER))
PROGRAMS["taken over on one way of a switch, or else it is a view of another one"] = main(
    switched("%a", "%there", OF_ANOTHER)
)
PROGRAMS["taken over on one way of a switch, or else it is a view of the stack"] = main(
    switched("%a", "%there", OF_THE_STACK)
)
PROGRAMS["a loop takes over one of two, and the block branches behind it"] = main(
    f"""{A}{B}{copy("%y", "%out")}
  cf.cond_br %p, ^end(%x : {M}), ^loop
^loop:
  %few = arith.cmpi slt, %n, %c2 : index
  %s = arith.select %few, %a, %b : {M}
  {loop("%w", "%s", FRESH, "%u")}
  cf.cond_br %few, ^end(%r : {M}), ^last
^end(%m: {M}):
  {copy("%m", "%out")}
  cf.br ^last
^last:
"""
)


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
        ("returned from blocks", 0),
    ],
)
def test_s2_8_what_is_asked_at_run_time(name: str, count: int) -> None:
    assert asked(PROGRAMS.get(name) or PROGRAMS[f"s2_8 {name}"]) == count


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
    "s2_8 loop, new sometimes": 5 * 10**4,
    "loop, new each time": 10**5,
    "swap": 2,
    "swap with a new one": 10**5,
    "one twice": 10**5,
    "selected and carried": 10**5,
    "while": 10**5,
    "loop of blocks": 10**5,
}


KINDS_OF_LOOPS = ("s2_8 loop, new sometimes", "while", "loop of blocks")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in KINDS_OF_LOOPS else [pytest.mark.slow]) for name in MANY]
)
def test_s2_8_many_iterations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """10^5 iterations: what is allocated is freed once, and no more memory is held at once than in three iterations."""
    monkeypatch.setattr(executable, "Heap", _Counting)
    module, _ = deallocated(PROGRAMS[name], OWNERSHIP)
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


def test_returns_are_told() -> None:
    text = f"func.func @f(%x: {M}) -> ({M}, {M}, {M}) {{\n{A}return %a, %x, %a : {M}, {M}, {M}\n}}"
    _, decisions = deallocated(text, OWNERSHIP)
    assert [d.reason for d in decisions] == [Reason.RETURNED_INPUT, Reason.RETURNED_TWICE]
    assert all(d.bytes == 16 for d in decisions)


def test_memory_that_leaves_an_unknown_op_is_refused() -> None:
    text = f"""func.func @f() {{
  %r = "custom.region"() ({{
    %a = memref.alloc() : {M}
    "custom.yield"(%a) : ({M}) -> ()
  }}) : () -> {M}
  return
}}"""
    with pytest.raises(BufferizationError, match="an op whose flow a model describes"):
        deallocated(text, OWNERSHIP)


@pytest.mark.parametrize(
    "body",
    [switched("%there", "%x", OF_ANOTHER), switched("%a", "%there", OF_ANY_SIZE)],
    ids=["of an allocation", "of the stack, perhaps without elements"],
)
def test_addresses_that_a_view_has_shifted_are_not_compared(body: str) -> None:
    with pytest.raises(BufferizationError, match="one that may come from a `memref.view` with a shift"):
        deallocated(main(body), OWNERSHIP)


def test_memory_in_an_unknown_op_is_freed_there() -> None:
    text = f"""func.func @f(%x: {M}) {{
  {A}
  "custom.region"() ({{
    %b = memref.alloc() : {M}
    {copy("%a", "%b")}
    "custom.yield"() : () -> ()
  }}) : () -> ()
  return
}}"""
    module, _ = deallocated(text, OWNERSHIP)
    frees = [op for op in nested_ops(module.operation) if op.name == "memref.dealloc"]
    assert [op.parent.operation.name for op in frees] == ["custom.region", "func.func"]


def test_memory_that_other_memory_points_to_is_kept() -> None:
    text = f"""func.func @f(%p: i1, %x: {M}, %y: {M}, %table: memref<1x{M}>) {{
  {HEAD}{A}{B}
  %r = scf.if %p -> {M} {{
    %w = memref.alloc() : {M}
    memref.store %w, %table[%c0] : memref<1x{M}>
    scf.yield %w : {M}
  }} else {{
    scf.yield %a : {M}
  }}
  {copy("%r", "%x")}
  memref.store %b, %table[%c0] : memref<1x{M}>
  return
}}"""
    module, _ = deallocated(text, OWNERSHIP)
    frees = [op for op in nested_ops(module.operation) if op.name == "memref.dealloc"]
    assert [str(op.operands[0].owner.name) for op in frees] == ["memref.alloc"]
    assert frees[0].parent.operation.name == "scf.if", "%a alone, where it is not what is passed on"


@pytest.mark.parametrize(("field", "value"), [("mode", "fast"), ("placement", "nowhere")])
def test_options(field: str, value: str) -> None:
    with pytest.raises(OptionError, match=f"option '{field}'"):
        deallocated("func.func @f() { return }", DeallocateAfterLastUse(**{field: value}))


def test_unused_and_empty() -> None:
    module, decisions = deallocated(f"func.func @f() {{ %a = memref.alloc() : {M} return }}", OWNERSHIP)
    assert "memref" not in str(module)
    assert not decisions


def test_zero_sized_and_rank_zero() -> None:
    text = """func.func @f(%x: memref<0x4xf32>, %y: memref<f32>) {
  %a = memref.alloc() : memref<0x4xf32>
  memref.copy %x, %a : memref<0x4xf32> to memref<0x4xf32>
  %b = memref.alloc() : memref<f32>
  memref.copy %y, %b : memref<f32> to memref<f32>
  return
}"""
    _, decisions = deallocated(text, OWNERSHIP)
    assert [d.bytes for d in decisions] == [0, 4]


def test_four_thousand_allocations_in_a_second() -> None:
    lines = [
        f"%a{i} = memref.alloc() : {M}\nmemref.copy %{f'a{i - 1}' if i else 'x'}, %a{i} : {M} to {M}"
        for i in range(4000)
    ]
    module = ir.Module.parse(f"func.func @f(%x: {M}) {{\n" + "\n".join(lines) + "\nreturn }", make_context())
    start = time.process_time()
    with entered(module.operation):
        decisions = OWNERSHIP.run(module)
    assert time.process_time() - start < 1
    assert len(decisions) == 4000
