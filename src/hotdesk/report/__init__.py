"""Records about a program's memory, and their renderers, which read no IR.

Read first `memory.py` and `records.py` (figures of a call) and `document.py` (all that a report holds), then a renderer:
`text.py`, `tables.py`, `page.py` with `charts.py` and `vega.py`. `diff.py` and `limits.py` compare two reports, `explaining.py`
answers questions of one, with `certificates.py` (why no plan can be smaller) and `neighbours.py` (who has a place before and
after whom). `profile.py`, `dynamo.py` and `tradeoff.py` with `tradeoff_page.py` are reports of their own.
"""

from typing import TYPE_CHECKING

from hotdesk.python.lazy_names import lazy_names

if TYPE_CHECKING:
    from hotdesk.report.certificates import Certificate, CertifiedBuffer
    from hotdesk.report.document import Document
    from hotdesk.report.memory import Memory, WorstCase
    from hotdesk.report.records import BufferLine, Report, summarize
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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "certificates": ("Certificate", "CertifiedBuffer"),
            "document": ("Document",),
            "memory": ("Memory", "WorstCase"),
            "records": ("BufferLine", "Report", "summarize"),
            "text": ("render",),
        },
    )
