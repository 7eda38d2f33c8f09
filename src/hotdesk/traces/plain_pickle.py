"""Reads the pickle of a memory snapshot in a process of its own: from standard input, its history as JSON to standard output.

A pickle may run anything when it is read. A snapshot is of plain values alone, so no class is looked up here, and a pickle that
names one is refused. Even plain values can end the process that reads them: hashing tuples nested a million deep overflows its
stack. Nothing but the standard library is imported, so that it begins at once.
"""

from __future__ import annotations

import json
import pickle
import sys
from typing import Any, cast

# Not `free_requested`, which may be long before: other streams still use the memory then.
_ALLOCATIONS = ("alloc", "free_completed")
_SEGMENTS = ("segment_alloc", "segment_map", "segment_free", "segment_unmap")


class _PlainValues(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it names {module}.{name}, and a snapshot is of plain values")


def _history(found: Any) -> Any:
    """What was done with memory, where and with how many bytes, on the device where most was; None if nothing is recorded."""
    traces: Any = cast("dict[Any, Any]", found).get("device_traces") if isinstance(found, dict) else None
    if not isinstance(traces, list) or not any(cast("list[Any]", traces)):
        return None
    longest = max(cast("list[list[Any]]", traces), key=len)
    return [
        [each["action"], each["addr"] if each["action"] in _ALLOCATIONS else 0, each["size"]]
        for each in longest
        if each["action"] in _ALLOCATIONS or each["action"] in _SEGMENTS
    ]


def main() -> None:
    """Writes `{"history": …}`, or `{"fault": …}` with what is wrong."""
    try:
        found: Any = _PlainValues(sys.stdin.buffer).load()
    except Exception as error:  # a broken pickle raises anything
        print(json.dumps({"fault": f"a pickle that is none: {error}"[:160]}))
        return
    try:
        print(json.dumps({"history": _history(found)}))
    except Exception as error:  # and what it holds is anything
        print(json.dumps({"fault": f"a history that is none: {error!r}"[:160]}))


if __name__ == "__main__":
    main()
