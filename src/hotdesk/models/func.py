"""`func.return` reads what it returns; where results go is the business of function boundaries."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.models.facts import Facts
from hotdesk.models.model import OpModel


def _return_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset(range(len(op.operands))))


MODELS = {"func.return": OpModel(_return_facts)}
