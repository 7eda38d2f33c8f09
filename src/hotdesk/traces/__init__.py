"""Allocations that other tools have recorded: each format is read to buffers with sizes and live ranges, which can be planned.

Read `trace.py` first (what a trace says), then `reading.py`, which tells formats apart: `torch_snapshot.py` (on
`plain_pickle.py`), `onnxruntime_profile.py` and `xla.py`.
"""

from hotdesk.traces.reading import read_trace
from hotdesk.traces.trace import Trace

__all__ = ["Trace", "read_trace"]
