"""Whether the peak rises where a value is computed where it is inserted, by the estimate of `analysis.order.bytes_at_steps`.

Symbols count as `ASSUMED` elements. Computing a value where it is inserted saves its own buffer, but then everything that is last
read on the way is there beside the destination. That is more than before iff the value could have been written over one of its
operands and others die with it, or iff what makes it moves down to where the destination is already.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hotdesk._bindings import ir
from hotdesk.analysis.insertion.chain import Chain
from hotdesk.analysis.order.bytes_at_steps import HeldStep, read_held
from hotdesk.analysis.order.schedules import ASSUMED
from hotdesk.errors import BufferizationError
from hotdesk.ir.types import element_bytes, element_of, is_tensor, shape_of
from hotdesk.ir.walking import defining_op, users
from hotdesk.models.registry import model_of
from hotdesk.models.tensor import KEEPS_NOTHING


class RaisedPeak:
    """The estimate for one function, made when it is first needed."""

    def __init__(self, function: ir.Operation) -> None:
        self._function = function
        self._tasks: dict[ir.Value, int] | None = None  # by first results: the hash of an op depends on its operands
        self._steps: tuple[HeldStep, ...] = ()
        self._peak = 0

    def raised_by(self, chain: Chain) -> bool:
        """Whether the peak rises if the links of a chain write where their value is inserted."""
        if not _may_raise(chain):  # the function need not be read
            return False
        tasks = self._read()
        made_by = [op.results[0] for op in (*chain.links, chain.insertion) if len(op.results)]
        if len(made_by) <= len(chain.links) or any(value not in tasks for value in made_by):
            return False
        *steps, insertion = (self._steps[tasks[value]] for value in made_by)
        made = {value for step in steps for value in step.made}
        if not chain.moves and not any(operand not in made for operand in steps[0].over.values()):
            return False
        dying = sum(size for step in steps for value, size in step.dying.items() if value not in made)
        return insertion.held - sum(steps[-1].made.values()) + dying > self._peak

    def holds_from_beginning(self, members: Sequence[ir.Value]) -> bool:
        """Whether the last of the members may have its memory as soon as the first is made; the others lie in it.

        It may if no more is held between them than where one member is copied into the next; then the estimate counts it from
        there on. Not if that is not known.
        """
        tasks = self._read()
        if any(value not in tasks for value in members):
            return False
        numbers = [tasks[value] for value in members]
        inside = {value for number in numbers for value in self._steps[number].made}
        whole = sum(self._steps[numbers[-1]].made.values())
        between = self._steps[numbers[0] : numbers[-1] + 1]
        levels: list[int] = []
        live: dict[int, int] = {}
        for step in between:
            made = {value: size for value, size in step.made.items() if value in inside}
            levels.append(step.held - sum(live.values()) - sum(made.values()) + whole)
            live = {value: size for value, size in (live | made).items() if value not in step.dying}
        copying = [self._steps[number] for number in numbers[1:]]
        beside = [sum(size for value, size in step.dying.items() if value not in inside) for step in copying]
        if max(levels) > max(step.held - size for step, size in zip(copying, beside, strict=True)):
            return False
        for step, level in zip(between, levels, strict=True):
            step.held = level
        return True

    def _read(self) -> dict[ir.Value, int]:
        if self._tasks is None:
            self._tasks = {}
            found = read_held(self._function, ASSUMED, returned=False)
            if found is None:
                return self._tasks
            tasks = [(found.stretch.operations[position], task) for task, position in enumerate(found.stretch.tasks)]
            self._tasks = {op.results[0]: task for op, task in tasks if len(op.results)}
            self._steps = found.steps
            self._peak = max(step.held for step in self._steps)
        return self._tasks


def _may_raise(chain: Chain) -> bool:
    """Whether what a chain reads last may be more than the value that it no longer has a buffer for; else no peak rises."""
    read: dict[ir.Value, None] = {}
    for link in chain.links:
        read.update((value, None) for value in link.operands if is_tensor(value.type))
    dying = [value for value in read if _dies(value, chain)]
    if len(dying) < (1 if chain.moves else 2):
        return False
    saved, kept = _static_bytes(chain.insertion.operands[0]), [_own_bytes(value) for value in dying]
    return saved is None or None in kept or sum(size for size in kept if size is not None) > saved


def _own_bytes(value: ir.Value) -> int | None:
    """The bytes that end with a value; None where it may lie with others or its size is not static."""
    op = defining_op(value)
    model = None if op is None else model_of(op.name)
    facts = None if op is None or model is None else model.facts(op)
    return None if facts is None or facts.views or facts.choices else _static_bytes(value)


def _static_bytes(value: ir.Value) -> int | None:
    sizes = [size for size in shape_of(value.type) if size is not None]
    known = len(sizes) == len(shape_of(value.type))
    try:
        return prod(sizes) * element_bytes(element_of(value.type)) if known else None
    except BufferizationError:  # an element type without a size
        return None


def _dies(value: ir.Value, chain: Chain) -> bool:
    op, first = defining_op(value), chain.links[0]
    if op is None or op in chain.links or op.name in KEEPS_NOTHING:
        return False
    others = [user for user in users(value) if user not in chain.links]
    return all(user.block == first.block and user.is_before_in_block(first) for user in others)
