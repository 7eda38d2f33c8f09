"""Transfers and regions of OpenACC that queues take: `async` and `wait` of `acc`.

What an op with an `async` clause does is done when its queue, or all, are waited for by an `acc.wait` that has no condition, no
device and no `async` of its own. Where the clause has no number, only a wait for all tells. Any `wait` clause may wait for it.

Source: The OpenACC Application Programming Interface 3.3, sections 2.16 and 2.16.3.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.models.device_transfers import place_of, segments
from hotdesk.models.transfers import Start, Step, Steps, Wait

_QUEUE = "queue"
_ENTRY = ("attach", "cache", "copyin", "create", "declare_device_resident", "declare_link", "deviceptr", "firstprivate")
_ENTRY_TOO = (
    "firstprivate_map",
    "getdeviceptr",
    "nocreate",
    "present",
    "private",
    "reduction",
    "update_device",
    "use_device",
)
CLAUSES = {
    **dict.fromkeys((*_ENTRY, *_ENTRY_TOO), (3, None)),
    **dict.fromkeys(("copyout", "update_host"), (3, None)),
    **dict.fromkeys(("delete", "detach"), (2, None)),
    **dict.fromkeys(("parallel", "kernels", "serial"), (0, 1)),
    **dict.fromkeys(("data", "update"), (1, 2)),
    **dict.fromkeys(("enter_data", "exit_data", "kernel_environment"), (1, 3)),
}
"""The segments of operands that name the queues of `async` and of `wait`; the latter is None where there is no such clause."""


def _queued(queues: int, waited: int | None) -> Steps:
    def steps(op: ir.Operation) -> tuple[Step, ...]:
        found = segments(op)
        is_any = _says(op, "asyncOnly") or _says(op, "async")
        place = place_of(found[queues]) if len(found[queues]) == 1 and not is_any else None
        waits = waited is not None and (bool(found[waited]) or _says(op, "waitOnly") or _says(op, "wait"))
        told = (Wait(_QUEUE, place=None, certain=False),) if waits else ()
        return (*told, *((Start(_QUEUE, place=place),) if is_any or found[queues] else ()))

    return steps


def _says(op: ir.Operation, clause: str) -> bool:
    """Whether an op has a clause: a list of devices that is not empty, or no list."""
    if clause not in op.attributes:
        return False
    attribute = op.attributes[clause]
    return not isinstance(attribute, ir.ArrayAttr) or len(cast(Any, attribute)) > 0


def _wait(op: ir.Operation) -> tuple[Step, ...]:
    queues, *rest = segments(op)
    certain = not any(rest) and "async" not in op.attributes
    if not queues:
        return (Wait(_QUEUE, place=None, certain=certain),)
    return tuple(Wait(_QUEUE, place=place_of([queue]), certain=certain) for queue in queues)


TRANSFERS: dict[str, Steps] = {
    "acc.wait": _wait,
    **{f"acc.{op}": _queued(*clauses) for op, clauses in CLAUSES.items()},
}
