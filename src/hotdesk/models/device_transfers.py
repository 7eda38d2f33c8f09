"""Transfers of `memref`, `affine`, `nvgpu`, `nvvm`, `amdgpu` and `rocdl`: told by tags, by barriers, by groups and by counters.

- dma: `dma_start` of `memref` and `affine`; told by a `dma_wait` for the same place of the same tag.
- barrier: loads into shared memory (`nvgpu.tma.async.load`, `nvvm.cp.async.bulk.…shared.cluster.…`); told by a
  `mbarrier.try_wait.parity` on the same barrier. `mbarrier.test.wait` and `nvvm.mbarrier.try_wait` may come back before. What
  has a barrier arrive later writes it until then.
- bulk: stores from shared memory (`nvgpu.tma.async.store`, `nvvm.cp.async.bulk.…global.shared.cta`); told by groups. A wait for
  reads alone leaves what is written in use.
- copy: `nvvm.cp.async.shared.global`; told by groups, or perhaps by a barrier.
- mma: `nvvm.wgmma.mma_async`, and `nvgpu.warpgroup.mma` unless it waits for itself; told by groups.
- tensor core: `nvvm.tcgen05.mma…`, `nvvm.tcgen05.cp`; told perhaps by a barrier.
- lds, marked: asynchronous loads and stores of the local data share; told by groups (`rocdl.asyncmark`), those of gfx1250 also by
  a counter at 0.
- tensor: `tensor_load_to_lds`, `tensor_store_from_lds`; told by groups, or by the tensor counter at 0.

What only prefetches may run on: nothing comes of it.

Sources: PTX ISA 8.8, 9.7.9.25 to 9.7.16; LLVM, AMDGPU Async Operations; the ODS descriptions of the ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.types import is_buffer, shape_of
from hotdesk.ir.walking import constant_of, segment_sizes
from hotdesk.models.transfers import Commit, Place, Start, Step, Steps, Wait

_DMA, _BARRIER, _BULK, _COPY, _MMA, _TENSOR_CORE = "dma", "barrier", "bulk", "copy", "mma", "tensor core"
_LDS, _MARKED, _TENSOR = "lds", "marked", "tensor"
_BY_BARRIERS = (_COPY, _TENSOR_CORE)
"""Kinds that may be told by any barrier."""


def segments(op: ir.Operation) -> list[list[ir.Value]]:
    """The operands of an op by the segments that its definition has, each of one operand if it says nothing of them."""
    operands, found = list(op.operands), list[list[ir.Value]]()
    sizes = segment_sizes(op) if "operandSegmentSizes" in op.attributes else [1] * len(operands)
    first = 0
    for size in sizes:
        found.append(operands[first : first + size])
        first += size
    return found


def place_of(values: Sequence[ir.Value]) -> Place:
    """A place by the values that tell it, constants as numbers."""
    numbers = ((value, constant_of(value)) for value in values)
    return tuple(value if number is None else number for value, number in numbers)


def _tag(op: ir.Operation, is_start: bool) -> tuple[ir.Value, Place | None]:
    """The tag of a transfer, and where in it; the maps of `affine` are not read."""
    operands = list(op.operands)
    at = max(i for i, value in enumerate(operands) if is_buffer(value.type)) if is_start else 0
    shape = shape_of(operands[at].type)
    if all(size == 1 for size in shape):
        return operands[at], ()
    is_read = op.name.startswith("memref.")
    return operands[at], place_of(operands[at + 1 :][: len(shape)]) if is_read else None


def _dma_start(op: ir.Operation) -> tuple[Step, ...]:
    return (Start(_DMA, *_tag(op, is_start=True)),)


def _dma_wait(op: ir.Operation) -> tuple[Step, ...]:
    tag, place = _tag(op, is_start=False)
    return (Wait(_DMA, tag, place, certain=place is not None),)


def _barrier(op: ir.Operation, barrier: int, number: int | None) -> tuple[ir.Value, Place]:
    """The barrier in a segment of an op; its number among those of a group is in another segment."""
    found = segments(op)
    value = found[barrier][0]
    is_group = number is not None and "num_barriers" in str(value.type)
    return value, place_of(found[number]) if number is not None and is_group else ()


def _told_by(barrier: int, number: int | None = None) -> Steps:
    return lambda op: (Start(_BARRIER, *_barrier(op, barrier, number)),)


def _waits_on(certain: bool, number: int | None = None) -> Steps:
    def steps(op: ir.Operation) -> tuple[Step, ...]:
        told = Wait(_BARRIER, *_barrier(op, 0, number), certain=certain)
        return (told, *(Wait(kind, certain=False) for kind in _BY_BARRIERS))

    return steps


def _starts(*kinds: str) -> Steps:
    return lambda op: tuple(Start(kind) for kind in kinds)


def _commits(*kinds: str) -> Steps:
    return lambda op: tuple(Commit(kind) for kind in kinds)


def _groups_left(attribute: str, *kinds: str) -> Steps:
    return lambda op: tuple(Wait(kind, left=_number(op, attribute)) for kind in kinds)


def _counts(attribute: str, *kinds: str) -> Steps:
    """Waits until no more than a number of transfers run: all are done only if that is 0."""
    return lambda op: tuple(Wait(kind, certain=_number(op, attribute) == 0) for kind in kinds)


def _perhaps(*kinds: str) -> Steps:
    return lambda op: tuple(Wait(kind, certain=False) for kind in kinds)


def _nothing(op: ir.Operation) -> tuple[Step, ...]:
    return ()


def _number(op: ir.Operation, attribute: str) -> int:
    return int(cast(Any, op.attributes[attribute]).value)


def _bulk_wait(op: ir.Operation) -> tuple[Step, ...]:
    return (Wait(_BULK, left=_number(op, "group"), certain="read" not in op.attributes),)


def _warpgroup_mma(op: ir.Operation) -> tuple[Step, ...]:
    """It commits what it starts, and waits until `waitGroup` groups are left, or 1."""
    left = _number(op, "waitGroup") if "waitGroup" in op.attributes else 1
    return (*((Start(_MMA),) if left else ()), Commit(_MMA), Wait(_MMA, left=left))


def _gather_to_lds(op: ir.Operation) -> tuple[Step, ...]:
    """Without `async`, whatever uses the memory waits."""
    return (Start(_MARKED),) if "async" in op.attributes else ()


def _counters(op: ir.Operation) -> tuple[Step, ...]:
    tensor = "tensor" in op.attributes
    done = (Wait(_TENSOR, certain=_number(op, "tensor") == 0),) if tensor else ()
    return (*done, Wait(_LDS, certain=False), Wait(_MARKED, certain=False))


_BITS, _ASYNC = ("b8", "b32", "b64", "b128"), (_LDS, _MARKED, _TENSOR)
_MMAS = ("mma", "mma.sp", "mma.block_scale", "mma.sp.block_scale", "mma.ws", "mma.ws.sp", "cp", "shift")
_ARRIVING = ("arrive", "arrive.nocomplete", "arrive.expect_tx")
_DROPPING = ("arrive_drop", "arrive_drop.nocomplete", "arrive_drop.expect_tx")
_QUIET = {"nvgpu": ("init", *_ARRIVING), "nvvm": ("init", "inval", "expect_tx", "complete_tx", *_ARRIVING, *_DROPPING)}
"""What ops do with a barrier that do not wait for it."""

TRANSFERS: dict[str, Steps] = {
    **dict.fromkeys(("memref.dma_start", "affine.dma_start"), _dma_start),
    **dict.fromkeys(("memref.dma_wait", "affine.dma_wait"), _dma_wait),
    "nvgpu.tma.async.load": _told_by(1, 4),
    "nvvm.cp.async.bulk.shared.cluster.global": _told_by(2),
    "nvvm.cp.async.bulk.shared.cluster.shared.cta": _told_by(2),
    "nvvm.cp.async.bulk.tensor.shared.cluster.global": _told_by(3),
    "nvvm.clusterlaunchcontrol.try.cancel": _told_by(1),
    "nvgpu.mbarrier.try_wait.parity": _waits_on(True, 3),
    "nvgpu.mbarrier.test.wait": _waits_on(False, 2),
    "nvvm.mbarrier.try_wait.parity": _waits_on(True),
    **dict.fromkeys(("nvvm.mbarrier.try_wait", "nvvm.mbarrier.test.wait"), _waits_on(False)),
    **{f"{dialect}.mbarrier.{op}": _nothing for dialect, ops in _QUIET.items() for op in ops},
    **dict.fromkeys(("nvvm.cp.async.mbarrier.arrive", "nvvm.tcgen05.commit"), _told_by(0)),
    "nvgpu.tma.async.store": _starts(_BULK),
    "nvvm.cp.async.bulk.global.shared.cta": _starts(_BULK),
    "nvvm.cp.async.bulk.tensor.global.shared.cta": _starts(_BULK),
    "nvvm.cp.async.bulk.tensor.reduce": _starts(_BULK),
    "nvvm.cp.async.bulk.commit.group": _commits(_BULK),
    "nvvm.cp.async.bulk.wait_group": _bulk_wait,
    "nvvm.cp.async.shared.global": _starts(_COPY),
    "nvvm.cp.async.commit.group": _commits(_COPY),
    "nvvm.cp.async.wait.group": _groups_left("n", _COPY),
    "nvvm.wgmma.mma_async": _starts(_MMA),
    "nvvm.wgmma.commit.group.sync.aligned": _commits(_MMA),
    "nvvm.wgmma.wait.group.sync.aligned": _groups_left("group", _MMA),
    "nvgpu.warpgroup.mma": _warpgroup_mma,
    "nvgpu.warpgroup.mma.store": _perhaps(_MMA),
    **{f"nvvm.tcgen05.{op}": _starts(_TENSOR_CORE) for op in _MMAS},
    "amdgpu.gather_to_lds": _gather_to_lds,
    **dict.fromkeys(("rocdl.load.async.to.lds", "rocdl.global.load.async.lds"), _starts(_MARKED)),
    "rocdl.raw.ptr.buffer.load.async.lds": _starts(_MARKED),
    **dict.fromkeys(("amdgpu.global_load_async_to_lds", "amdgpu.ds_async_barrier_arrive"), _starts(_LDS)),
    "rocdl.ds.atomic.async.barrier.arrive.b64": _starts(_LDS),
    **{f"rocdl.{of}.load.async.to.lds.{bits}": _starts(_LDS) for of in ("global", "cluster") for bits in _BITS},
    **{f"rocdl.global.store.async.from.lds.{bits}": _starts(_LDS) for bits in _BITS},
    **{f"amdgpu.{op}": _starts(_TENSOR) for op in ("tensor_load_to_lds", "tensor_store_from_lds")},
    **{f"rocdl.{op}": _starts(_TENSOR) for op in ("tensor.load.to.lds", "tensor.store.from.lds")},
    "rocdl.asyncmark": _commits(*_ASYNC),
    "rocdl.wait.asyncmark": _groups_left("count", *_ASYNC),
    "rocdl.s.wait.asynccnt": _counts("count", _LDS),
    "rocdl.s.wait.tensorcnt": _counts("count", _TENSOR),
    "amdgpu.memory_counter_wait": _counters,
    **dict.fromkeys(("rocdl.s.waitcnt", "rocdl.s.wait.loadcnt"), _perhaps(_LDS, _MARKED)),
    "amdgpu.ds_barrier_poll_state": _perhaps(*_ASYNC),
}
