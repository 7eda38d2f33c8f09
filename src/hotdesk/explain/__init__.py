"""What was decided about memory, and why."""

from hotdesk.explain.decision import Decision, Outcome, Reason, Source, evaluate, symbols_of

__all__ = ["Decision", "Outcome", "Reason", "Source", "evaluate", "symbols_of"]
