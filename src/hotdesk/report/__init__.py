"""Records about a program's memory, and their renderers."""

from hotdesk.report.document import Document
from hotdesk.report.records import BufferLine, Certificate, CertifiedBuffer, Memory, Report, WorstCase, summarize
from hotdesk.report.text import render

__all__ = [
    "BufferLine",
    "Certificate",
    "CertifiedBuffer",
    "Document",
    "Memory",
    "Report",
    "WorstCase",
    "render",
    "summarize",
]
