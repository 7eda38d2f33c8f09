"""Memory snapshots of PyTorch: what `torch.cuda.memory._dump_snapshot` writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hotdesk.errors import TraceError
from hotdesk.traces.trace import Event, Trace, buffers_of

_SEGMENTS = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
_READER = Path(__file__).with_name("plain_pickle.py")

Entry = tuple[str, int, int]
"""What is done, at which address, with how many bytes."""


def read(data: bytes, name: str) -> Trace:
    """The trace of the device that allocated most. Raises TraceError."""
    found = _unpickled(data)
    if "fault" in found:
        raise TraceError(name, expected="a memory snapshot of PyTorch", got=str(found["fault"]))
    if found["history"] is None:
        hint = "Call torch.cuda.memory._record_memory_history() before what is to be recorded."
        raise TraceError(name, expected="a memory snapshot of PyTorch with a history", got="none", hint=hint)
    try:
        buffers, unmatched = buffers_of(_events(found["history"]))
        return Trace("PyTorch's memory snapshot", buffers, _reserved(found["history"]) or None, unmatched)
    except (TypeError, ValueError) as error:
        got = f"a history that is none: {error!r}"[:160]
        raise TraceError(name, expected="a memory snapshot of PyTorch", got=got) from error


def _unpickled(data: bytes) -> Mapping[str, Any]:
    """What `plain_pickle.py` writes; a pickle that ends its process is none."""
    child = [sys.executable, "-I", str(_READER)]
    done = subprocess.run(child, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        return {"fault": f"a pickle that is none: what read it ended with status {done.returncode}"}
    return json.loads(done.stdout)


def _events(entries: Sequence[Entry]) -> Iterator[Event]:
    for action, address, size in entries:
        if action == "alloc":
            yield Event(address, size)
        elif action == "free_completed":
            yield Event(address, -size)


def _reserved(entries: Sequence[Entry]) -> int:
    """The most bytes of segments at once."""
    held = most = 0
    for action, _, size in entries:
        held += _SEGMENTS.get(action, 0) * size
        most = max(most, held)
    return most
