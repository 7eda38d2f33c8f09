"""What a transfer uses is freed where another op has waited for it, and has no other use before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple, cast

import pytest
from torch_mlir import dialects

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered, make_context
from hotdesk.models import Facts, OpModel, register
from hotdesk.models.device_transfers import TRANSFERS as DEVICE
from hotdesk.models.queues import CLAUSES
from hotdesk.models.queues import TRANSFERS as QUEUES
from hotdesk.models.registry import _MODELS
from hotdesk.models.transfers import Commit, Start, Wait
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.unit.passes.buffers.checking import FREE, through
from tests.work import calls_made

M = "memref<4xf32>"
TILE = "memref<64x64xf16, 3>"
LDS = "memref<4xf32, #gpu.address_space<workgroup>>"
GLOBAL = "memref<4xf32, #gpu.address_space<global>>"
GROUP = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>"
ALONE = "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>"
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
    arguments = f"%x: {case.kind}, %o: {case.kind}, %g: {GLOBAL}, %n: index, %k: i32, %q: i32, %p: i1, %m: {MAP}"
    return f"""func.func @main({arguments}) {{
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


def barrier(wait: str, of: str = GROUP, at: str = "%c0") -> Case:
    before = f"%bar = nvgpu.mbarrier.create -> {of}\n  nvgpu.mbarrier.init %bar[{at}], %n : {of}"
    start = f"""nvgpu.mbarrier.arrive.expect_tx %bar[{at}], %n : {of}
  nvgpu.tma.async.load %m[%c0, %c0], %bar[{at}] to %a : {MAP}, {of} -> {TILE}"""
    return Case(TILE, before, start, wait)


def tried(at: str, of: str = GROUP) -> str:
    return f"nvgpu.mbarrier.try_wait.parity %bar[{at}], %p, %n : {of}"


POINTER = """%u = memref.extract_aligned_pointer_as_index %a : KIND -> index
  %v = arith.index_cast %u : index to i64
  %ptr = llvm.inttoptr %v : i64 to !llvm.ptr
  """
STORE = f"nvgpu.tma.async.store %a to %m[%c0, %c0] : {TILE} -> {MAP}"
COMMIT, DRAINED = "nvvm.cp.async.bulk.commit.group", "nvvm.cp.async.bulk.wait_group 0"
COPY_COMMIT, COPY_DRAINED = "nvvm.cp.async.commit.group", "nvvm.cp.async.wait.group 0"
WARPGROUP = f"!nvgpu.warpgroup.descriptor<tensor = {TILE}>"
SUM = "!nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>"
MMA = f"""%desc = nvgpu.warpgroup.generate.descriptor %a, %m : {TILE}, {MAP} -> {WARPGROUP}
  %zero = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x64xf32>>
  %r = "nvgpu.warpgroup.mma"(%desc, %desc, %zero) HOW : ({WARPGROUP}, {WARPGROUP}, {SUM}) -> {SUM}"""
GATHER = f"amdgpu.gather_to_lds async %g[%c0], %a[%c0] : f32, {GLOBAL}, {LDS}"
BASE = f"""%base = amdgpu.make_dma_base %g[%c0], %a[%c0] : {GLOBAL}, {LDS} -> !amdgpu.tdm_base<f32>
  %dma = amdgpu.make_dma_descriptor %base globalSize [2, 2] globalStride [2, 1] sharedSize [2, 2]
    : !amdgpu.tdm_base<f32> -> !amdgpu.tdm_descriptor
  amdgpu.tensor_load_to_lds %dma : !amdgpu.tdm_descriptor"""
COPIED = f"%e = acc.copyin varPtr(%a : {M}) async(%q : i32) -> {M}"
SENT = f"""%w = mpi.comm_world : !mpi.comm
  %req = mpi.isend(%a, %k, %k, %w) : {M}, i32, i32 -> !mpi.request"""
ASYNC_COPY = (
    f"%cp = nvgpu.device_async_copy %x[%c0, %c0], %a[%c0, %c0], 4 : {TILE} to {TILE}\n  "
    "%group = nvgpu.device_async_create_group %cp"
)

DONE = {
    "tma load": barrier(tried("%c0")),
    "tma load, the same barrier by another constant": barrier(f"%also0 = arith.constant 0 : index\n  {tried('%also0')}"),
    "tma load, the only barrier": barrier(tried("%n", ALONE), ALONE),
    "tma store": Case(TILE, "", STORE, f"{COMMIT}\n  {DRAINED}"),
    "tma store, one group behind may run on": Case(TILE, "", STORE, f"{COMMIT}\n  {COMMIT}\n  nvvm.cp.async.bulk.wait_group 1"),
    "cp.async by pointer": Case(
        TILE,
        "%other = llvm.mlir.zero : !llvm.ptr<1>",
        POINTER.replace("KIND", TILE)
        + f"%s = llvm.addrspacecast %ptr : !llvm.ptr to {SHARED}\n  "
        + f"nvvm.cp.async.shared.global %s, %other, 16, cache = cg : {SHARED}, !llvm.ptr<1>",
        f"{COPY_COMMIT}\n  {COPY_DRAINED}",
    ),
    "bulk load by pointer": Case(
        TILE,
        f"%other = llvm.mlir.zero : !llvm.ptr<1>\n  %bar = llvm.mlir.zero : {SHARED}",
        POINTER.replace("KIND", TILE)
        + "%s = llvm.addrspacecast %ptr : !llvm.ptr to !llvm.ptr<7>\n  "
        + "nvvm.cp.async.bulk.shared.cluster.global %s, %other, %bar, %k : !llvm.ptr<7>, !llvm.ptr<1>",
        f"nvvm.mbarrier.try_wait.parity %bar, %k, %k : {SHARED}, i32, i32",
    ),
    "mma of a warpgroup, and the next one": Case(
        TILE,
        "",
        MMA.replace("HOW", ""),
        MMA.replace("HOW", "").replace("%desc", "%next").replace("%zero", "%none").replace("%r", "%s").replace("%a", "%o"),
    ),
    "mma of a warpgroup, waited for": Case(TILE, "", MMA.replace("HOW", ""), "nvvm.wgmma.wait.group.sync.aligned 0"),
    "device_async_copy": Case(TILE, "", ASYNC_COPY, "nvgpu.device_async_wait %group"),
    "gather_to_lds": Case(LDS, "", GATHER, "rocdl.asyncmark\n  rocdl.wait.asyncmark 0"),
    "gather_to_lds, one group may run on": Case(LDS, "", GATHER, "rocdl.asyncmark\n  rocdl.asyncmark\n  rocdl.wait.asyncmark 1"),
    "load to LDS": Case(
        LDS, "", f"amdgpu.global_load_async_to_lds %g[%c0], %a[%c0] : f32, {GLOBAL}, {LDS}", "rocdl.s.wait.asynccnt 0"
    ),
    "tensor load": Case(LDS, "", BASE, "amdgpu.memory_counter_wait tensor(0)"),
    "mpi": Case(M, "", SENT, "mpi.wait(%req) : !mpi.request"),
    "acc queue": Case(M, "", COPIED, "acc.wait(%q : i32)"),
    "acc queues, all": Case(M, "", COPIED, "acc.wait"),
    "acc queue without a number": Case(M, "", COPIED.replace("async(%q : i32)", "async"), "acc.wait"),
    "acc region": Case(
        M,
        "",
        f"acc.parallel async(%q : i32) {{\n    memref.copy %a, %o : {M} to {M}\n    acc.yield\n  }}",
        "acc.wait(%k, %q : i32, i32)",
    ),
    "acc update": Case(
        M,
        "",
        f"%e = acc.update_device varPtr(%a : {M}) -> {M}\n  acc.update dataOperands(%e : {M}) async(%q : i32)",
        "acc.wait(%q : i32)",
    ),
}  # fmt: skip


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


LOAD = DONE["tma load"]
STORED = DONE["tma store"]
LATE = {
    "only asked": (
        LOAD,
        f"""%token = nvgpu.mbarrier.arrive %bar[%c0] : {GROUP} -> !nvgpu.mbarrier.token
  %is = nvgpu.mbarrier.test.wait %bar[%c0], %token : {GROUP}, !nvgpu.mbarrier.token""",
    ),
    "perhaps the same barrier": (LOAD, tried("%n")),
    "another of the barriers": (LOAD, tried("%c1")),
    "perhaps again in a branch": (LOAD, f"{tried('%c0')}\n  scf.if %p {{\n    {tried('%c0')}\n  }}"),
    "perhaps again by a callee": (LOAD, f"{tried('%c0')}\n  func.call @wait(%bar) : ({GROUP}) -> ()"),
    "perhaps again for the same barrier": (LOAD, f"{tried('%c0')}\n  {tried('%n')}"),
    "in a branch": (LOAD, f"scf.if %p {{\n    {tried('%c0')}\n  }}"),
    "by a callee": (LOAD, f"func.call @wait(%bar) : ({GROUP}) -> ()"),
    "not committed": (STORED, DRAINED),
    "committed in a branch": (STORED, f"scf.if %p {{\n    {COMMIT}\n  }}\n  {DRAINED}"),
    "one group may run on": (STORED, f"{COMMIT}\n  nvvm.cp.async.bulk.wait_group 1"),
    "only read": (STORED, f"{COMMIT}\n  nvvm.cp.async.bulk.wait_group 0 {{read}}"),
    "perhaps by a barrier": (
        DONE["cp.async by pointer"],
        f"""%bar = llvm.mlir.zero : {SHARED}
  nvvm.cp.async.mbarrier.arrive %bar : {SHARED}
  nvvm.mbarrier.try_wait.parity %bar, %k, %k : {SHARED}, i32, i32""",
    ),
    "results of an mma are used": (
        DONE["mma of a warpgroup, waited for"],
        """%to = memref.alloc() : memref<64x64xf32>
  nvgpu.warpgroup.mma.store %r, %to : <fragmented = vector<64x64xf32>> to memref<64x64xf32>""",
    ),
    "one load may run on": (DONE["load to LDS"], "rocdl.s.wait.asynccnt 1"),
    "one tensor may run on": (DONE["tensor load"], "amdgpu.memory_counter_wait tensor(1)"),
    "another counter": (DONE["gather_to_lds"], "amdgpu.memory_counter_wait load(0)"),
    "a copy that is in no group": (
        Case(TILE, "", ASYNC_COPY.splitlines()[0], ""),
        "nvgpu.device_async_wait %cp",
    ),
    "another queue": (DONE["acc queue"], "acc.wait(%k : i32)"),
    "the queue without a number": (DONE["acc queue without a number"], "acc.wait(%q : i32)"),
    "under a condition": (DONE["acc queue"], "acc.wait(%q : i32) if(%p)"),
    "another queue waits": (DONE["acc queue"], "acc.wait(%q : i32) async(%k : i32)"),
    "a clause": (DONE["acc queue"], "acc.serial wait({%q : i32}) {\n    acc.yield\n  }"),
    "a request that a loop may wait for": (
        DONE["mpi"],
        "scf.for %i = %c0 to %n step %c1 {\n    mpi.wait(%req) : !mpi.request\n  }",
    ),
}


def declared(case: Case, wait: str) -> str:
    text = program(case, wait)
    return text + f"\nfunc.func private @wait({GROUP})" if "@wait" in wait else text


@pytest.mark.parametrize("name", LATE)
def test_freed_at_the_end_where_it_may_be_done_earlier(name: str) -> None:
    case, wait = LATE[name]
    lines = lines_of(declared(case, wait), FREE)
    end = lines.index("return")
    others = [i for i, line in enumerate(lines[:end]) if not line.startswith("memref.dealloc")]
    assert f"memref.dealloc %alloc : {case.kind}" in lines[others[-1] + 1 : end]
    assert sum(line.startswith("memref.dealloc") for line in lines) == sum("memref.alloc(" in line for line in lines)


NOTHING = "memref.copy %x, %o : KIND to KIND"


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}"])
@pytest.mark.parametrize("name", DONE)
def test_refused_where_nobody_waits(name: str, mode: str) -> None:
    case = DONE[name]
    with pytest.raises(BufferizationError, match="beside the program: expected an op that waits for it"):
        through(program(case, NOTHING.replace("KIND", case.kind)), mode)


@pytest.mark.parametrize("name", ["tma load", "acc queue", "gather_to_lds"])
def test_refused_where_the_wait_is_in_front_of_it(name: str) -> None:
    case = DONE[name]
    changed = case._replace(before=f"{case.before}\n  {case.wait}")
    with pytest.raises(BufferizationError, match="beside the program: expected an op that waits for it"):
        through(program(changed, NOTHING.replace("KIND", case.kind)), FREE)


def test_refused_where_another_barrier_tells() -> None:
    case = LOAD._replace(before=f"{LOAD.before}\n  %bar2 = nvgpu.mbarrier.create -> {GROUP}")
    with pytest.raises(BufferizationError, match="beside the program: expected an op that waits for it"):
        through(program(case, tried("%c0").replace("%bar", "%bar2")), FREE)


def test_the_last_wait_for_a_barrier_counts() -> None:
    lines = lines_of(program(LOAD, f"{tried('%c0')}\n  {use('e', TILE)}\n  {tried('%c0')}"), FREE)
    at = max(i for i, line in enumerate(lines) if "try_wait" in line)
    assert lines[at + 1] == f"memref.dealloc %alloc : {TILE}"


def test_waits_for_other_barriers_do_not_count() -> None:
    lines = lines_of(program(LOAD, f"{tried('%c0')}\n  {use('e', TILE)}\n  {tried('%c1')}"), FREE)
    at = next(i for i, line in enumerate(lines) if "try_wait" in line)
    assert lines[at + 1] == f"memref.dealloc %alloc : {TILE}"


def test_an_mma_that_waits_for_itself() -> None:
    case = DONE["mma of a warpgroup, waited for"]
    waits = case._replace(start=MMA.replace("HOW", "{waitGroup = 0 : i64}"))
    lines = lines_of(program(waits, "nvvm.wgmma.fence.aligned"), FREE)
    assert lines[next(i for i, line in enumerate(lines) if "warpgroup.mma %" in line) + 1].startswith("memref.dealloc")


def test_what_a_descriptor_shows_is_in_use_as_long_as_what_is_loaded() -> None:
    body = f"""{LOAD.before}
  %whole = memref.alloc() : memref<128x128xf16>
  %any = memref.cast %whole : memref<128x128xf16> to memref<*xf16>
  %desc = nvgpu.tma.create.descriptor %any box[%n, %n] : memref<*xf16> -> {MAP}
  nvgpu.tma.prefetch.descriptor %desc : {MAP}
  {LOAD.start.replace("%m", "%desc").replace("%a", "%o")}
  {use("b", TILE)}
  {tried("%c0")}
  {use("d", TILE)}"""
    lines = lines_of(function(LOAD, body), FREE)
    at = next(i for i, line in enumerate(lines) if "try_wait" in line)
    assert lines[at + 1].startswith("memref.dealloc")
    assert "128x128" in lines[at + 1]


def launched(inside: str) -> str:
    return f"""gpu.launch blocks(%i, %j, %l) in (%is = %c1, %js = %c1, %ls = %c1)
      threads(%r, %s, %t) in (%rs = %c1, %ss = %c1, %ts = %c1) {{
    {inside}
    gpu.terminator
  }}"""


def test_a_kernel_is_over_when_its_transfers_are() -> None:
    case = STORED._replace(start=launched(STORE))
    lines = lines_of(program(case, NOTHING.replace("KIND", TILE)), FREE)
    at = next(i for i, line in enumerate(lines) if line == "gpu.terminator")
    assert lines[at + 2] == f"memref.dealloc %alloc : {TILE}"


def test_a_parallel_region_waits_for_tasks_alone() -> None:
    inside = f"""%t = async.execute {{
      memref.copy %a, %o : {M} to {M}
      async.yield
    }}
    omp.terminator"""
    case = Case(M, "", f"omp.parallel {{\n    {inside}\n  }}", "")
    with pytest.raises(BufferizationError, match="beside the program: expected an op that waits for it"):
        through(program(case, NOTHING.replace("KIND", M)), FREE)


@pytest.mark.parametrize("name", DONE)
@pytest.mark.parametrize("name_of_pass", ["hotdesk-share-buffers", "hotdesk-merge-allocations"])
def test_has_no_other_use_meanwhile(name: str, name_of_pass: str) -> None:
    """The other two buffers may be one; none of them is the one that is transferred."""
    case = DONE[name]
    lines = lines_of(program(case), name_of_pass)
    copied = [line.split()[2] for line in lines if line.startswith("memref.copy %arg0, ")]
    assert copied.count(copied[0]) == 1
    assert f"{copied[0].rstrip(',')} = memref.alloc() : {case.kind}" in lines


@pytest.mark.parametrize("name", DONE)
def test_is_not_promoted_to_the_stack(name: str) -> None:
    case = DONE[name]
    option = "hotdesk-promote-buffers-to-stack{max-alloc-size-in-bytes=100000}"
    assert f"%alloc = memref.alloc() : {case.kind}" in lines_of(
        program(case, NOTHING.replace("KIND", case.kind)), option
    )


@pytest.mark.parametrize("name", DONE)
def test_an_iteration_keeps_its_own(name: str) -> None:
    """Where an iteration goes on before the transfer of the one before is done, both need memory."""
    case = DONE[name]
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


@pytest.mark.parametrize("name", DONE)
def test_copies_into_it_stay(name: str) -> None:
    """Its source is written again while the transfer runs, so it cannot serve instead."""
    case = DONE[name]
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


def test_a_barrier_is_in_use_until_it_has_arrived() -> None:
    """What has a barrier arrive when copies are done writes it then."""
    case = DONE["cp.async by pointer"]
    start = f"""{POINTER.replace("KIND", TILE)}
  %s = llvm.addrspacecast %ptr : !llvm.ptr to {SHARED}
  nvvm.cp.async.mbarrier.arrive %s : {SHARED}"""
    wait = f"nvvm.mbarrier.try_wait.parity %s, %k, %k : {SHARED}, i32, i32"
    lines = lines_of(program(case._replace(start=start), wait), FREE)
    at = last(lines, wait)
    assert lines[at + 1] == f"memref.dealloc %alloc : {TILE}"
    with pytest.raises(
        BufferizationError, match=r"memory that `nvvm.cp.async.mbarrier.arrive` uses beside the program"
    ):
        through(program(case._replace(start=start), NOTHING.replace("KIND", TILE)), FREE)


def test_the_registers_of_a_tile_are_no_memory() -> None:
    body = f"""%a = memref.alloc() : memref<16x64xi8>
  %tile = x86.amx.tile_load %a[%c0, %c0] : memref<16x64xi8> into !x86.amx.tile<16x64xi8>
  {use("b", M)}
  %to = memref.alloc() : memref<16x64xi8>
  x86.amx.tile_store %to[%c0, %c0], %tile : memref<16x64xi8>, !x86.amx.tile<16x64xi8>"""
    lines = lines_of(function(Case(M, "", "", ""), body), FREE)
    at = next(i for i, line in enumerate(lines) if "tile_load" in line)
    assert lines[at + 1] == "memref.dealloc %alloc : memref<16x64xi8>"


KNOWN_BY_TOKENS = ("nvgpu.device_async_copy", "nvgpu.device_async_create_group", "nvgpu.device_async_wait")
NOTHING_COMES_OF = ("nvvm.cp.async.bulk.prefetch", "nvvm.cp.async.bulk.tensor.prefetch")


def names_of_ops() -> set[str]:
    """The ops of the dialects that MLIR's bindings have classes of."""
    modules = Path(str(dialects.__path__[0])).glob("_*_ops_gen.py")
    return {name for module in modules for name in re.findall(r'OPERATION_NAME = "([^"]*)"', module.read_text())}


def test_the_tables_are_complete() -> None:
    """Whatever is named so as to run on beside the program is known, and nothing is that there is not."""
    names, known = names_of_ops(), {**DEVICE, **QUEUES}
    assert "nvgpu.tma.async.load" in names
    with_classes = {name.split(".")[0] for name in names}
    assert {name for name in known if name.split(".")[0] in with_classes} <= names
    named = {name for name in names if "async" in name and not name.startswith(("async.", "transform."))}
    assert named - known.keys() == {*KNOWN_BY_TOKENS, *NOTHING_COMES_OF}


def test_clauses_of_openacc_are_where_the_table_says() -> None:
    """The segments of operands that are queues, by the order in which the definitions have them."""
    text = (Path(str(dialects.__path__[0])) / "_acc_ops_gen.py").read_text()
    classes = text.split("class ")
    has_queue = {
        cast(re.Match[str], re.search(r'OPERATION_NAME = "acc\.([^"]*)"', body))[1]
        for body in classes
        if "OPERATION_NAME" in body and re.search(r"def asyncOperands?\(self\)", body)
    }
    assert has_queue - {"wait"} == set(CLAUSES)
    for body in classes:
        name = re.search(r'OPERATION_NAME = "acc\.([^"]*)"', body)
        if name is None or name[1] not in CLAUSES:
            continue
        for getter, segment in zip(("asyncOperands?", "waitOperands"), CLAUSES[name[1]], strict=True):
            at = re.search(rf"def {getter}\(self\).*?operandSegmentSizes\"\], (\d+)\)", body, re.DOTALL)
            assert (None if at is None else int(at[1])) == segment, name[1]


def test_transfers_of_ops_of_your_own() -> None:
    told = {
        "toy.send": lambda op: (Start("toy"),),
        "toy.flush": lambda op: (Commit("toy"),),
        "toy.settle": lambda op: (Wait("toy", left=0),),
    }
    for name, steps in told.items():
        register(name, OpModel(lambda op: Facts(), transfers=steps))
    try:
        case = Case(M, "", f'"toy.send"(%a) : ({M}) -> ()', '"toy.flush"() : () -> ()\n  "toy.settle"() : () -> ()')
        lines = lines_of(program(case), FREE)
        assert lines[lines.index('"toy.settle"() : () -> ()') + 1] == f"memref.dealloc %alloc : {M}"
        with pytest.raises(BufferizationError, match="memory that `toy.send` uses beside the program"):
            through(program(case, '"toy.flush"() : () -> ()'), FREE)
    finally:
        for name in told:
            _MODELS.pop(name)


@pytest.mark.parametrize("waited", ["acc.wait(%q : i32)", "acc.wait(%k : i32)", "acc.wait(%q : i32) if(%p)"])
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
