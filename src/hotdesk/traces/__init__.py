"""Allocations that other tools have recorded: each format is read to buffers with sizes and live ranges, which can be planned."""

from hotdesk.traces.reading import read_trace
from hotdesk.traces.trace import Trace

__all__ = ["Trace", "read_trace"]
