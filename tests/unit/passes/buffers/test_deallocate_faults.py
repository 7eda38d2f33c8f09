"""Planted faults: deallocation without one of its rules, and a program that notices each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.analysis.ownership import releases
from hotdesk.analysis.ownership.owners import Ownership, OwnershipTransfer
from hotdesk.analysis.ownership.releases import Releases
from hotdesk.passes.buffers import ownership_flags, ownership_paths, returned_copies, settle_ownership
from hotdesk.passes.buffers.ownership_flags import OperandFlags
from tests.unit.passes.buffers.deallocation_programs import PROGRAMS
from tests.unit.passes.buffers.test_deallocate import OWNERSHIP, check_runs

Patch = pytest.MonkeyPatch


def never_freed_on_the_way(patch: Patch) -> None:
    """What is freed on one edge of a branch, or where a block begins, is not."""
    find = Releases.find

    def forgetful(self: Releases, *given: Any) -> Any:
        found = find(self, *given)
        return found if isinstance(found, range) else tuple(place for place in found if place.after >= 0)

    patch.setattr(Releases, "find", forgetful)


def freed_behind_branches_alone(patch: Patch) -> None:
    """A transfer inside of an op is not seen where its end is looked for."""
    patch.setattr(releases, "between", lambda ops, first, end: [])


def flags_turned_round(patch: Patch) -> None:
    bit = ownership_flags.bit
    patch.setattr(ownership_flags, "bit", lambda value, before: bit(not value, before))


def one_buffer_transferred_twice(patch: Patch) -> None:
    transfers_at = Ownership._transfers_at

    def generous(self: Ownership, op: int) -> list[OwnershipTransfer]:
        every = transfers_at(self, op)
        return [h._replace(moved=(*h.moved, *(owner for owner, _ in h.claimed)), claimed=()) for h in every]

    patch.setattr(Ownership, "_transfers_at", generous)


def results_not_copied(patch: Patch) -> None:
    for module in (returned_copies, settle_ownership):
        patch.setattr(module, "copy_of", lambda value, before: value)


def written_in_between(patch: Patch) -> None:
    patch.setattr(ownership_paths._Paths, "_is_quiet", lambda self, ops: True)


def the_chosen_one_is_lost(patch: Patch) -> None:
    """A choice is thought to be its first operand."""
    read = settle_ownership.read_buffers

    def partial(*given: Any) -> Any:
        program = read(*given)
        values = tuple(replace(b, sources=b.sources[:1]) if b.kind is Kind.CHOICE else b for b in program.values)
        return replace(program, values=values)

    patch.setattr(settle_ownership, "read_buffers", partial)


def addresses_are(equal: bool) -> Callable[[Patch], None]:
    """Every comparison of addresses says the same."""

    def apply(patch: Patch) -> None:
        def answered(self: OperandFlags, how: str, a: int, b: int, before: Any) -> Any:
            del self, a, b
            return ownership_flags.bit((how == "eq") is equal, before)

        patch.setattr(OperandFlags, "_compared", answered)

    return apply


def freed_at_the_first_use(patch: Patch) -> None:
    find = Releases.find
    patch.setattr(Releases, "find", lambda self, owner, uses, moves: find(self, owner, uses[:1], moves))


FAULTS: dict[str, tuple[Callable[[Patch], None], str]] = {
    "never freed on the way": (never_freed_on_the_way, "blocks"),
    "transfers in regions are not seen": (freed_behind_branches_alone, "loop, new sometimes"),
    "flags turned round": (flags_turned_round, "loop, new each time"),
    "one buffer transferred twice": (one_buffer_transferred_twice, "one twice"),
    "results are not copied": (
        results_not_copied,
        "returned from one of two ways, the argument is written in a loop before",
    ),
    "written in between": (written_in_between, "returned from one of two ways, the argument is written before"),
    "the chosen one is lost": (the_chosen_one_is_lost, "selected"),
    "addresses never equal": (addresses_are(False), "taken over on one way of a switch, only shown on another"),
    "addresses always equal": (addresses_are(True), "taken over on one way of a switch, only shown on another"),
    "freed at the first use": (freed_at_the_first_use, "swap"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_noticed(name: str, monkeypatch: Patch) -> None:
    fault, program = FAULTS[name]
    check_runs(PROGRAMS[program], OWNERSHIP)
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check_runs(PROGRAMS[program], OWNERSHIP)
