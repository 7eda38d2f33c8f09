"""Records about a program's memory, and their renderers."""

from hotdesk.report.records import BufferLine, Memory, Report, WorstCase, summarize
from hotdesk.report.text import render

__all__ = ["BufferLine", "Memory", "Report", "WorstCase", "render", "summarize"]
