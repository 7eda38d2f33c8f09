"""What an op says of transfers: accesses to memory that go on beside the program, until another op has waited for them.

An op *starts* a transfer of a kind, *commits* all of a kind that was started into a group, or *waits* for a kind. A kind is a
word; what is started is waited for by the same one. The end may be told by a value besides (a tag, a barrier) and by a place in
it. Ops of MLIR's dialects say so in `models.device_transfers` and `models.queues`, ops of your own by `OpModel.transfers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hotdesk._bindings import ir

Place = tuple["ir.Value | int | float", ...]
"""Where in a tag, or which of several barriers or queues: values, or the numbers that they are."""


@dataclass(frozen=True, slots=True)
class Start:
    """The op uses the memory of its operands, and the memory they lead to, when control has left it.

    Attributes:
        kind: what is waited for together.
        by: the value that tells the end, such as a tag or a barrier; None if the kind alone does.
        place: where in it; None if that is not known, so that only a wait for all places tells.
    """

    kind: str
    by: ir.Value | None = None
    place: Place | None = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """All that was started of a kind, and is in no group yet, becomes the newest group."""

    kind: str


@dataclass(frozen=True, slots=True)
class Wait:
    """The op goes on when transfers are done.

    Attributes:
        kind, by: which ones, as in `Start`.
        place: where; None for all places.
        left: how many of the newest groups may run on; None if groups do not matter, and all that was started is done.
        certain: False if the op may go on before: it asks only, has a limit in time, or waits under a condition.
    """

    kind: str
    by: ir.Value | None = None
    place: Place | None = ()
    left: int | None = None
    certain: bool = True


Step = Start | Commit | Wait
Steps = Callable[[ir.Operation], tuple[Step, ...]]
"""What one op does, in order: nothing, if it is known only to take a tag or barrier."""
