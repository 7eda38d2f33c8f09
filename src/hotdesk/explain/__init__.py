"""What was decided about memory, and why.

Read first `decision.py` and `reason.py`; `remarks.py` and `answers.py` write decisions out, with the words of `conditions.py`
and `remedies.py`.
"""

from hotdesk.explain.decision import Decision, Outcome, Source, represented
from hotdesk.explain.reason import Reason

__all__ = ["Decision", "Outcome", "Reason", "Source", "represented"]
