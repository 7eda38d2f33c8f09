"""Random programs of loops whose arguments are states: kept, made anew, overwritten, handed from one to another, for conditions
that are others in each iteration. What goes in may be one tensor several times; what comes out is written behind the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

T, PART = "tensor<4xi32>", "tensor<2xi32>"
CONSTANTS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %k = arith.constant 7 : i32"""
_HEAD = (
    f"""func.func @main(%a: {T} {{hotdesk.donated}}, %b: {T}, %n: index, %first: index) -> ({T}, {T}) {{{CONSTANTS}"""
)
_TIMES = ("%n", "%c0", "%c1", "%c2", "%c3")


def states_program(random: Random) -> str:
    """`@main` of two tensors, how often loops with `%n` run, and which way the conditions begin."""
    return StateWriter(random).program()


class StateWriter:
    """Writes a program; those who write others add to what an op may be."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._count = 0
        self._lines = [_HEAD]

    def program(self) -> str:
        values = self._block(["%a", "%b"], "%first", 2, loops=1)
        values += self._loop(values, 1)
        values = self._block(values, "%first", 2, loops=0)
        returned = [self._random.choice(values[-4:]), self._random.choice(values)]
        self._lines.append(f"return {', '.join(returned)} : {T}, {T}\n}}")
        return "\n".join(self._lines)

    def _steps(self) -> tuple[Callable[[Sequence[str], str], str], ...]:
        return (self._turned, self._inserted, self._filled, self._put, self._chosen)

    def _define(self, text: str) -> str:
        self._count += 1
        self._lines.append(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def _block(self, values: Sequence[str], index: str, most: int, *, loops: int) -> list[str]:
        """The values, and those of some ops more."""
        found = list(values)
        for _ in range(self._random.randint(0, most)):
            if loops and self._random.random() < 0.15:
                found += self._loop(found, loops - 1)
            else:
                step = self._random.choice(self._steps())
                found.append(step(found, index))
        return found

    def _destination(self, values: Sequence[str]) -> str:
        new = self._random.random() < 0.6
        return self._define(f"tensor.empty() : {T}") if new else self._random.choice(values)

    def _turned(self, values: Sequence[str], index: str) -> str:
        """Read in another order than written."""
        source, into = self._random.choice(values), self._destination(values)
        return self._define(
            f"""linalg.generic {{indexing_maps = [affine_map<(d0) -> (3 - d0)>, affine_map<(d0) -> (d0)>],
              iterator_types = ["parallel"]}} ins({source} : {T}) outs({into} : {T}) {{
            ^bb0(%p: i32, %o: i32):
              %s = arith.addi %p, %k : i32
              linalg.yield %s : i32
            }} -> {T}"""
        )

    def _inserted(self, values: Sequence[str], index: str) -> str:
        place = self._random.choice(("%c0", "%c1", "%c3"))
        return self._define(f"tensor.insert %k into {self._random.choice(values)}[{place}] : {T}")

    def _filled(self, values: Sequence[str], index: str) -> str:
        number = self._define(f"arith.index_cast {index} : index to i32")
        return self._define(f"linalg.fill ins({number} : i32) outs({self._destination(values)} : {T}) -> {T}")

    def _put(self, values: Sequence[str], index: str) -> str:
        """A slice of one tensor put into another one."""
        source, into = self._random.choice(values), self._random.choice(values)
        begin, end = self._random.randrange(3), self._random.randrange(3)
        part = self._define(f"tensor.extract_slice {source}[{begin}] [2] [1] : {T} to {PART}")
        return self._define(f"tensor.insert_slice {part} into {into}[{end}] [2] [1] : {PART} into {T}")

    def _chosen(self, values: Sequence[str], index: str) -> str:
        """One of two, by a selection, or by branches that make something."""
        rest = self._define(f"arith.remui {index}, %c2 : index")
        condition = self._define(f"arith.cmpi eq, {rest}, %c{self._random.randrange(2)} : index")
        if self._random.random() < 0.25:
            one, other = self._random.choice(values), self._random.choice(values)
            return self._define(f"arith.select {condition}, {one}, {other} : {T}")
        branches = [
            self._region(lambda: [self._random.choice(self._block(values, index, 1, loops=0)[-3:])]) for _ in range(2)
        ]
        return self._define(f"scf.if {condition} -> {T} {{\n{branches[0]}\n}} else {{\n{branches[1]}\n}}")

    def _loop(self, values: Sequence[str], loops: int) -> list[str]:
        count = self._random.randint(1, 3)
        self._count += 1
        name, times = f"%l{self._count}", self._random.choice(_TIMES)
        states = [f"{name}_{i}" for i in range(count)]
        entering = ", ".join(f"{state} = {self._random.choice(values)}" for state in states)

        def body() -> list[str]:
            known = self._block([*values, *states, *states], f"{name}_i", 3, loops=loops)
            made = known[len(values) + count :]
            return [self._random.choice(made if self._random.random() < 0.9 else known) for _ in states]

        inside, kinds = self._region(body), ", ".join([T] * count)
        self._lines.append(
            f"{name}:{count} = scf.for {name}_i = %c0 to {times} step %c1 iter_args({entering}) -> ({kinds}) {{\n{inside}\n}}"
        )
        return [f"{name}#{i}" for i in range(count)]

    def _region(self, write: Callable[[], Sequence[str]]) -> str:
        """The text of a region that yields what is returned."""
        outside, self._lines = self._lines, []
        yielded = write()
        self._lines.append(f"scf.yield {', '.join(yielded)} : {', '.join([T] * len(yielded))}")
        text, self._lines = "\n".join(self._lines), outside
        return text
