"""Dominance of blocks, against its definition: without the one, no path leads to the other."""

from __future__ import annotations

import random

import pytest

from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.program.dominance import Dominance
from tests.unit.parsing import function, parse


def graph(number: int) -> BufferProgram:
    """A function whose blocks branch at random, some to themselves, some never reached, with a loop in every block."""
    choose = random.Random(number)
    count = choose.randint(1, 8)
    inside = "scf.if %p {\nscf.if %p {\n}\n}"
    lines = [inside, "cf.br ^b1"]
    for block in range(1, count + 1):
        lines += [f"^b{block}:", inside]
        ways = [choose.randint(1, count) for _ in range(2)]
        end = choose.choice([f"cf.cond_br %p, ^b{ways[0]}, ^b{ways[1]}", f"cf.br ^b{ways[0]}", "return"])
        lines.append(end)
    text = "func.func @main(%p: i1) {\n" + "\n".join(lines) + "\n}"
    return read_buffers(function(parse(text)))


def reached(program: BufferProgram, without: int) -> set[int]:
    """The blocks of the function that a path leads to which does not come through `without`."""
    found = {0} - {without}
    waiting = list(found)
    while waiting:
        for successor, _ in program.blocks[waiting.pop()].branches:
            if successor != without and successor not in found:
                found.add(successor)
                waiting.append(successor)
    return found


@pytest.mark.parametrize("number", range(60))
def test_dominates(number: int) -> None:
    program = graph(number)
    dominance = Dominance(program)
    top = [block.number for block in program.blocks if block.parent < 0]
    possible = reached(program, -1)
    for above in top:
        left = reached(program, above)
        for below in top:
            if below in possible and above in possible:
                assert dominance.dominates(above, below) == (below not in left)
    for block in program.blocks:
        chain = set(dominance.upwards(block.number))
        assert chain == {other.number for other in program.blocks if dominance.dominates(other.number, block.number)}
