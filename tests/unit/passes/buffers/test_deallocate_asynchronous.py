"""What an op uses that runs on beside the program is freed where that op is done, and shared with nobody before."""

from __future__ import annotations

import pytest

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.unit.passes.buffers.checking import FREE, through
from tests.work import calls_made

M = "memref<4xf32>"
A = f"%a = memref.alloc() : {M}\n  memref.copy %x, %a : {M} to {M}"
B = f"%b = memref.alloc() : {M}\n  memref.copy %x, %b : {M} to {M}\n  memref.copy %b, %x : {M} to {M}"
EXECUTED = f"%t = async.execute {{\n    memref.copy %a, %o : {M} to {M}\n    async.yield\n  }}"
LOOP = "%c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  scf.for %i = %c0 to %n step %c1"
QUEUED = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t0 = gpu.wait async
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%u = %t0) -> !gpu.async.token"""


def taskloop(how: str) -> str:
    return f"""%z = arith.constant 0 : index
  %one = arith.constant 1 : index
  omp.taskloop.context {how} {{
    omp.taskloop.wrapper {{
      omp.loop_nest (%i) : index = (%z) to (%n) step (%one) {{
        memref.copy %a, %o : {M} to {M}
        omp.yield
      }}
    }}
    omp.terminator
  }} {{omp.combined}}"""


TASK = f"omp.task {{ memref.copy %a, %o : {M} to {M}\n omp.terminator }}"


def function(body: str, results: str = "") -> str:
    arrow = f" -> {results}" if results else ""
    return f"func.func @main(%x: {M}, %o: {M}, %n: index){arrow} {{\n  {body}\n}}"


DONE = {
    "await": (f"{A}\n{EXECUTED}\n{B}\nasync.await %t : !async.token\n{B.replace('%b', '%d')}\nreturn", "async.await"),
    "await, of a view": (
        f"""{A}
  %v = memref.subview %a[0] [2] [1] : {M} to memref<2xf32, strided<[1]>>
  %t = async.execute {{ linalg.fill ins(%f : f32) outs(%v : memref<2xf32, strided<[1]>>)\n async.yield }}
  async.await %t : !async.token\n{B}\nreturn""".replace("%a = ", "%f = arith.constant 0.0 : f32\n  %a = ", 1),
        "async.await",
    ),
    "one that waits for another": (
        f"{A}\n{EXECUTED}\n%t2 = async.execute [%t] {{ async.yield }}\n{B}\nasync.await %t2 : !async.token\nreturn",
        "async.await",
    ),
    "what it makes": (
        f"""{A}
  %t, %m = async.execute -> !async.value<{M}> {{ async.yield %a : {M} }}
  {B}
  %v = async.await %m : !async.value<{M}>
  memref.copy %v, %o : {M} to {M}
  {B.replace("%b", "%d")}
  return""",
        f"memref.copy %0, %arg1 : {M}",
    ),
    "gpu.wait": (
        f"""{A}
  %t0 = gpu.wait async
  %t1 = gpu.memcpy async [%t0] %o, %a : {M}, {M}
  %t2 = gpu.wait async [%t1]
  {B}
  gpu.wait [%t2]
  {B.replace("%b", "%d")}
  return""",
        "gpu.wait [%",
    ),
    "a call": (
        f"""{A}
  %t = func.call @start(%a) : ({M}) -> !async.token
  {B}
  async.await %t : !async.token
  {B.replace("%b", "%d")}
  return
}}
func.func private @start({M}) -> !async.token
func.func private @last() {{ return""",
        "async.await",
    ),
    "tasks of a loop": (
        f"{A}\n{taskloop('nogroup')}\n{B}\nomp.taskwait\n{B.replace('%b', '%d')}\nreturn",
        "omp.taskwait",
    ),
    "a group": (
        f"""{A}
  %g = async.create_group %n : !async.group
  async.await_all %g
  {EXECUTED}
  %k = async.add_to_group %t, %g : !async.token
  {B}
  async.await_all %g
  {B.replace("%b", "%d")}
  return""",
        "async.await_all",
    ),
}


@pytest.mark.parametrize("name", DONE)
def test_freed_where_it_is_done(name: str) -> None:
    body, done = DONE[name]
    lines = through(function(body), FREE).splitlines()
    last = max(i for i, line in enumerate(lines) if done in line)
    assert "memref.dealloc %alloc" in lines[last + 1]
    freed = [line.split()[1] for line in lines if "memref.dealloc" in line]
    assert len(freed) == len(set(freed)) == sum("memref.alloc(" in line for line in lines)


LATE = {
    "a loop that hands tokens on": f"""{A}
  {QUEUED} {{
    %t1 = gpu.memcpy async [%u] %o, %a : {M}, {M}
    scf.yield %t1 : !gpu.async.token
  }}
  gpu.wait [%t]
  {B}
  return""",
    "a group of what a loop starts": f"""{A}
  %g = async.create_group %n : !async.group
  {LOOP} {{
    {EXECUTED}
    %k = async.add_to_group %t, %g : !async.token
  }}
  async.await_all %g
  {B}
  return""",
    "an unknown op": f"""{A}
  %t = "my.start"(%a) : ({M}) -> !async.token
  {B}
  "my.wait"(%t) : (!async.token) -> ()
  {B.replace("%b", "%d")}
  return""",
    "another place of the tag": f"""%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tag = memref.alloc() : memref<2xi32>
  {A}
  memref.dma_start %a[%c0], %o[%c0], %n, %tag[%n] : {M}, {M}, memref<2xi32>
  memref.dma_wait %tag[%c1], %n : memref<2xi32>
  {B}
  return""",
    "some may run on": f"""{A}
  %t = "nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token
  %u = "my.start"(%a, %t) : ({M}, !nvgpu.device.async.token) -> !nvgpu.device.async.token
  nvgpu.device_async_wait %u {{numGroups = 1 : i32}}
  {B}
  return""",
}


@pytest.mark.parametrize("name", LATE)
def test_freed_at_the_end_where_it_may_be_done_earlier(name: str) -> None:
    lines = [line.strip() for line in through(function(LATE[name]), FREE).splitlines()]
    used = next(line.split()[2] for line in lines if line.startswith("memref.copy %arg0, "))
    end = lines.index("return")
    last = max(i for i, line in enumerate(lines[:end]) if not line.startswith("memref.dealloc"))
    assert f"memref.dealloc {used} : {M}" in lines[last + 1 : end]
    assert sum("memref.dealloc" in line for line in lines) == sum("memref.alloc(" in line for line in lines)


REFUSED = {
    "nobody waits": function(f"{A}\n{EXECUTED}\nreturn"),
    "somebody waits in front of it": function(
        f"{A}\n%g = async.create_group %n : !async.group\nasync.await_all %g\n{EXECUTED}\nreturn"
    ),
    "the memory is returned without the token": function(f"{A}\n{EXECUTED}\nreturn %a : {M}", M),
    "the token is returned without the memory": function(f"{A}\n{EXECUTED}\nreturn %t : !async.token", "!async.token"),
    "it is waited for outside of the loop": function(f"""{QUEUED} {{
    %a = memref.alloc() : {M}
    %t1 = gpu.memcpy async [%u] %a, %x : {M}, {M}
    scf.yield %t1 : !gpu.async.token
  }}
  gpu.wait [%t]
  return"""),
    "tasks of a loop that nobody waits for": function(f"{A}\n{taskloop('nogroup')}\nreturn"),
    "the end of a scope is none for others": function(f"""{A}
  omp.scope nowait {{
    memref.copy %a, %o : {M} to {M}
    omp.terminator
  }}
  omp.taskwait
  return"""),
    "a task of a task": function(f"""{A}
  omp.task {{
    {TASK}
    omp.terminator
  }}
  omp.taskwait
  return"""),
    "a task that may not be one of those": function(f"""{A}
  {TASK}
  omp.taskwait depend(taskdependin -> %o : {M})
  return"""),
    "the end of the region is behind": function(f"""omp.parallel {{
    {A}
    {TASK}
    omp.terminator
  }}
  return"""),
}


def test_a_loop_of_tasks_with_a_group_waits_for_them() -> None:
    lines = through(function(f"{A}\n{taskloop('')}\n{B}\nreturn"), FREE).splitlines()
    at = next(i for i, line in enumerate(lines) if "omp.terminator" in line)
    assert "memref.dealloc %alloc" in lines[at + 2]


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_where_it_may_still_run(name: str, mode: str) -> None:
    with pytest.raises(BufferizationError, match="beside the program: expected an op that waits for it"):
        through(REFUSED[name], mode)


def test_tokens_of_deallocations_that_are_dropped() -> None:
    text = function(f"""%t0 = gpu.wait async
  %a, %t1 = gpu.alloc async [%t0] () : {M}
  %t2 = gpu.memcpy async [%t1] %a, %x : {M}, {M}
  %t3 = gpu.dealloc async [%t2] %a : {M}
  gpu.wait [%t3]
  %b, %t4 = gpu.alloc async [%t0] () : {M}
  %t5 = gpu.memcpy async [%t4] %b, %x : {M}, {M}
  gpu.dealloc [%t5] %b : {M}
  return""")
    lines = [line.strip() for line in through(text, FREE).splitlines()]
    assert [line for line in lines if "dealloc" in line] == [f"gpu.dealloc  %memref{n} : {M}" for n in ("", "_0")]
    at = lines.index(f"gpu.dealloc  %memref : {M}")
    assert lines[at - 2 : at] == ["%2 = gpu.wait async [%1]", "gpu.wait [%2]"]
    assert lines[lines.index(f"gpu.dealloc  %memref_0 : {M}") - 1].startswith("gpu.wait [%")


@pytest.mark.parametrize("name", [*DONE, *LATE])
def test_shared_with_nobody(name: str) -> None:
    text = function(DONE[name][0] if name in DONE else LATE[name])
    lines = [line.strip() for line in through(text, "hotdesk-share-buffers").splitlines()]
    copied = [line.split()[2] for line in lines if line.startswith("memref.copy %arg0, ")]
    assert len(copied) > 1
    assert copied.count(copied[0]) == 1


def chain(count: int) -> str:
    ops = "\n  ".join(
        f"%a{i} = memref.alloc() : {M}\n  %t{i + 1} = gpu.memcpy async [%t{i}] %a{i}, %x : {M}, {M}"
        for i in range(count)
    )
    return function(f"%t0 = gpu.wait async\n  {ops}\n  gpu.wait [%t{count}]\n  return")


def test_work_grows_with_the_program_where_tokens_make_a_chain() -> None:
    def calls(count: int) -> int:
        module = ir.Module.parse(chain(count), make_context())
        with entered(module.operation):
            return calls_made(lambda: DeallocateAfterLastUse().run(module))

    calls(4)  # models are looked up
    assert calls(200) <= 4.4 * calls(50)
