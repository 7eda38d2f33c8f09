"""Memory snapshots of PyTorch: what `torch.cuda.memory._dump_snapshot` writes.

A pickle may run anything when it is read. A snapshot is of plain values alone, so no class is looked up here, and a pickle that
names one is refused.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping
from typing import Any, cast

from hotdesk.errors import TraceError
from hotdesk.traces.trace import Event, Trace, buffers_of

_SEGMENTS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
_FREED = "free_completed"  # `free_requested` may be long before, where other streams still use the memory


class _PlainValues(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it names {module}.{name}, and a snapshot is of plain values")


def read(data: bytes, name: str) -> Trace:
    """The trace of the device that allocated most. Raises TraceError."""
    try:
        found: Any = _PlainValues(io.BytesIO(data)).load()
    except Exception as error:  # a broken pickle raises anything
        raise TraceError(
            name, expected="a memory snapshot of PyTorch", got=f"a pickle that is none: {error}"
        ) from error
    traces: Any = cast("Mapping[str, Any]", found).get("device_traces") if isinstance(found, Mapping) else None
    if not isinstance(traces, list) or not any(cast("list[Any]", traces)):
        hint = "Call torch.cuda.memory._record_memory_history() before what is to be recorded."
        raise TraceError(name, expected="a memory snapshot of PyTorch with a history", got="none", hint=hint)
    try:
        most = max(cast("list[list[Mapping[str, Any]]]", traces), key=len)
        buffers, unmatched = buffers_of(_events(most))
        return Trace("PyTorch's memory snapshot", buffers, _reserved(most) or None, unmatched)
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        got = f"a history that is none: {error!r}"[:120]
        raise TraceError(name, expected="a memory snapshot of PyTorch", got=got) from error


def _events(entries: list[Mapping[str, Any]]) -> Iterator[Event]:
    for each in entries:
        if each["action"] == "alloc":
            yield Event(each["addr"], each["size"])
        elif each["action"] == _FREED:
            yield Event(each["addr"], -each["size"])


def _reserved(entries: list[Mapping[str, Any]]) -> int:
    """The most bytes of segments at once."""
    held = most = 0
    for each in entries:
        held += _SEGMENTS.get(each["action"], 0) * each["size"]
        most = max(most, held)
    return most
