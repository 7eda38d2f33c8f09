"""Reading a trace whose format is told by what is in it, not by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from hotdesk.errors import TraceError
from hotdesk.planning import read_csv
from hotdesk.planning.problem.numbers import LARGEST_TOTAL, shown
from hotdesk.traces import onnxruntime_profile, torch_snapshot, xla
from hotdesk.traces.trace import Event, Trace, arguments_of, buffers_of

FORMATS = (
    "a memory snapshot of PyTorch (.pickle), a trace of PyTorch's profiler (.json), XLA's buffer assignment (.txt), a session "
    "profile of onnxruntime (.json, with the graph that was run), or a CSV with id,lower,upper,size"
)


def load_trace(path: Path, graph: Path | None = None) -> Trace:
    """The trace in a file; of XLA's buffer assignment the live ranges are in the file beside it.

    `graph` is the ONNX model that was run, for a session profile of onnxruntime.

    Raises:
        TraceError: the file is in none of the formats, or says nothing about memory.
        OSError: it cannot be read.
    """
    beside = path.with_name(path.name.replace("-buffer-assignment.txt", "-live-range.txt"))
    ranges = beside.read_text(encoding="utf-8", errors="replace") if beside != path and beside.is_file() else ""
    return read_trace(path.read_bytes(), str(path), ranges, graph)


def read_trace(data: bytes, name: str = "the trace", ranges: str = "", graph: Path | None = None) -> Trace:
    """The trace of bytes; `ranges` is the text of XLA's live ranges, `graph` the file of the model that onnxruntime ran.

    Raises TraceError, which calls it by `name`.
    """
    try:
        found = _read(data, name, ranges, graph)
    except TraceError:
        raise
    except (
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        OverflowError,
    ) as error:  # what others wrote is anything
        got = f"entries that are none: {error}"[:160]
        raise TraceError(name, expected="allocations with their bytes and live ranges", got=got) from error
    if found.total >= LARGEST_TOTAL:
        expected, got = f"allocations of fewer than {LARGEST_TOTAL} bytes together", shown(found.total)
        raise TraceError(name, expected=expected, got=got)
    return found


def _read(data: bytes, name: str, ranges: str, graph: Path | None) -> Trace:
    if data[:1] == b"\x80":
        return torch_snapshot.read(data, name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TraceError(name, expected=FORMATS, got="bytes that are no text") from error
    if text.lstrip()[:1] in ("{", "["):
        return _json(text, name, graph)
    if text.lstrip().startswith("BufferAssignment:"):
        return xla.read(text, ranges, name)
    return _csv(text, name)


def _json(text: str, name: str, graph: Path | None) -> Trace:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceError(name, expected=FORMATS, got=f"JSON that is cut off or wrong: {error}") from error
    events: Any = cast("Mapping[str, Any]", found).get("traceEvents") if isinstance(found, Mapping) else None
    if isinstance(events, list):
        return _profile(cast("list[Any]", events), name)
    if onnxruntime_profile.is_profile(cast(object, found)):
        if graph is not None:
            return onnxruntime_profile.read(cast("list[Any]", found), graph, name)
        raise TraceError(
            name,
            expected="the graph that was run beside it: a profile alone does not say until when results are in use",
            got="a session profile of onnxruntime without one",
            hint="Write it with SessionOptions.optimized_model_filepath, and name it: hotdesk plan trace FILE --model MODEL.onnx",
        )
    raise TraceError(name, expected=FORMATS, got="other JSON")


def _profile(events: Sequence[Any], name: str) -> Trace:
    """What `torch.profiler.profile(profile_memory=True)` has exported: instants of the name `[memory]`."""
    named = [cast("Mapping[str, Any]", each) for each in events if isinstance(each, Mapping)]
    found = [each for each in named if each.get("name") == "[memory]"]
    if not found:
        got = "a trace of PyTorch's profiler without any"
        hint = "Record it with profile_memory=True."
        raise TraceError(name, expected="allocations with their bytes", got=got, hint=hint)
    try:
        return _recorded(found)
    except (TypeError, LookupError, AttributeError, ValueError, OverflowError) as error:
        got = f"events that are none: {error!r}"[:120]
        raise TraceError(name, expected="a trace of PyTorch's profiler", got=got) from error


def _recorded(found: list[Mapping[str, Any]]) -> Trace:
    found.sort(key=lambda each: (each["ts"], arguments_of(each).get("Ev Idx", 0)))
    arguments = [arguments_of(each) for each in found]
    device = max(a.get("Device Type", 0) for a in arguments)  # a GPU, if there is one: its memory is what is short
    own = [Event(a["Addr"], a["Bytes"]) for a in arguments if a.get("Device Type", 0) == device]
    buffers, unmatched = buffers_of(own)
    reserved = max((a.get("Total Reserved", 0) for a in arguments if a.get("Device Type", 0) == device), default=0)
    return Trace("PyTorch's profiler", buffers, reserved or None, unmatched)


def _csv(text: str, name: str) -> Trace:
    try:
        problem = read_csv(text)
    except ValueError as error:
        raise TraceError(name, expected=FORMATS, got=f"none of these ({error})") from error
    ends = [each.fixed_offset + each.size for each in problem.buffers if each.fixed_offset is not None]
    return Trace("CSV", tuple(problem.buffers), max(ends) if len(ends) == len(problem.buffers) and ends else None)
