"""What a device or queue uses is freed behind a wait for all of its kind or refused, and has no other use meanwhile."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

import pytest

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered, make_context
from hotdesk.models import Facts, OpModel, register
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.unit.passes.buffers.checking import FREE, through
from tests.work import calls_made

M = "memref<4xf32>"
TILE = "memref<64x64xf16, 3>"
LDS = "memref<4xf32, #gpu.address_space<workgroup>>"
GLOBAL = "memref<4xf32, #gpu.address_space<global>>"
GROUP = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>"
MAP = f"!nvgpu.tensormap.descriptor<tensor = {TILE}, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>"
SHARED = "!llvm.ptr<3>"


class Case(NamedTuple):
    """A transfer of `%a`, of a type: what comes in front, the op that starts it, and what waits for it."""

    kind: str
    before: str
    start: str
    wait: str


def use(name: str, kind: str, from_: str = "%x", to: str = "%o") -> str:
    return f"""%{name} = memref.alloc() : {kind}
  memref.copy {from_}, %{name} : {kind} to {kind}
  memref.copy %{name}, {to} : {kind} to {kind}"""


def function(case: Case, body: str, more: str = "") -> str:
    arguments = f"%x: {case.kind}, %o: {case.kind}, %g: {GLOBAL}, %m: {MAP}, %tag: memref<1xi32>"
    return f"""func.func @main({arguments}, %n: index, %k: i32, %q: i32, %p: i1) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  {body}
  return
}}
{more}"""


def program(case: Case, wait: str = "") -> str:
    """The transfer of a buffer, with another buffer of its type in front of the wait and one behind."""
    return function(
        case,
        f"""{case.before}
  %a = memref.alloc() : {case.kind}
  memref.copy %x, %a : {case.kind} to {case.kind}
  {case.start}
  {use("b", case.kind)}
  {wait or case.wait}
  {use("d", case.kind)}""",
    )


def barrier(wait: str) -> Case:
    before = f"%bar = nvgpu.mbarrier.create -> {GROUP}\n  nvgpu.mbarrier.init %bar[%c0], %n : {GROUP}"
    start = f"""nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %n : {GROUP}
  nvgpu.tma.async.load %m[%c0, %c0], %bar[%c0] to %a : {MAP}, {GROUP} -> {TILE}"""
    return Case(TILE, before, start, wait)


def single(inside: str) -> str:
    return f"omp.single {{\n    {inside}\n    omp.terminator\n  }}"


POINTER = """%u = memref.extract_aligned_pointer_as_index %a : KIND -> index
  %v = arith.index_cast %u : index to i64
  %ptr = llvm.inttoptr %v : i64 to !llvm.ptr
  """
STORE = f"nvgpu.tma.async.store %a to %m[%c0, %c0] : {TILE} -> {MAP}"
WARPGROUP = f"!nvgpu.warpgroup.descriptor<tensor = {TILE}>"
SUM = "!nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>"
MMA = f"""%desc = nvgpu.warpgroup.generate.descriptor %a, %m : {TILE}, {MAP} -> {WARPGROUP}
  %zero = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x64xf32>>
  %r = "nvgpu.warpgroup.mma"(%desc, %desc, %zero) : ({WARPGROUP}, {WARPGROUP}, {SUM}) -> {SUM}"""
GATHER = f"amdgpu.gather_to_lds async %g[%c0], %a[%c0] : f32, {GLOBAL}, {LDS}"
BASE = f"""%base = amdgpu.make_dma_base %g[%c0], %a[%c0] : {GLOBAL}, {LDS} -> !amdgpu.tdm_base<f32>
  %dma = amdgpu.make_dma_descriptor %base globalSize [2, 2] globalStride [2, 1] sharedSize [2, 2]
    : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
  amdgpu.tensor_load_to_lds %dma : !amdgpu.tdm_descriptor"""
COPIED = f"%e = acc.copyin varPtr(%a : {M}) async(%q : i32) -> {M}"
TASK = f"omp.task {{\n    memref.copy %a, %o : {M} to {M}\n    omp.terminator\n  }}"
SENT = f"""%w = mpi.comm_world : !mpi.comm
  %req = mpi.isend(%a, %k, %k, %w) : {M}, i32, i32 -> !mpi.request"""
ASYNC_COPY = (
    f"%cp = nvgpu.device_async_copy %x[%c0, %c0], %a[%c0, %c0], 4 : {TILE} to {TILE}\n  "
    "%group = nvgpu.device_async_create_group %cp"
)

DONE = {
    "acc queue": Case(M, "", COPIED, "acc.wait"),
    "acc queue without a number": Case(M, "", COPIED.replace("async(%q : i32)", "async"), "acc.wait"),
    "acc region": Case(
        M, "", f"acc.parallel async(%q : i32) {{\n    memref.copy %a, %o : {M} to {M}\n    acc.yield\n  }}", "acc.wait"
    ),
    "acc update": Case(
        M,
        "",
        f"%e = acc.update_device varPtr(%a : {M}) -> {M}\n  acc.update dataOperands(%e : {M}) async(%q : i32)",
        "acc.wait",
    ),
    "acc data, by a number without a type of device": Case(
        M,
        "",
        f"%e = acc.copyin varPtr(%a : {M}) -> {M}\n  acc.enter_data async(%q : i32) dataOperands(%e : {M})",
        "acc.wait",
    ),
    "omp task": Case(M, "", TASK, "omp.taskwait"),
    "omp task, all of a team": Case(M, "", TASK, "omp.barrier"),
}
"""Done at a wait for all."""
ASKED = {
    "device_async_copy": Case(TILE, "", ASYNC_COPY, "nvgpu.device_async_wait %group"),
    "a copy that is in no group": Case(TILE, "", ASYNC_COPY.splitlines()[0], "nvgpu.device_async_wait %cp"),
    "mpi": Case(M, "", SENT, "mpi.wait(%req) : !mpi.request"),
    "mpi, in a loop": Case(M, "", SENT, "scf.for %i = %c0 to %n step %c1 {\n    mpi.wait(%req) : !mpi.request\n  }"),
    "dma": Case(
        M,
        "",
        f"memref.dma_start %a[%c0], %o[%c0], %n, %tag[%c0] : {M}, {M}, memref<1xi32>",
        "memref.dma_wait %tag[%c0], %n : memref<1xi32>",
    ),
}
"""What takes the token or tag may have waited."""
UNKNOWN = {
    "tma load": barrier(f"nvgpu.mbarrier.try_wait.parity %bar[%c0], %p, %n : {GROUP}"),
    "tma store": Case(TILE, "", STORE, "nvvm.cp.async.bulk.commit.group\n  nvvm.cp.async.bulk.wait_group 0"),
    "cp.async by pointer": Case(
        TILE,
        "%other = llvm.mlir.zero : !llvm.ptr<1>",
        POINTER.replace("KIND", TILE)
        + f"%s = llvm.addrspacecast %ptr : !llvm.ptr to {SHARED}\n  "
        + f"nvvm.cp.async.shared.global %s, %other, 16, cache = cg : {SHARED}, !llvm.ptr<1>",
        "nvvm.cp.async.commit.group\n  nvvm.cp.async.wait.group 0",
    ),
    "an arrival at a barrier that comes later": Case(
        TILE,
        "",
        POINTER.replace("KIND", TILE)
        + f"%s = llvm.addrspacecast %ptr : !llvm.ptr to {SHARED}\n  nvvm.cp.async.mbarrier.arrive %s : {SHARED}",
        f"nvvm.mbarrier.try_wait.parity %s, %k, %k : {SHARED}, i32, i32",
    ),
    "mma of a warpgroup": Case(TILE, "", MMA, "nvvm.wgmma.wait.group.sync.aligned 0"),
    "gather_to_lds": Case(LDS, "", GATHER, "rocdl.asyncmark\n  rocdl.wait.asyncmark 0"),
    "load to LDS": Case(
        LDS, "", f"amdgpu.global_load_async_to_lds %g[%c0], %a[%c0] : f32, {GLOBAL}, {LDS}", "rocdl.s.wait.asynccnt 0"
    ),
    "tensor load": Case(LDS, "", BASE, "amdgpu.memory_counter_wait tensor(0)"),
    "acc queue, and a wait for some": DONE["acc queue"]._replace(wait="acc.wait(%q : i32)"),
    "acc queue, under a condition": DONE["acc queue"]._replace(wait="acc.wait if(%p)"),
    "acc queue, by another one": DONE["acc queue"]._replace(wait="acc.wait async(%k : i32)"),
    "acc queue, by a clause": DONE["acc queue"]._replace(wait="acc.serial wait({%q : i32}) {\n    acc.yield\n  }"),
    "acc queue, in a branch": DONE["acc queue"]._replace(wait="scf.if %p {\n    acc.wait\n  }"),
    "acc queue, by a team": DONE["acc queue"]._replace(wait="omp.barrier"),
    "omp task, of a queue": DONE["omp task"]._replace(wait="acc.wait"),
    "omp task, by one that does not wait": DONE["omp task"]._replace(wait="omp.taskwait nowait"),
    "omp task, at the end of a part of a team": Case(M, "", single(TASK), "omp.taskwait"),
}
"""Nothing in the block is known to wait for all: refused."""
ALL = {**DONE, **ASKED, **UNKNOWN}


def lines_of(text: str, *passes: str) -> list[str]:
    return [line.strip() for line in through(text, *passes).splitlines()]


def last(lines: list[str], ops: str) -> int:
    """The last line with an op that is the last of some."""
    name = cast(re.Match[str], re.search(r"\b[a-z]+\.[a-z_.]+", ops.splitlines()[-1]))[0]
    return max(i for i, line in enumerate(lines) if name in line)


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}"])
@pytest.mark.parametrize("name", DONE)
def test_freed_behind_the_wait(name: str, mode: str) -> None:
    case = DONE[name]
    lines = lines_of(program(case), mode)
    at = last(lines, case.wait)
    assert lines[at + 1] == f"memref.dealloc %alloc : {case.kind}"
    assert sum(line.startswith("memref.dealloc") for line in lines) == 3


@pytest.mark.parametrize("name", ASKED)
def test_freed_at_the_end_where_it_may_be_done_earlier(name: str) -> None:
    case = ASKED[name]
    lines = lines_of(program(case), FREE)
    end = lines.index("return")
    used = next(line.split()[2] for line in lines if line.startswith("memref.copy %arg0, "))
    others = [i for i, line in enumerate(lines[:end]) if not line.startswith("memref.dealloc")]
    assert f"memref.dealloc {used} : {case.kind}" in lines[others[-1] + 1 : end]
    assert sum(line.startswith("memref.dealloc") for line in lines) == sum("memref.alloc(" in line for line in lines)


NOTHING = "memref.copy %x, %o : KIND to KIND"
REFUSED = r"memory that `[a-z_.]+` uses beside the program: expected an op that waits for it"


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}"])
@pytest.mark.parametrize("name", UNKNOWN)
def test_refused_where_no_wait_is_known(name: str, mode: str) -> None:
    with pytest.raises(BufferizationError, match=REFUSED):
        through(program(UNKNOWN[name]), mode)


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}"])
@pytest.mark.parametrize("name", ALL)
def test_refused_where_nobody_waits(name: str, mode: str) -> None:
    case = ALL[name]
    with pytest.raises(BufferizationError, match=REFUSED):
        through(program(case, NOTHING.replace("KIND", case.kind)), mode)


@pytest.mark.parametrize("name", ["acc queue", "omp task"])
def test_refused_where_the_wait_is_in_front_of_it(name: str) -> None:
    case = DONE[name]
    changed = case._replace(before=f"{case.before}\n  {case.wait}")
    with pytest.raises(BufferizationError, match=REFUSED):
        through(program(changed, NOTHING.replace("KIND", case.kind)), FREE)


def test_refused_where_another_tag_tells() -> None:
    case = ASKED["dma"]
    changed = case._replace(before=f"{case.before}\n  %other = memref.alloc() : memref<1xi32>")
    with pytest.raises(BufferizationError, match=REFUSED):
        through(program(changed, case.wait.replace("%tag", "%other")), FREE)


def test_what_a_descriptor_shows_is_in_use_as_long_as_what_is_loaded() -> None:
    load = UNKNOWN["tma load"]
    body = f"""{load.before}
  %whole = memref.alloc() : memref<128x128xf16>
  %any = memref.cast %whole : memref<128x128xf16> to memref<*xf16>
  %desc = nvgpu.tma.create.descriptor %any box[%n, %n] : memref<*xf16> -> {MAP}
  START"""
    inside = load.start.replace("%m", "%desc").replace("%a", "%o")
    with pytest.raises(BufferizationError, match=REFUSED):
        through(function(load, body.replace("START", inside)), FREE)
    lines = lines_of(function(load, body.replace("START", launched(inside)) + "\n  " + use("b", TILE)), FREE)
    assert "128x128" in lines[lines.index("gpu.terminator") + 2]


def test_an_op_of_a_device_that_gives_numbers_has_read_them() -> None:
    body = f"""%a = memref.alloc() : memref<16x16xf16, 3>
  %r = nvgpu.ldmatrix %a[%c0, %c0] {{numTiles = 4 : i32, transpose = false}} : memref<16x16xf16, 3> -> vector<4x2xf16>
  {use("b", M)}"""
    lines = lines_of(function(Case(M, "", "", ""), body), FREE)
    at = next(i for i, line in enumerate(lines) if "ldmatrix" in line)
    assert lines[at + 1] == "memref.dealloc %alloc : memref<16x16xf16, 3>"


@pytest.mark.parametrize("numbers", ["num_gangs({%q : i32})", ""])
def test_a_region_of_openacc_without_a_queue_waits(numbers: str) -> None:
    case = Case(
        M,
        "",
        f"acc.parallel {numbers} {{\n    memref.copy %a, %o : {M} to {M}\n    acc.yield\n  }}",
        NOTHING.replace("KIND", M),
    )
    lines = lines_of(program(case), FREE)
    assert lines[lines.index("acc.yield") + 2] == f"memref.dealloc %alloc : {M}"


@pytest.mark.parametrize("around", ["omp.parallel", "omp.taskgroup"])
def test_a_region_at_whose_end_all_tasks_are_done(around: str) -> None:
    case = Case(M, "", f"{around} {{\n    {TASK}\n    omp.terminator\n  }}", NOTHING.replace("KIND", M))
    lines = lines_of(program(case), FREE)
    end = max(i for i, line in enumerate(lines) if line == "omp.terminator")
    assert lines[end + 2] == f"memref.dealloc %alloc : {M}"


def launched(inside: str) -> str:
    return f"""gpu.launch blocks(%i, %j, %l) in (%is = %c1, %js = %c1, %ls = %c1)
      threads(%r, %s, %t) in (%rs = %c1, %ss = %c1, %ts = %c1) {{
    {inside}
    gpu.terminator
  }}"""


def test_a_parallel_region_waits_for_tasks_alone() -> None:
    inside = f"""%t = async.execute {{
      memref.copy %a, %o : {M} to {M}
      async.yield
    }}
    omp.terminator"""
    case = Case(M, "", f"omp.parallel {{\n    {inside}\n  }}", "")
    with pytest.raises(BufferizationError, match="beside the program: expected an op that waits for it"):
        through(program(case, NOTHING.replace("KIND", M)), FREE)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("name_of_pass", ["hotdesk-share-buffers", "hotdesk-merge-allocations"])
def test_has_no_other_use_meanwhile(name: str, name_of_pass: str) -> None:
    """The other two buffers may be one; none of them is the one that is transferred."""
    case = ALL[name]
    lines = lines_of(program(case), name_of_pass)
    copied = [line.split()[2] for line in lines if line.startswith("memref.copy %arg0, ")]
    assert copied.count(copied[0]) == 1
    assert f"{copied[0].rstrip(',')} = memref.alloc() : {case.kind}" in lines


@pytest.mark.parametrize("name", ALL)
def test_is_not_promoted_to_the_stack(name: str) -> None:
    case = ALL[name]
    option = "hotdesk-promote-buffers-to-stack{max-alloc-size-in-bytes=100000}"
    assert f"%alloc = memref.alloc() : {case.kind}" in lines_of(
        program(case, NOTHING.replace("KIND", case.kind)), option
    )


@pytest.mark.parametrize("name", ALL)
def test_an_iteration_keeps_its_own(name: str) -> None:
    """Where an iteration goes on before the transfer of the one before is done, both need memory."""
    case = ALL[name]
    body = f"""{case.before}
  scf.for %i = %c0 to %n step %c1 {{
    %a = memref.alloc() : {case.kind}
    memref.copy %x, %a : {case.kind} to {case.kind}
    {case.start}
  }}"""
    for each in ("hotdesk-buffer-loop-hoisting", "hotdesk-buffer-hoisting"):
        lines = lines_of(function(case, body), each)
        at = next(i for i, line in enumerate(lines) if line.startswith("scf.for"))
        assert any("memref.alloc()" in line for line in lines[at:])
        assert not any("memref.alloc()" in line for line in lines[:at])


@pytest.mark.parametrize("name", ALL)
def test_copies_into_it_stay(name: str) -> None:
    """Its source is written again while the transfer runs, so it cannot serve instead."""
    case = ALL[name]
    body = f"""{case.before}
  %z = memref.alloc() : {case.kind}
  memref.copy %x, %z : {case.kind} to {case.kind}
  %a = memref.alloc() : {case.kind}
  memref.copy %z, %a : {case.kind} to {case.kind}
  {case.start}
  memref.copy %o, %z : {case.kind} to {case.kind}
  memref.copy %z, %x : {case.kind} to {case.kind}
  {case.wait}"""
    lines = lines_of(function(case, body), "hotdesk-copy-removal")
    assert sum("memref.alloc()" in line for line in lines) == 2


def test_the_registers_of_a_tile_are_no_memory() -> None:
    body = f"""%a = memref.alloc() : memref<16x64xi8>
  %tile = x86.amx.tile_load %a[%c0, %c0] : memref<16x64xi8> into !x86.amx.tile<16x64xi8>
  {use("b", M)}
  %to = memref.alloc() : memref<16x64xi8>
  x86.amx.tile_store %to[%c0, %c0], %tile : memref<16x64xi8>, !x86.amx.tile<16x64xi8>"""
    lines = lines_of(function(Case(M, "", "", ""), body), FREE)
    at = next(i for i, line in enumerate(lines) if "tile_load" in line)
    assert lines[at + 1] == "memref.dealloc %alloc : memref<16x64xi8>"


def test_ops_of_your_own_say_whether_they_run_on() -> None:
    register("toy.send", OpModel(lambda op: Facts(), runs_on=lambda op: True))
    register("nvgpu.tma.async.store", OpModel(lambda op: Facts(), runs_on=lambda op: False))
    with pytest.raises(BufferizationError, match="memory that `toy.send` uses beside the program"):
        through(program(Case(M, "", f'"toy.send"(%a) : ({M}) -> ()', NOTHING.replace("KIND", M))), FREE)
    lines = lines_of(program(UNKNOWN["tma store"]), FREE)
    at = next(i for i, line in enumerate(lines) if "tma.async.store" in line)
    assert lines[at + 1] == f"memref.dealloc %alloc : {TILE}"


@pytest.mark.parametrize("waited", ["acc.wait", "memref.copy %x, %o : memref<4xf32> to memref<4xf32>\n  acc.wait"])
def test_work_grows_with_the_program(waited: str) -> None:
    def calls(count: int) -> int:
        body = "\n  ".join(
            f"%a{i} = memref.alloc() : {M}\n  %e{i} = acc.copyin varPtr(%a{i} : {M}) async(%q : i32) -> {M}\n  {waited}"
            for i in range(count)
        )
        module = ir.Module.parse(function(DONE["acc queue"], body), make_context())
        with entered(module.operation):
            return calls_made(lambda: DeallocateAfterLastUse().run(module))

    calls(4)  # models are looked up
    assert calls(200) <= 4.4 * calls(50)
