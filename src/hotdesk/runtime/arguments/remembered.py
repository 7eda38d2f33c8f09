"""What a program remembers of its calls: a plan for each value of the symbols, and what checks have found of each signature.

Plans go when they are more than a number, or take more than a number of bytes; those used longest ago go first. The one used
last always stays. Who uses it holds a lock.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from hotdesk.errors import OptionError
from hotdesk.runtime.interface import Binding

if TYPE_CHECKING:
    from hotdesk.runtime.arguments.tensors import Kind

PLANS = 64
PLAN_BYTES = 64 << 20
_SIGNATURES_PER_PLAN = 4


class Signature(NamedTuple):
    """What follows from the kinds, types and sizes of a call's tensors. `bytes` has the size of each."""

    symbols: Mapping[str, int]
    values: tuple[int, ...]
    kind: Kind
    bytes: tuple[int, ...]


class PlanCounts(NamedTuple):
    """How often a program has planned.

    Attributes:
        made: plans made: one for each value of the symbols, whenever it was not remembered; or one for all of them.
        for_all_sizes: whether one plan serves all values of the symbols, as is proven. `made` is 1 then.
        laid_out: how often a plan was laid out for values of the symbols that were not remembered.
        reused: how often the plan of a call was remembered.
        kept: how many are remembered now, and `bytes` about what that takes.
    """

    made: int
    for_all_sizes: bool
    laid_out: int
    reused: int
    kept: int
    bytes: int


class Remembered:
    """Plans by the values of the symbols, and signatures by what identifies a call."""

    __slots__ = ("_bindings", "_plan_bytes", "_plans", "_signatures", "added", "bytes", "reused")

    def __init__(self, plans: int = PLANS, plan_bytes: int = PLAN_BYTES) -> None:
        """At most `plans` plans are kept, of at most `plan_bytes` bytes together. Raises OptionError if that is none."""
        for name, given in (("plans", plans), ("plan_bytes", plan_bytes)):
            if given < 1:
                raise OptionError(name, expected="at least 1", got=str(given))
        self._plans = plans
        self._plan_bytes = plan_bytes
        self._bindings: OrderedDict[tuple[int, ...], Binding] = OrderedDict()
        self._signatures: dict[Hashable, Signature] = {}
        self.bytes = 0
        self.reused = 0
        self.added = 0

    def __len__(self) -> int:
        return len(self._bindings)

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The plans, that used last at the end."""
        return tuple(self._bindings.values())

    def binding(self, values: tuple[int, ...]) -> Binding | None:
        """The plan for these values of the symbols, which now is the one used last."""
        found = self._bindings.get(values)
        if found is not None:
            self._bindings.move_to_end(values)
            self.reused += 1
        return found

    def add(self, values: tuple[int, ...], binding: Binding) -> None:
        """Remembers a plan, and forgets those used longest ago while there are too many."""
        self._bindings[values] = binding
        self.bytes += binding.bytes
        self.added += 1
        while len(self._bindings) > self._plans or (self.bytes > self._plan_bytes and len(self._bindings) > 1):
            _, gone = self._bindings.popitem(last=False)
            self.bytes -= gone.bytes

    def signature(self, key: Hashable) -> Signature | None:
        return self._signatures.get(key)

    def sign(self, key: Hashable, signature: Signature) -> None:
        """Remembers what identifies a call, and forgets what was remembered first while there is too much."""
        while len(self._signatures) >= self._plans * _SIGNATURES_PER_PLAN:
            del self._signatures[next(iter(self._signatures))]
        self._signatures[key] = signature

    @property
    def signatures(self) -> int:
        """How many signatures are remembered."""
        return len(self._signatures)
