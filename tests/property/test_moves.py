"""Random programs that insert parts of a tensor elsewhere in it: as NumPy does with copies, under the memory checker too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.explain import Reason
from tests.reference import Array

_ELEMENTS: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}
_STATES = 4
_TURNS = 3


class _Program:
    """The text of a program, the arguments of a call of it, and what that must give."""

    def __init__(self, seed: int) -> None:
        self._draw = np.random.default_rng(seed)
        self._lines: list[str] = []
        self._names = 0
        self.arguments: list[Array] = []
        self.donated: list[bool] = []
        self.results: list[Array] = []
        self._formals: list[str] = []
        self._returned: list[tuple[str, str]] = []
        for _ in range(_STATES):
            self._state()
        formals, names = ", ".join(self._formals), ", ".join(name for name, _ in self._returned)
        kinds = ", ".join(kind for _, kind in self._returned)
        body = "".join(f"  {line}\n" for line in self._lines)
        self.text = f"func.func @main({formals}) -> ({kinds}) {{\n{body}  return {names} : {kinds}\n}}\n"

    def _any(self, low: int, high: int) -> int:
        return int(self._draw.integers(low, high + 1))

    def _name(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _index(self, number: int) -> str:
        """A number that the text says, or that only the call does."""
        if self._any(0, 2):
            return str(number)
        name = f"%a{len(self.arguments)}"
        self._formals.append(f"{name}: index")
        self.arguments.append(np.array(number))
        self.donated.append(False)
        return name

    def _state(self) -> None:
        element = str(self._draw.choice(list(_ELEMENTS)))
        shape = [self._any(1, 9) for _ in range(self._any(1, 4))]
        shape[-1] *= self._any(1, 20)
        kind = f"tensor<{'x'.join(map(str, shape))}x{element}>"
        array = (100 * self._draw.standard_normal(shape)).astype(_ELEMENTS[element])
        name = f"%a{len(self.arguments)}"
        self.donated.append(bool(self._any(0, 4)))
        self._formals.append(f"{name}: {kind}{' {hotdesk.donated}' if self.donated[-1] else ''}")
        self.arguments.append(array)
        values = [(name, array)]
        for _ in range(self._any(1, 3)):
            change = (self._insert, self._insert, self._loop, self._threads)[self._any(0, 3)]
            values.append(change(values, shape, element, kind))
            if not self._any(0, 3):
                self._read(values[self._any(0, len(values) - 1)], shape, element)
        self._returned.append((values[-1][0], kind))
        self.results.append(values[-1][1])

    def _box(self, shape: list[int], dims: int) -> tuple[list[int], list[int]]:
        """Sizes and strides of slices that fit, whole in the dims behind the first few."""
        steps = [1 if self._any(0, 3) else 2 for _ in shape]
        sizes = [
            self._any(0 if not self._any(0, 9) else 1, (size - 1) // step + 1)
            for size, step in zip(shape, steps, strict=True)
        ]
        whole = range(dims, len(shape))
        return [shape[i] if i in whole else n for i, n in enumerate(sizes)], [
            1 if i in whole else step for i, step in enumerate(steps)
        ]

    def _start(self, shape: list[int], sizes: list[int], steps: list[int]) -> list[int]:
        spans = [(size - 1) * step + 1 if size else 1 for size, step in zip(sizes, steps, strict=True)]
        return [self._any(0, size - span) for size, span in zip(shape, spans, strict=True)]

    def _insert(self, values: list[tuple[str, Array]], shape: list[int], element: str, kind: str) -> tuple[str, Array]:
        sizes, steps = self._box(shape, self._any(1, len(shape)))
        source, target = (self._start(shape, sizes, steps) for _ in range(2))
        old = values[-1] if self._any(0, 5) else values[self._any(0, len(values) - 1)]
        return self._moved(old, values[-1], (source, target, sizes, steps), element, kind)

    def _moved(
        self, old: tuple[str, Array], new: tuple[str, Array], box: Any, element: str, kind: str
    ) -> tuple[str, Array]:
        source, target, sizes, steps = box
        reduced = [n for n in sizes if n != 1] if self._any(0, 1) else sizes
        part = f"tensor<{''.join(f'{n}x' for n in reduced)}{element}>"
        first, second = ([self._index(n) for n in starts] for starts in (source, target))
        taken, result = self._name(), self._name()
        tail = f"[{', '.join(map(str, sizes))}] [{', '.join(map(str, steps))}] :"
        self._lines += [
            f"{taken} = tensor.extract_slice {old[0]}[{', '.join(first)}] {tail} {kind} to {part}",
            f"{result} = tensor.insert_slice {taken} into {new[0]}[{', '.join(second)}] {tail} {part} into {kind}",
        ]
        array = new[1].copy()
        array[_slices(target, sizes, steps)] = old[1][_slices(source, sizes, steps)]
        return result, array

    def _loop(self, values: list[tuple[str, Array]], shape: list[int], element: str, kind: str) -> tuple[str, Array]:
        """Several turns of one move, of what the loop carries."""
        name, array = values[-1]
        result, carried, low, high, step = (self._name() for _ in range(5))
        for each, number in ((low, 0), (high, _TURNS), (step, 1)):
            self._lines.append(f"{each} = arith.constant {number} : index")
        self._lines.append(
            f"{result} = scf.for %i = {low} to {high} step {step} iter_args({carried} = {name}) -> ({kind}) {{"
        )
        sizes, steps = self._box(shape, self._any(1, len(shape)))
        source, target = (self._start(shape, sizes, steps) for _ in range(2))
        box = source, target, sizes, steps
        inner, array = self._moved((carried, array), (carried, array), box, element, kind)
        for _ in range(_TURNS - 1):
            before = array.copy()
            array[_slices(target, sizes, steps)] = before[_slices(source, sizes, steps)]
        self._lines += [f"scf.yield {inner} : {kind}", "}"]
        return result, array

    def _threads(self, values: list[tuple[str, Array]], shape: list[int], element: str, kind: str) -> tuple[str, Array]:
        """Rows that the threads of a loop each give to another one."""
        if shape[0] < 2:
            return self._insert(values, shape, element, kind)
        name, array = values[-1]
        down = bool(self._any(0, 1))
        rest = shape[1:]
        zeros, sizes, steps = (", ".join(map(str, [*each])) for each in ([0] * len(rest), [1, *rest], [1] * len(shape)))
        places = [f"%i{', ' if rest else ''}{zeros}", f"%j{', ' if rest else ''}{zeros}"]
        source, target = places if down else places[::-1]
        part = f"tensor<{'x'.join(map(str, [1, *rest]))}x{element}>"
        one, result, shared, taken = (self._name() for _ in range(4))
        self._lines += [
            f"{one} = arith.constant 1 : index",
            f"{result} = scf.forall (%j) in ({shape[0] - 1}) shared_outs({shared} = {name}) -> ({kind}) {{",
            f"%i = arith.addi %j, {one} : index",
            f"{taken} = tensor.extract_slice {name}[{source}] [{sizes}] [{steps}] : {kind} to {part}",
            "scf.forall.in_parallel {",
            f"tensor.parallel_insert_slice {taken} into {shared}[{target}] [{sizes}] [{steps}] : {part} into {kind}",
            "}",
            "}",
        ]
        new = array.copy()
        if down:
            new[:-1] = array[1:]
        else:
            new[1:] = array[:-1]
        return result, new

    def _read(self, value: tuple[str, Array], shape: list[int], element: str) -> None:
        """A part of some contents, old ones maybe, that is a result."""
        sizes, steps = self._box(shape, len(shape))
        start = self._start(shape, sizes, steps)
        kind, part = (f"tensor<{''.join(f'{n}x' for n in each)}{element}>" for each in (shape, sizes))
        name = self._name()
        entries = " ".join(f"[{', '.join(map(str, each))}]" for each in (start, sizes, steps))
        self._lines.append(f"{name} = tensor.extract_slice {value[0]}{entries} : {kind} to {part}")
        self._returned.append((name, part))
        self.results.append(value[1][_slices(start, sizes, steps)].copy())


def _slices(starts: list[int], sizes: list[int], steps: list[int]) -> tuple[slice, ...]:
    return tuple(slice(a, a + n * s, s) for a, n, s in zip(starts, sizes, steps, strict=True))


def _check(seed: int) -> int:
    """How many moves a program has, which does as NumPy."""
    made = _Program(seed)
    program = hotdesk.compile(made.text)
    given = [int(each) if each.ndim == 0 else each.copy() for each in made.arguments]
    found = program.check(*given)
    assert not found.faults, f"{made.text}\n{found}"
    decisions = program.decisions(*given)
    results = program(*given)
    for number, (result, wanted) in enumerate(zip(results, made.results, strict=True)):
        np.testing.assert_array_equal(result, wanted, f"result {number} of\n{made.text}")
    for number, (donated, array) in enumerate(zip(made.donated, made.arguments, strict=True)):
        if not donated:
            np.testing.assert_array_equal(given[number], array, f"argument {number} of\n{made.text}")
    return sum(each.reason is Reason.MOVED_WITHIN for each in decisions)


def test_some_programs() -> None:
    assert sum(map(_check, range(3))) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_many_programs(part: int) -> None:
    assert sum(map(_check, range(10 + 15 * part, 25 + 15 * part))) >= 30
