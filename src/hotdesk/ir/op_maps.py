"""Maps from ops, and sets of ops, which know an op by where MLIR has it in memory.

The bindings compare ops by address, but hash them by name, attributes, operands and results: a `dict` or a `set` does not find an
op again that was changed meanwhile. Values and blocks, which they hash by address, are kept in those. In no test may this package
hash an op.

Whoever erases an op takes it out first: an op that is made later may come to lie where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import TypeVar

from hotdesk._bindings import address_of, ir

_T = TypeVar("_T")


class OpMap(MutableMapping[ir.Operation, _T]):
    """A map from ops, in the order in which they were put in."""

    __slots__ = ("_held",)

    def __init__(self, items: Iterable[tuple[ir.Operation, _T]] = ()) -> None:
        self._held = {address_of(op): (op, value) for op, value in items}

    def __getitem__(self, op: ir.Operation) -> _T:
        return self._held[address_of(op)][1]

    def __setitem__(self, op: ir.Operation, value: _T) -> None:
        self._held[address_of(op)] = op, value

    def __delitem__(self, op: ir.Operation) -> None:
        del self._held[address_of(op)]

    def __contains__(self, op: object) -> bool:
        return isinstance(op, (ir.Operation, ir.OpView)) and address_of(op) in self._held

    def __iter__(self) -> Iterator[ir.Operation]:
        return (op for op, _ in self._held.values())

    def __len__(self) -> int:
        return len(self._held)


class OpSet(MutableSet[ir.Operation]):
    """A set of ops, in the order in which they were put in."""

    __slots__ = ("_held",)

    def __init__(self, ops: Iterable[ir.Operation] = ()) -> None:
        self._held = {address_of(op): op for op in ops}

    def add(self, value: ir.Operation) -> None:
        self._held.setdefault(address_of(value), value)

    def update(self, ops: Iterable[ir.Operation]) -> None:
        for op in ops:
            self.add(op)

    def issuperset(self, ops: Iterable[ir.Operation]) -> bool:
        return all(op in self for op in ops)

    def discard(self, value: ir.Operation) -> None:
        self._held.pop(address_of(value), None)

    def __contains__(self, op: object) -> bool:
        return isinstance(op, (ir.Operation, ir.OpView)) and address_of(op) in self._held

    def __iter__(self) -> Iterator[ir.Operation]:
        return iter(self._held.values())

    def __len__(self) -> int:
        return len(self._held)
