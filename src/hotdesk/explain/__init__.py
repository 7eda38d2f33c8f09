"""What was decided about memory, and why.

Read first `decision.py` and `reason.py`; `remarks.py` and `answers.py` write decisions out, with the words of `conditions.py`
and `remedies.py`. `source.py` is how ops are named.
"""

from typing import TYPE_CHECKING

from hotdesk.python.lazy_names import lazy_names

if TYPE_CHECKING:
    from hotdesk.explain.decision import Decision, Outcome
    from hotdesk.explain.reason import Reason
    from hotdesk.explain.source import Source

__all__ = ["Decision", "Outcome", "Reason", "Source"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__, {"decision": ("Decision", "Outcome"), "reason": ("Reason",), "source": ("Source",)}
    )
