"""Records about a program's memory, and their renderers, which read no IR.

Read first `records.py` (figures of a call) and `document.py` (all that a report holds), then a renderer: `text.py`,
`tables.py`, `page.py` with `charts.py` and `vega.py`. `diff.py` and `limits.py` compare two reports, `explaining.py` answers
questions of one; `profile.py`, `dynamo.py` and `tradeoff.py` are reports of their own.
"""

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
