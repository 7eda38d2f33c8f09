"""How a program in MLIR is called: numbers in and out as numbers, everything else as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Complex, Integral, Real
from typing import Any, cast

import numpy as np

from hotdesk.errors import ArgumentTypeError, ShapeError
from hotdesk.runtime.arguments.strided import StridedArgument
from hotdesk.runtime.arguments.tensors import empty
from hotdesk.runtime.calling import Positional

COMPLEX = {"complex<f32>": "c64", "complex<f64>": "c128"}
"""The element types of complex numbers by those of MLIR."""


@dataclass(frozen=True, slots=True)
class Number:
    """An argument or a result that is a number of the type `kind` of MLIR's, such as `f32` or `index`."""

    kind: str

    @property
    def is_size(self) -> bool:
        """Whether it is an `index`."""
        return self.kind == "index"

    @property
    def kept(self) -> str:
        """The type of the memory that it is kept in."""
        return "i64" if self.is_size else self.kind

    def array(self, value: object, what: str) -> Any:
        """A tensor that stands for a number: of no dimensions, or for an `index` one without elements that has that size.

        Raises:
            ArgumentTypeError: it is no number of that kind.
            ShapeError: an `index` that is negative or too large.
        """
        found: Any = value
        if hasattr(found, "item") and getattr(found, "ndim", 0) == 0:  # of NumPy or torch
            found = found.item()
        if self.is_size:
            return np.empty((self._integer(found, value, what, 0, 2**63 - 1), 0), np.int8)
        if self.kind == "i1":
            if isinstance(found, Real) and found in (0, 1):
                return np.array(bool(found))
            raise self._refused(value, what)
        if self.kind.startswith("i"):
            bits = int(self.kind[1:])
            number = self._integer(found, value, what, -(2 ** (bits - 1)), 2**bits - 1)
            return np.array(number - (number >> (bits - 1) & 1) * 2**bits if number >= 0 else number, f"int{bits}")
        is_complex = self.kind in COMPLEX
        if isinstance(found, bool) or not isinstance(found, Complex if is_complex else Real):
            raise self._refused(value, what)
        room: Any = empty("numpy", COMPLEX.get(self.kind, self.kind), ())
        try:
            with np.errstate(over="ignore"):
                room[...] = complex(found) if is_complex else float(cast(Real, found))
        except OverflowError as error:
            got = f"{type(value).__name__} beyond the range of floats"
            raise ArgumentTypeError(what, expected=f"a number for {self.kind}", got=got) from error
        return room

    def _integer(self, found: object, value: object, what: str, low: int, high: int) -> int:
        if isinstance(found, bool) or not isinstance(found, Integral):
            raise self._refused(value, what)
        number = int(found)
        if not low <= number <= high:
            kind = ShapeError if self.is_size else ArgumentTypeError
            raise kind(what, expected=f"an {self.kind} from {low} to {high}", got=str(number))
        return number

    def _refused(self, value: object, what: str) -> ArgumentTypeError:
        words = {"i1": "True or False"}.get(self.kind) or ("a number" if "f" in self.kind else "an integer")
        return ArgumentTypeError(what, expected=f"{words} for {self.kind}", got=f"{type(value).__name__} {value!r:.40}")


class _Leaves(list[object]):
    """The tensors of a call, and what the caller gave for them."""

    given: Sequence[object] = ()


class MlirCalling:
    """Arguments by position, or by the names that they have in the text without `%`."""

    def __init__(
        self,
        names: Sequence[str],
        numbers: Sequence[Number | None],
        results: Sequence[Number | int | None],
        strided: Sequence[StridedArgument] = (),
    ) -> None:
        """`names` are those of the text, such as `%x`; `numbers` say which arguments are numbers.

        `results` has for each result of the function the number that it is, the argument that it is, or None.
        `strided` are arguments of which memory and numbers are passed on; the numbers come behind all other arguments.
        """
        self._names = tuple(names)
        self._positional = Positional([name[1:] for name in names])
        self._numbers = tuple((position, number) for position, number in enumerate(numbers) if number is not None)
        self._results = tuple(results)
        self._strided = tuple(strided)

    @property
    def parameters(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        names = self._positional.parameters
        behind = iter(range(len(names), len(names) + sum(each.open for each in self._strided)))
        open_numbers = {each.position: [next(behind) for _ in range(each.open)] for each in self._strided}
        return tuple((name, (*own, *open_numbers.get(i, ()))) for i, (name, own) in enumerate(names))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the arguments, as the text has them."""
        return self._names

    @property
    def returned(self) -> tuple[int | None, ...]:
        """For each result the argument that it is, or None."""
        return tuple(each if isinstance(each, int) else None for each in self._results)

    @property
    def takes_layouts(self) -> bool:
        """Whether an argument has a layout of its own."""
        return bool(self._strided)

    @property
    def is_plain(self) -> bool:
        """Whether a call takes and gives tensors alone, one for each input and result."""
        return not (self._numbers or self.takes_layouts) and bool(self._results) and set(self._results) == {None}

    def flatten(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Sequence[object]:
        """The tensors of the call. Raises ArgumentCountError, and ArgumentTypeError or ShapeError for a wrong number."""
        given = self._positional.flatten(args, kwargs)
        if not (self._numbers or self._strided) or len(given) != len(self._names):
            return given
        leaves = _Leaves(given)
        leaves.given = given
        for position, number in self._numbers:
            leaves[position] = number.array(leaves[position], f"argument '{self._names[position]}'")
        for each in self._strided:
            leaves[each.position], open_numbers = each.parts(leaves[each.position])
            leaves += open_numbers
        return leaves

    def unflatten(self, results: Sequence[object], symbols: Mapping[str, int], leaves: Sequence[object]) -> object:
        """What the function returns: None, one value, or a tuple."""
        rest = iter(results)
        given = leaves.given if isinstance(leaves, _Leaves) else leaves
        values = [given[each] if isinstance(each, int) else _value(next(rest), each) for each in self._results]
        return None if not values else values[0] if len(values) == 1 else tuple(values)


def _value(result: object, number: Number | None) -> object:
    return result if number is None else cast(Any, result).item()
