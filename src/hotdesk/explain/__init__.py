"""What was decided about memory, and why."""

from hotdesk.explain.decision import Decision, Outcome, Source, evaluate, spelled, symbols_of
from hotdesk.explain.reason import Reason

__all__ = ["Decision", "Outcome", "Reason", "Source", "evaluate", "spelled", "symbols_of"]
