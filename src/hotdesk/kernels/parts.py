"""Kernels whose work is shared among threads: one function for a range of the tasks, and one that has all ranges done.

    func.func @kernel_3(%p0, …)                       counts tasks, calls @kernel_3_share(tasks, worth, finer, %p0, …)
    func.func @kernel_3_part(%p0, …, %first, %last)   does the tasks from first to last
    llvm.func @kernel_3_share(…)                      calls `hotdesk_parts(@kernel_3_job, its arguments, tasks, worth, finer)`
    llvm.func @kernel_3_job(job)                      calls @kernel_3_part for a job: arguments, first, last

`hotdesk_parts` cuts the tasks into `finer` ranges for each thread that they are worth, and calls the function for each, on the
threads of the pool (`kernels.sharing`). What a task computes depends on nothing but its number, so results are the same whatever
the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeVar

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.linking import define
from hotdesk.ir.walking import symbol_name, text_of
from hotdesk.kernels.jobs import address_function
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.scratch import GIVE_SCORES, SCORES_TEXT, TAKE_SCORES
from hotdesk.kernels.sharing import SHARING
from hotdesk.kernels.text import Index, KernelBuilder, KernelText

PARTS = "hotdesk_parts"
"""The function that shares out ranges of tasks: function, its arguments, tasks, threads they are worth, ranges a thread."""

PARTS_FUNCTIONS = (PARTS, TAKE_SCORES, GIVE_SCORES)
"""What kernels of programs call beside products and convolutions."""

_MOST = 256  # ranges


def share_name(kernel: str) -> str:
    return f"{kernel}_share"


def part_name(kernel: str) -> str:
    return f"{kernel}_part"


PARTS_TEXT = f"""
llvm.func @{PARTS}(%f: !llvm.ptr, %given: !llvm.ptr, %tasks: i64, %worth: i64, %finer: i64) {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %most = llvm.mlir.constant({_MOST} : i64) : i64
  %where = llvm.mlir.addressof @hotdesk_threads : !llvm.ptr
  %allowed = llvm.load %where : !llvm.ptr -> i64
  %threads = llvm.intr.smin(%allowed, %worth) : (i64, i64) -> i64
  %several = llvm.icmp "sgt" %threads, %one : i64
  %ranges0 = llvm.mul %threads, %finer : i64
  %ranges1 = llvm.select %several, %ranges0, %one : i1, i64
  %ranges2 = llvm.intr.smin(%ranges1, %most) : (i64, i64) -> i64
  %ranges3 = llvm.intr.smin(%ranges2, %tasks) : (i64, i64) -> i64
  %ranges = llvm.intr.smax(%ranges3, %one) : (i64, i64) -> i64
  %up = llvm.sub %ranges, %one : i64
  %more = llvm.add %tasks, %up : i64
  %chunk0 = llvm.sdiv %more, %ranges : i64
  %chunk = llvm.intr.smax(%chunk0, %one) : (i64, i64) -> i64
  %stride = llvm.mlir.constant(24 : i64) : i64
  %space = llvm.mul %ranges, %stride : i64
  %jobs = llvm.alloca %space x i8 {{alignment = 16 : i64}} : (i64) -> !llvm.ptr
  llvm.br ^next(%zero, %zero : i64, i64)
^next(%i: i64, %first: i64):
  %end = llvm.add %first, %chunk : i64
  %last = llvm.intr.smin(%end, %tasks) : (i64, i64) -> i64
  %offset = llvm.mul %i, %stride : i64
  %slot = llvm.getelementptr %jobs[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.store %given, %slot : !llvm.ptr, !llvm.ptr
  %a_first = llvm.getelementptr %slot[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %first, %a_first : i64, !llvm.ptr
  %a_last = llvm.getelementptr %slot[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %last, %a_last : i64, !llvm.ptr
  %after = llvm.add %i, %one : i64
  %again = llvm.icmp "slt" %last, %tasks : i64
  llvm.cond_br %again, ^next(%after, %last : i64, i64), ^run
^run:
  %alone = llvm.icmp "eq" %after, %one : i64
  llvm.cond_br %alone, ^one, ^all
^one:
  llvm.call %f(%jobs) : !llvm.ptr, (!llvm.ptr) -> ()
  llvm.return
^all:
  llvm.call @hotdesk_share(%f, %jobs, %stride, %after) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
  llvm.return
}}
"""


def parts_module(machine: Machine) -> ir.Module:
    """A module in the LLVM dialect with the functions `PARTS_FUNCTIONS`; it is the same for all machines."""
    told = "".join(address_function(name) for name in PARTS_FUNCTIONS)
    return ir.Module.parse(SHARING + PARTS_TEXT + SCORES_TEXT + told, make_context())


def with_parts(head: KernelText, part: KernelText) -> KernelText:
    """A kernel of two functions: `head`, which has called `@KERNEL_share`, and `part`, which does a range of its tasks."""
    declared = [*head.declarations, *(d for d in part.declarations if d not in head.declarations)]
    return KernelText(head.text + part.text.replace("@KERNEL(", "@KERNEL_part("), tuple(declared))


_Builder = TypeVar("_Builder", bound=KernelBuilder)


def shared_loops(
    builder: Callable[[], _Builder],
    outer: Callable[[_Builder], tuple[Sequence[Index], Index]],
    inner: Callable[[_Builder, Sequence[Index]], None],
) -> KernelText:
    """A kernel of a nest of loops whose iterations touch nothing that another writes.

    Each of its functions begins with a new `builder`. `outer` gives the lengths of the loops and the threads that all is worth,
    `inner` writes an iteration, given its place in each loop. Where there is no loop, or the lengths are known and worth one
    thread, there are no parts.
    """
    head = builder()
    lengths, worth = outer(head)
    if not lengths or (isinstance(worth, int) and worth < 2):
        with head.loops(lengths) as positions:
            inner(head, positions)
        return head.finish()
    head.share(reduce(head.mul, lengths, 1), worth, 1)
    part = builder()
    lengths, _ = outer(part)
    with part.loop(part.number("first"), part.number("last")) as task:
        places: list[Index] = []
        rest: Index = task
        for length in reversed(lengths[1:]):
            following = part.floordiv(rest, length)
            places.insert(0, part.sub(rest, part.mul(following, length)))
            rest = following
        inner(part, [rest, *places])
    return with_parts(head.finish(), part.finish())


def share_parts(module: ir.Module) -> None:
    """Defines what shares out the parts of the kernels of a module in the LLVM dialect."""
    for op in list(module.body.operations):
        name = symbol_name(op.operation)
        if name.endswith(share_name("")) and not len(op.operation.regions[0].blocks):
            kinds = text_of(op.operation, "function_type").partition("(")[2].partition(")")[0].split(", ")
            own = ["!llvm.ptr" if kind.endswith("ptr") else kind for kind in kinds[3:]]
            define(module, sharing_text(name.removesuffix(share_name("")), own))


def sharing_text(kernel: str, kinds: Sequence[str]) -> str:
    """The functions of a kernel, in the LLVM dialect, that share out its parts; `kinds` are the types of its own arguments."""
    names = [f"%a{i}" for i in range(len(kinds))]
    declared = ", ".join(f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
    keep, load = list[str](), list[str]()
    for i, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        keep.append(f"  %s{i} = llvm.getelementptr %given[{i}] : (!llvm.ptr) -> !llvm.ptr, i64")
        keep.append(f"  llvm.store {name}, %s{i} : {kind}, !llvm.ptr")
        load.append(f"  %s{i} = llvm.getelementptr %given[{i}] : (!llvm.ptr) -> !llvm.ptr, i64")
        load.append(f"  {name} = llvm.load %s{i} : !llvm.ptr -> {kind}")
    lines = "\n".join
    return f"""
llvm.func @{PARTS}(!llvm.ptr, !llvm.ptr, i64, i64, i64)
llvm.func @{part_name(kernel)}({", ".join([*kinds, "i64", "i64"])})

llvm.func internal @{kernel}_job(%job: !llvm.ptr) {{
  %given = llvm.load %job : !llvm.ptr -> !llvm.ptr
  %at_first = llvm.getelementptr %job[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %first = llvm.load %at_first : !llvm.ptr -> i64
  %at_last = llvm.getelementptr %job[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %last = llvm.load %at_last : !llvm.ptr -> i64
{lines(load)}
  llvm.call @{part_name(kernel)}({", ".join([*names, "%first", "%last"])}) : ({", ".join([*kinds, "i64", "i64"])}) -> ()
  llvm.return
}}

llvm.func @{share_name(kernel)}(%tasks: i64, %worth: i64, %finer: i64{"".join(", " + each for each in [declared] if each)}) {{
  %count = llvm.mlir.constant({max(1, len(kinds))} : i64) : i64
  %given = llvm.alloca %count x i64 {{alignment = 16 : i64}} : (i64) -> !llvm.ptr
{lines(keep)}
  %job = llvm.mlir.addressof @{kernel}_job : !llvm.ptr
  llvm.call @{PARTS}(%job, %given, %tasks, %worth, %finer) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
  llvm.return
}}
"""
