"""The programs that are freed: models, programs with control flow, and one that grows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.bufferization.cases import cases, gpt2_case
from benchmarks.deallocation.loops import chain, loops
from benchmarks.deallocation.rows import Program
from benchmarks.deallocation.sides import ALONE, ARENA, BEST, SIDES

ROUNDS, MANY_ROUNDS = 7, 100_000
CHAINS = (1_000, 4_000)
_CHAIN_SIDES = ("mlir", "mlir, liveness", ALONE, BEST, ARENA)
RANDOM_PROGRAMS = 40
_ALL = tuple(SIDES)
GROUPS = ("models", "loops", "examples", "random", "endurance", "allocations")


def programs(groups: tuple[str, ...], only: str | None = None) -> Iterator[Program]:
    """The programs of these groups whose names hold a text; models are captured one after another."""
    for group in groups:
        match group:
            case "models":
                yield from _models(only)
            case "loops":
                yield from _chosen(_loops("loops", ROUNDS, _ALL), only)
            case "endurance":
                yield from _chosen(_loops("endurance", MANY_ROUNDS, (BEST,)), only)
            case "examples":
                yield from _chosen(_examples(), only)
            case "random":
                yield from _chosen(_random(), only)
            case _:
                yield from _chosen(_chains(), only)


def _chosen(found: Iterator[Program], only: str | None) -> Iterator[Program]:
    return (program for program in found if only is None or only in program.name)


def _models(only: str | None) -> Iterator[Program]:
    models = [case for case in (*cases(), gpt2_case()) if case.group == "models"]
    for case in models:
        if only is not None and only not in case.name:
            continue
        for program in case.programs():
            start = "model" if program.variant == "fused" else "own"
            name = f"{case.name}, {'MLIR' if start == 'model' else 'Hotdesk'}'s buffers"
            yield Program(name, "models", program.text, (start,), _ALL, program.symbols)


def _loops(group: str, rounds: int, sides: tuple[str, ...]) -> Iterator[Program]:
    for name, text in loops().items():
        yield Program(name, group, text, ("given",), sides, sizes=(rounds,), compared=rounds == ROUNDS)


def _examples() -> Iterator[Program]:
    from tests.running.examples import EXAMPLES

    for name, path in EXAMPLES.items():
        text = path.read_text(encoding="utf-8")
        given = re.search(r"^// given: (.*)$", text, re.MULTILINE)
        sizes = tuple(int(number) for number in given[1].split(",")) if given else ()
        yield Program(name, "examples", text, ("mlir", "ours"), _ALL, sizes=sizes)


def _random() -> Iterator[Program]:
    """The first programs that `tests.structured` draws, the same in every run; 0, 1 and 2 are their scalar arguments."""
    from hypothesis import HealthCheck, given, settings

    from tests.structured import Program as Drawn
    from tests.structured import structured_programs

    found: dict[str, Drawn] = {}

    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

    @settings(
        max_examples=RANDOM_PROGRAMS,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=quiet,
    )
    @given(structured_programs())
    def collect(program: Drawn) -> None:
        found[program.text] = program

    collect()
    for number, program in enumerate(found.values()):
        dynamic = [size for t in program.arguments for size, fixed in zip(t.sizes, t.static, strict=True) if not fixed]
        yield Program(f"random {number}", "random", program.text, ("mlir", "ours"), _ALL, sizes=(*dynamic, 0, 1, 2))


def _chains() -> Iterator[Program]:
    for count in CHAINS:
        yield Program(f"{count:,} allocations", "allocations", chain(count), ("given",), _CHAIN_SIDES)
