"""Work shared out among the threads of a pool: what the program calls, and what each thread of the pool runs.

    hotdesk_share(function, jobs, stride, count)    runs function(jobs + i stride) for i in 0 … count - 1, and returns
    hotdesk_worker(pool)                            takes jobs from a pool for as long as the process lives
    hotdesk_use_pool(pool, threads)                 says which pool the program shares its work with, and how many may work

A pool is a block of `POOL_BYTES`, zeros but for its lock and conditions, that all programs of a process have in common. The
caller takes jobs like any worker, so that work is done even when no other thread gets a core. While one program shares out
work, another runs its own alone. Nothing is allocated. Who waits, for work or for the last job, looks for it for `SPIN`
nanoseconds before it sleeps: waking a thread takes longer than most kernels that come between two that are shared.

A thread that slept is woken on another processor core than the caller's: its affinity leaves that one out, where enough others
are left for all threads of the pool. Schedulers prefer it where all others look busy, as idle ones of a virtual machine do, and
the thread would come when the work is done.
"""

from __future__ import annotations

import sys
import time

from hotdesk.kernels.jobs import MOST_THREADS
from hotdesk.kernels.scratch import SCRATCH, SCRATCH_BYTES, SLOTS_AT

SPIN = 50_000
WORKERS_AT = SLOTS_AT + SCRATCH_BYTES
"""Where in a pool the system's numbers of its threads lie, up to the first 0."""
HOME_AT, CPUS = WORKERS_AT + 8 * MOST_THREADS, 1024
"""Where in a pool a bit says of each core whether its threads may run there at all, and of how many: the C library's usual."""
POOL_BYTES = HOME_AT + CPUS // 8
LOCK, WORK, DONE = 0, 64, 128
"""Where in a pool the mutex and the two conditions lie; each has 64 bytes, enough for those of any C library."""

USE_POOL, WORKER = "hotdesk_use_pool", "hotdesk_worker"

_FIELDS = (
    *("lock", "work", "done", "busy", "function", "jobs", "stride", "count", "next", "pending", "offers", "ends"),
    *("asleep", "left_out"),
)
_POOL = "!llvm.struct<(" + "array<8 x i64>, " * 3 + "i64, ptr, ptr, " + "i64, " * 8 + "array<5 x i64>)>"
ASLEEP_AT, LEFT_OUT_AT = 264, 272
"""Where in a pool it says how many of its threads sleep, and the core, plus 1, that they leave out; 0 if there is none."""
_CLOCK = getattr(time, "CLOCK_MONOTONIC", 1)


def _field(name: str, kind: str = "") -> str:
    """The address of a field of `%pool` as `%a_<name>`, and its value as `%<name>` if `kind` says its type."""
    address = f"%a_{name} = llvm.getelementptr %pool[0, {_FIELDS.index(name)}] : (!llvm.ptr) -> !llvm.ptr, {_POOL}"
    return f"  {address}" + (f"\n  %{name} = llvm.load %a_{name} : !llvm.ptr -> {kind}" if kind else "")


def _fields(*names: str) -> str:
    return "\n".join(_field(name) for name in names)


_APART = f"""
llvm.func @sched_getcpu() -> i32
llvm.func @sched_setaffinity(i32, i64, !llvm.ptr) -> i32

// Has the threads of the pool leave out the core of the caller, if as many others are left; the lock is held.
llvm.func internal @hotdesk_apart(%pool: !llvm.ptr) {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %six = llvm.mlir.constant(6 : i64) : i64
  %low_bits = llvm.mlir.constant(63 : i64) : i64
  %all_bits = llvm.mlir.constant(-1 : i64) : i64
  %cpus = llvm.mlir.constant({CPUS} : i64) : i64
  %words = llvm.mlir.constant({CPUS // 64} : i64) : i64
  %bytes = llvm.mlir.constant({CPUS // 8} : i64) : i64
  %most = llvm.mlir.constant({MOST_THREADS} : i64) : i64
  %rest = llvm.alloca %words x i64 {{alignment = 8 : i64}} : (i64) -> !llvm.ptr
  %home = llvm.getelementptr %pool[{HOME_AT}] : (!llvm.ptr) -> !llvm.ptr, i8
  %workers = llvm.getelementptr %pool[{WORKERS_AT}] : (!llvm.ptr) -> !llvm.ptr, i8
{_field("left_out", "i64")}
  %here = llvm.call @sched_getcpu() : () -> i32
  %cpu = llvm.sext %here : i32 to i64
  %number = llvm.add %cpu, %one : i64
  %done = llvm.icmp "eq" %number, %left_out : i64
  %known = llvm.icmp "ult" %cpu, %cpus : i64
  %no = llvm.mlir.constant(false) : i1
  %new = llvm.select %done, %no, %known : i1, i1
  llvm.cond_br %new, ^begin, ^end
^begin:
  llvm.store %number, %a_left_out : i64, !llvm.ptr
  %word = llvm.lshr %cpu, %six : i64
  %place = llvm.and %cpu, %low_bits : i64
  %bit = llvm.shl %one, %place : i64
  %others = llvm.xor %bit, %all_bits : i64
  llvm.br ^copy(%zero, %zero : i64, i64)
^copy(%i: i64, %cores: i64):
  %unread = llvm.icmp "slt" %i, %words : i64
  llvm.cond_br %unread, ^one_word, ^count(%zero : i64)
^one_word:
  %a_home = llvm.getelementptr %home[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %a_rest = llvm.getelementptr %rest[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %whole = llvm.load %a_home : !llvm.ptr -> i64
  %is_callers = llvm.icmp "eq" %i, %word : i64
  %kept = llvm.select %is_callers, %others, %all_bits : i1, i64
  %left = llvm.and %whole, %kept : i64
  llvm.store %left, %a_rest : i64, !llvm.ptr
  %in_word = llvm.intr.ctpop(%left) : (i64) -> i64
  %more = llvm.add %cores, %in_word : i64
  %i1 = llvm.add %i, %one : i64
  llvm.br ^copy(%i1, %more : i64, i64)
^count(%n: i64):
  %in_table = llvm.icmp "slt" %n, %most : i64
  llvm.cond_br %in_table, ^one_worker, ^decide
^one_worker:
  %a_number = llvm.getelementptr %workers[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %its_number = llvm.load %a_number : !llvm.ptr -> i64
  %is_worker = llvm.icmp "ne" %its_number, %zero : i64
  %n1 = llvm.add %n, %one : i64
  llvm.cond_br %is_worker, ^count(%n1 : i64), ^decide
^decide:
  %enough = llvm.icmp "sge" %cores, %n : i64
  %mask = llvm.select %enough, %rest, %home : i1, !llvm.ptr
  llvm.br ^each(%zero : i64)
^each(%j: i64):
  %inside = llvm.icmp "slt" %j, %n : i64
  llvm.cond_br %inside, ^move, ^end
^move:
  %a_worker = llvm.getelementptr %workers[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %worker = llvm.load %a_worker : !llvm.ptr -> i64
  %thread = llvm.trunc %worker : i64 to i32
  %moved = llvm.call @sched_setaffinity(%thread, %bytes, %mask) : (i32, i64, !llvm.ptr) -> i32
  %j1 = llvm.add %j, %one : i64
  llvm.br ^each(%j1 : i64)
^end:
  llvm.return
}}
"""
_NOWHERE = """
llvm.func internal @hotdesk_apart(%pool: !llvm.ptr) {
  llvm.return
}
"""

SHARING = f"""{_APART if sys.platform == "linux" else _NOWHERE}
llvm.func @pthread_mutex_lock(!llvm.ptr) -> i32
llvm.func @pthread_mutex_unlock(!llvm.ptr) -> i32
llvm.func @pthread_cond_wait(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_cond_signal(!llvm.ptr) -> i32
llvm.func @pthread_cond_broadcast(!llvm.ptr) -> i32
llvm.func @clock_gettime(i32, !llvm.ptr) -> i32

llvm.mlir.global internal @hotdesk_pool() : !llvm.ptr {{
  %null = llvm.mlir.zero : !llvm.ptr
  llvm.return %null : !llvm.ptr
}}
llvm.mlir.global internal @hotdesk_threads(1 : i64) : i64

llvm.func @{USE_POOL}(%pool: !llvm.ptr, %threads: i64) {{
  %a = llvm.mlir.addressof @hotdesk_pool : !llvm.ptr
  %b = llvm.mlir.addressof @hotdesk_threads : !llvm.ptr
  llvm.store %pool, %a : !llvm.ptr, !llvm.ptr
  llvm.store %threads, %b : i64, !llvm.ptr
  llvm.return
}}

llvm.func internal @hotdesk_now(%time: !llvm.ptr) -> i64 {{
  %clock = llvm.mlir.constant({_CLOCK} : i32) : i32
  %billion = llvm.mlir.constant(1000000000 : i64) : i64
  %read = llvm.call @clock_gettime(%clock, %time) : (i32, !llvm.ptr) -> i32
  %seconds = llvm.load %time : !llvm.ptr -> i64
  %rest = llvm.getelementptr %time[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %nanoseconds = llvm.load %rest : !llvm.ptr -> i64
  %scaled = llvm.mul %seconds, %billion : i64
  %now = llvm.add %scaled, %nanoseconds : i64
  llvm.return %now : i64
}}

// Returns when a number is no longer what it was, or has been so for too long.
llvm.func internal @hotdesk_spin(%number: !llvm.ptr, %before: i64) {{
  %sixteen = llvm.mlir.constant(16 : i64) : i64
  %limit = llvm.mlir.constant({SPIN} : i64) : i64
  %time = llvm.alloca %sixteen x i8 {{alignment = 8 : i64}} : (i64) -> !llvm.ptr
  %start = llvm.call @hotdesk_now(%time) : (!llvm.ptr) -> i64
  llvm.br ^look
^look:
  %found = llvm.load %number atomic acquire {{alignment = 8 : i64}} : !llvm.ptr -> i64
  %same = llvm.icmp "eq" %found, %before : i64
  llvm.cond_br %same, ^time, ^end
^time:
  %now = llvm.call @hotdesk_now(%time) : (!llvm.ptr) -> i64
  %spent = llvm.sub %now, %start : i64
  %early = llvm.icmp "slt" %spent, %limit : i64
  llvm.cond_br %early, ^look, ^end
^end:
  llvm.return
}}

// Takes jobs, the lock held, until none is left to take.
llvm.func internal @hotdesk_take(%pool: !llvm.ptr) {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
{_fields("lock", "done", "next", "pending", "ends")}
  llvm.br ^look
^look:
{_field("count", "i64")}
  %i = llvm.load %a_next : !llvm.ptr -> i64
  %more = llvm.icmp "slt" %i, %count : i64
  llvm.cond_br %more, ^run, ^end
^run:
  %after = llvm.add %i, %one : i64
  llvm.store %after, %a_next : i64, !llvm.ptr
{_field("function", "!llvm.ptr")}
{_field("jobs", "!llvm.ptr")}
{_field("stride", "i64")}
  %open = llvm.call @pthread_mutex_unlock(%a_lock) : (!llvm.ptr) -> i32
  %offset = llvm.mul %i, %stride : i64
  %job = llvm.getelementptr %jobs[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.call %function(%job) : !llvm.ptr, (!llvm.ptr) -> ()
  %closed = llvm.call @pthread_mutex_lock(%a_lock) : (!llvm.ptr) -> i32
  %before = llvm.load %a_pending : !llvm.ptr -> i64
  %pending = llvm.sub %before, %one : i64
  llvm.store %pending, %a_pending : i64, !llvm.ptr
  %last = llvm.icmp "eq" %pending, %zero : i64
  llvm.cond_br %last, ^tell, ^look
^tell:
  %ends = llvm.load %a_ends : !llvm.ptr -> i64
  %end = llvm.add %ends, %one : i64
  llvm.store %end, %a_ends atomic release {{alignment = 8 : i64}} : i64, !llvm.ptr
  %told = llvm.call @pthread_cond_signal(%a_done) : (!llvm.ptr) -> i32
  llvm.br ^look
^end:
  llvm.return
}}

llvm.func @{WORKER}(%pool: !llvm.ptr) {{
{_fields("lock", "work", "offers", "asleep")}
  %one = llvm.mlir.constant(1 : i64) : i64
  %closed = llvm.call @pthread_mutex_lock(%a_lock) : (!llvm.ptr) -> i32
  llvm.br ^again
^again:
  llvm.call @hotdesk_take(%pool) : (!llvm.ptr) -> ()
  %before = llvm.load %a_offers : !llvm.ptr -> i64
  %open = llvm.call @pthread_mutex_unlock(%a_lock) : (!llvm.ptr) -> i32
  llvm.call @hotdesk_spin(%a_offers, %before) : (!llvm.ptr, i64) -> ()
  %back = llvm.call @pthread_mutex_lock(%a_lock) : (!llvm.ptr) -> i32
  %after = llvm.load %a_offers : !llvm.ptr -> i64
  %idle = llvm.icmp "eq" %before, %after : i64
  llvm.cond_br %idle, ^sleep, ^again
^sleep:
  %others = llvm.load %a_asleep : !llvm.ptr -> i64
  %more = llvm.add %others, %one : i64
  llvm.store %more, %a_asleep : i64, !llvm.ptr
  %woken = llvm.call @pthread_cond_wait(%a_work, %a_lock) : (!llvm.ptr, !llvm.ptr) -> i32
  %asleep = llvm.load %a_asleep : !llvm.ptr -> i64
  %fewer = llvm.sub %asleep, %one : i64
  llvm.store %fewer, %a_asleep : i64, !llvm.ptr
  llvm.br ^again
}}

llvm.func internal @hotdesk_share(%f: !llvm.ptr, %j: !llvm.ptr, %s: i64, %n: i64) {{
  %one = llvm.mlir.constant(1 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %two = llvm.mlir.constant(2 : i64) : i64
  %where = llvm.mlir.addressof @hotdesk_pool : !llvm.ptr
  %pool = llvm.load %where : !llvm.ptr -> !llvm.ptr
  %null = llvm.mlir.zero : !llvm.ptr
  %none = llvm.icmp "eq" %pool, %null : !llvm.ptr
  llvm.cond_br %none, ^alone(%zero : i64), ^claim
^claim:
{_field("busy")}
  %claimed = llvm.cmpxchg %a_busy, %zero, %one acq_rel monotonic : !llvm.ptr, i64
  %mine = llvm.extractvalue %claimed[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %mine, ^offer, ^alone(%zero : i64)
^alone(%i: i64):
  %left = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %left, ^run, ^end
^run:
  %offset = llvm.mul %i, %s : i64
  %job = llvm.getelementptr %j[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.call %f(%job) : !llvm.ptr, (!llvm.ptr) -> ()
  %i1 = llvm.add %i, %one : i64
  llvm.br ^alone(%i1 : i64)
^offer:
{_fields("lock", "work", "done", "function", "jobs", "stride", "count", "next", "pending", "offers", "ends", "asleep")}
  %closed = llvm.call @pthread_mutex_lock(%a_lock) : (!llvm.ptr) -> i32
  llvm.store %f, %a_function : !llvm.ptr, !llvm.ptr
  llvm.store %j, %a_jobs : !llvm.ptr, !llvm.ptr
  llvm.store %s, %a_stride : i64, !llvm.ptr
  llvm.store %n, %a_count : i64, !llvm.ptr
  llvm.store %n, %a_pending : i64, !llvm.ptr
  llvm.store %zero, %a_next : i64, !llvm.ptr
  %ended = llvm.load %a_ends : !llvm.ptr -> i64
  %offered = llvm.load %a_offers : !llvm.ptr -> i64
  %offer = llvm.add %offered, %one : i64
  llvm.store %offer, %a_offers atomic release {{alignment = 8 : i64}} : i64, !llvm.ptr
  %asleep = llvm.load %a_asleep : !llvm.ptr -> i64
  %sleeps = llvm.icmp "sgt" %asleep, %zero : i64
  llvm.cond_br %sleeps, ^apart, ^call
^apart:
  llvm.call @hotdesk_apart(%pool) : (!llvm.ptr) -> ()
  llvm.br ^call
^call:
  %pair = llvm.icmp "eq" %n, %two : i64
  llvm.cond_br %pair, ^wake, ^wake_all
^wake:
  %woken = llvm.call @pthread_cond_signal(%a_work) : (!llvm.ptr) -> i32
  llvm.br ^take
^wake_all:
  %all = llvm.call @pthread_cond_broadcast(%a_work) : (!llvm.ptr) -> i32
  llvm.br ^take
^take:
  llvm.call @hotdesk_take(%pool) : (!llvm.ptr) -> ()
  %left_over = llvm.load %a_pending : !llvm.ptr -> i64
  %others = llvm.icmp "sgt" %left_over, %zero : i64
  llvm.cond_br %others, ^spin, ^wait
^spin:
  %unlocked = llvm.call @pthread_mutex_unlock(%a_lock) : (!llvm.ptr) -> i32
  llvm.call @hotdesk_spin(%a_ends, %ended) : (!llvm.ptr, i64) -> ()
  %locked = llvm.call @pthread_mutex_lock(%a_lock) : (!llvm.ptr) -> i32
  llvm.br ^wait
^wait:
  %pending = llvm.load %a_pending : !llvm.ptr -> i64
  %unfinished = llvm.icmp "sgt" %pending, %zero : i64
  llvm.cond_br %unfinished, ^sleep, ^free
^sleep:
  %slept = llvm.call @pthread_cond_wait(%a_done, %a_lock) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.br ^wait
^free:
  %open = llvm.call @pthread_mutex_unlock(%a_lock) : (!llvm.ptr) -> i32
  llvm.store %zero, %a_busy atomic release {{alignment = 8 : i64}} : i64, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}}
{SCRATCH}"""
"""The functions above and those of scratch memory, as text in the LLVM dialect."""
