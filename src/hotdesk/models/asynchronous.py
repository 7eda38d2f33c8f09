"""Ops that may use memory when control has left them, by their types and by what they say, and ops that wait for all such.

An op *may run on*:

1. if it makes a token (`!async.token`, `!async.value<…>`, `!gpu.async.token`, any type whose name says so; `!mpi.request`), or is
   a `dma_start`, whose tag tells the end;
2. if it says so: in OpenMP a task, `nowait` and `nogroup`; in OpenACC an attribute `async…`, and an integer operand of an op that
   counts nothing, since that may be a queue;
3. if it is of a device's dialect and leaves nothing behind that shows what it has done: no result, or an accumulator only, or
   `async` in its name.

Of an op of your own `OpModel.runs_on` says it. An op *waits for all* of some names if it has neither operands nor attributes that
may say which (`WAITS`), or has regions around them at whose end all are done (`ENDS`).

Sources: OpenMP Application Programming Interface 5.2, sections 11 to 15; The OpenACC Application Programming Interface 3.3, 2.16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.types import is_buffer, is_token
from hotdesk.ir.walking import dialect_of
from hotdesk.models.registry import model_of

_DEVICES = ("nvgpu.", "nvvm.", "amdgpu.", "rocdl.")
_ACCUMULATOR = "!nvgpu.warpgroup.accumulator<"
_COUNTING = ("acc.parallel", "acc.kernels", "acc.serial", "acc.loop")
"""Ops of OpenACC with integers that are no queues: these have an attribute besides."""
_TASKS, _SEGMENTS = ("omp.task",), "operandSegmentSizes"
_START, _WAIT = ("memref.dma_start", "affine.dma_start"), ("memref.dma_wait", "affine.dma_wait")

_AWAITS = ("async.await", "async.await_all", "async.runtime.await")
_QUEUED = "gpu."

JOINS = "async.add_to_group"
"""Adds a token, its first operand, to a group, its second one, which stands for it from there on."""
WAITS: dict[str, tuple[str, ...]] = {"omp.barrier": ("omp.",), "omp.taskwait": _TASKS, "acc.wait": ("acc.",)}
"""By name, how the names of ops begin that are done when an op of the same block, behind them, is."""
ENDS: dict[str, tuple[str, ...]] = {"omp.parallel": ("omp.",), "omp.taskgroup": _TASKS, "gpu.launch": _DEVICES}
"""By name, how the names of ops begin that are done when control leaves an op around them."""


def runs_on(op: ir.Operation) -> bool:
    """Whether an op may use memory when control has left it."""
    model = model_of(op.name)
    if model is not None and model.runs_on is not None:
        return model.runs_on(op)
    said = _SAID.get(dialect_of(op.name))
    return any(is_token(result.type) for result in op.results) or (said is not None and said(op))


def is_queued(op: ir.Operation) -> bool:
    """Whether an op begins when all is done that the tokens stand for which it takes."""
    return op.name.startswith(_QUEUED) or op.name == "async.execute"


def awaits(op: ir.Operation) -> bool:
    """Whether control leaves an op only when all is done that a token stands for which it takes."""
    makes_none = not any(is_token(result.type) for result in op.results)
    return op.name in _AWAITS or (op.name.startswith(_QUEUED) and makes_none)


def waits_for_all(op: ir.Operation) -> tuple[str, ...]:
    """How the names of ops begin that an op certainly waits for, of those in front of it in its block."""
    return () if len(op.operands) or any(name != _SEGMENTS for name in op.attributes) else WAITS.get(op.name, ())


def waits_for_tag(op: ir.Operation) -> list[ir.Operation]:
    """The ops that may wait for the end of a transfer that a tag tells."""
    if op.name not in _START:
        return []
    tag = [value for value in op.operands if is_buffer(value.type)][-1]
    users = (cast(Any, use.owner).operation for use in tag.uses)
    return [user for user in users if user.name in _WAIT]


def _of_openmp(op: ir.Operation) -> bool:
    return op.name == "omp.task" or "nowait" in op.attributes or "nogroup" in op.attributes


def _of_openacc(op: ir.Operation) -> bool:
    if any(name.startswith("async") and str(op.attributes[name]) != "[]" for name in op.attributes):
        return True
    integers = (ir.IntegerType, ir.IndexType)
    return op.name not in _COUNTING and any(isinstance(value.type, integers) for value in op.operands)


def _of_device(op: ir.Operation) -> bool:
    return "async" in op.name or all(str(result.type).startswith(_ACCUMULATOR) for result in op.results)


def _of_memref(op: ir.Operation) -> bool:
    return op.name in _START


_SAID: dict[str, Callable[[ir.Operation], bool]] = {
    "omp": _of_openmp,
    "acc": _of_openacc,
    **{dialect.rstrip("."): _of_device for dialect in _DEVICES},
    "memref": _of_memref,
    "affine": _of_memref,
}
