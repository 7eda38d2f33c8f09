"""Random programs of loops over donated arguments, with calls inside: `scf.for`, `scf.while` and loops of blocks, in `@main` and
in the functions that it calls, which make their results anew, write them over an argument, or return one as it came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.structured.states import CONSTANTS, PART, StateWriter, T

_MOST_FUNCTIONS = 3


def donated_program(random: Random) -> str:
    """`@main` of two donated tensors and one that is only read, how often loops with `%n` run, and how conditions begin."""
    return _DonatedWriter(random).program()


class _DonatedWriter(StateWriter):
    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._functions: list[tuple[str, int]] = []  # those that may be called, and how many results they have

    def program(self) -> str:
        texts = [self._function(f"f{i}") for i in range(self._random.randint(1, _MOST_FUNCTIONS))]
        return "\n".join((*texts, self._main()))

    def _main(self) -> str:
        donated = [" {hotdesk.donated}" if self._random.random() < 0.8 else "" for _ in range(2)]
        arguments = f"%a: {T}{donated[0]}, %b: {T}{donated[1]}, %c: {T}, %n: index, %first: index"
        return self._written("@main", arguments, ["%a", "%b", "%c"], self._random.randint(1, 2), loops=2)

    def _function(self, name: str) -> str:
        results = self._random.randint(1, 2)
        private = "private " if self._random.random() < 0.4 else ""
        donated = " {hotdesk.donated}" if not private and self._random.random() < 0.3 else ""
        arguments = f"%a: {T}{donated}, %b: {T}, %n: index, %first: index"
        text = self._written(f"{private}@{name}", arguments, ["%a", "%b"], results, loops=self._random.randrange(2))
        self._functions.append((name, results))
        return text

    def _written(self, name: str, arguments: str, values: Sequence[str], results: int, *, loops: int) -> str:
        types = ", ".join([T] * results)
        self._lines = [f"func.func {name}({arguments}) -> ({types}) {{{CONSTANTS}"]
        if loops and self._random.random() < 0.3:
            self._blocks(values, results)
        else:
            found = self._block(values, "%first", 2, loops=loops)
            for _ in range(loops if self._random.random() < 0.9 else 0):
                found += self._loop(found, loops - 1)
                found = self._block(found, "%first", 1, loops=0)
            self._return(found, results)
        return "\n".join(self._lines)

    def _return(self, values: Sequence[str], results: int) -> None:
        returned = [self._random.choice(values[-3:] if self._random.random() < 0.8 else values) for _ in range(results)]
        self._lines.append(f"return {', '.join(returned)} : {', '.join([T] * results)}\n}}")

    def _steps(self) -> tuple[Callable[[Sequence[str], str], str], ...]:
        calls = (self._called,) * 4 if self._functions else ()
        return (*super()._steps(), self._replaced, *calls)

    def _replaced(self, values: Sequence[str], index: str) -> str:
        """A slice that a loop makes anew or overwrites, put back, or into another tensor."""
        source = self._random.choice(values)
        into = source if self._random.random() < 0.7 else self._random.choice(values)
        begin = self._random.randrange(3)
        part = self._define(f"tensor.extract_slice {source}[{begin}] [2] [1] : {T} to {PART}")
        self._count += 1
        state, result = f"%p{self._count}", f"%q{self._count}"
        times = self._random.choice(("%n", "%c0", "%c1"))
        number = self._define(f"arith.index_cast {index} : index to i32")
        made = self._random.choice(("tensor.empty() : " + PART, f"tensor.insert %k into {state}[%c1] : {PART}"))
        self._lines.append(
            f"""{result} = scf.for {state}_i = %c0 to {times} step %c1 iter_args({state} = {part}) -> ({PART}) {{
              {state}_e = {made}
              {state}_f = linalg.fill ins({number} : i32) outs({state}_e : {PART}) -> {PART}
              scf.yield {self._random.choice((f"{state}_f", f"{state}_e" if "insert" in made else f"{state}_f"))} : {PART}
            }}"""
        )
        return self._define(f"tensor.insert_slice {result} into {into}[{begin}] [2] [1] : {PART} into {T}")

    def _called(self, values: Sequence[str], index: str) -> str:
        name, results = self._random.choice(self._functions)
        self._count += 1
        made = f"%r{self._count}"
        passed = [self._random.choice(values[-4:] if self._random.random() < 0.6 else values) for _ in range(2)]
        types = ", ".join([T] * results)
        self._lines.append(
            f"{made}:{results} = func.call @{name}({', '.join(passed)}, %c{self._random.randrange(4)}, {index})"
            f" : ({T}, {T}, index, index) -> ({types})"
        )
        return f"{made}#{self._random.randrange(results)}"

    def _loop(self, values: Sequence[str], loops: int) -> list[str]:
        return self._while(values, loops) if self._random.random() < 0.4 else super()._loop(values, loops)

    def _while(self, values: Sequence[str], loops: int) -> list[str]:
        count = self._random.randint(1, 3)
        self._count += 1
        name, times = f"%w{self._count}", self._random.choice(("%n", "%c0", "%c1", "%c3"))
        before, after = ([f"{name}_{part}{i}" for i in range(count)] for part in "ba")
        entering = ", ".join(f"{state} = {self._random.choice(values)}" for state in before)
        kinds = ", ".join(["index", *[T] * count])

        def condition() -> None:
            made = self._block([*values, *before], f"{name}_i", 1, loops=0)
            going = self._define(f"arith.cmpi slt, {name}_i, {times} : index")
            passed = [self._pick(made[len(values) :], state) for state in before]
            self._lines.append(f"scf.condition({going}) {name}_i, {', '.join(passed)} : {kinds}")

        def body() -> None:
            made = self._block([*values, *after], f"{name}_j", 3, loops=loops)
            following = self._define(f"arith.addi {name}_j, %c1 : index")
            passed = [self._pick(made[len(values) :], state) for state in after]
            self._lines.append(f"scf.yield {following}, {', '.join(passed)} : {kinds}")

        arguments = ", ".join([f"{name}_j: index", *(f"{state}: {T}" for state in after)])
        first, second = self._lines_of(condition), self._lines_of(body)
        self._lines.append(
            f"{name}:{count + 1} = scf.while ({name}_i = %c0, {entering}) : ({kinds}) -> ({kinds}) {{\n{first}\n}} do {{\n"
            f"^bb0({arguments}):\n{second}\n}}"
        )
        return [f"{name}#{i + 1}" for i in range(count)]

    def _pick(self, made: Sequence[str], state: str) -> str:
        """What a state becomes: mostly itself, or what was made last."""
        choice = self._random.random()
        return state if choice < 0.35 else self._random.choice(made[-2:] if choice < 0.8 else made)

    def _lines_of(self, write: Callable[[], None]) -> str:
        outside, self._lines = self._lines, []
        write()
        text, self._lines = "\n".join(self._lines), outside
        return text

    def _blocks(self, values: Sequence[str], results: int) -> None:
        """A loop of blocks, in which some go on to the end from the middle, and what comes behind it."""
        known = self._block(values, "%first", 1, loops=0)
        states = [f"%s{i}" for i in range(self._random.randint(1, 2))]
        kinds = ", ".join(["index", *[T] * len(states)])
        arguments = ", ".join(["%i: index", *(f"{state}: {T}" for state in states)])
        entering = ", ".join(["%c0", *(self._random.choice(known) for _ in states)])
        self._lines.append(f"cf.br ^head({entering} : {kinds})\n^head({arguments}):")
        seen = self._block([*known, *states], "%i", 1, loops=0)
        going = self._define(f"arith.cmpi slt, %i, {self._random.choice(('%n', '%c1', '%c3'))} : index")
        self._lines.append(f"cf.cond_br {going}, ^body, ^end\n^body:")
        made = self._block(seen, "%i", 3, loops=1)
        following = self._define("arith.addi %i, %c1 : index")
        passed = ", ".join([following, *(self._pick(made[len(known) :], state) for state in states)])
        self._lines.append(f"cf.br ^head({passed} : {kinds})\n^end:")
        self._return(self._block(seen, "%first", 1, loops=0), results)
