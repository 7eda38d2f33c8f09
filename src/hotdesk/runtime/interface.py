"""The interface under `Program`: an executable that plans and runs on raw addresses, and the records between the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hotdesk.python.record import Record
from hotdesk.sizes.size import Bounds, Size, represented, spelled

if TYPE_CHECKING:
    from pathlib import Path

    from hotdesk.checker.report import CheckReport
    from hotdesk.explain import Decision, Source
    from hotdesk.report.certificates import Certificate
    from hotdesk.report.memory import Memory, WorstCase
    from hotdesk.report.profile import KernelTimes
    from hotdesk.report.records import BufferLine
    from hotdesk.runtime.plans.layout import Layout


RANDOM_STATE = "hotdesk.random"
"""The name of the tensor of two 64-bit integers, seed and offset, that counts what a program draws."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """An input or result: `dtype` such as `f32`, sizes as numbers, symbols or expressions over symbols.

    `donated` says of an input that a call may overwrite it, `written` that the program computes in it what the caller wants,
    `changed` that a call leaves new contents in the place of those that it reads. `number` is the type of the number that it
    stands for where a call takes or gives one, such as `index`. `counted` says of a result that its sizes are known only when the
    program runs, as it spells them: a call returns a new tensor of these sizes, and a number stands for it in the program.
    `strided` is the type of a memref with a layout of its own that it is the memory of: what lies between the elements stays.
    """

    name: str
    dtype: str
    shape: tuple[Size, ...]
    location: str = ""
    donated: bool = False
    written: bool = False
    number: str = ""
    changed: bool = False
    counted: str = ""
    strided: str = ""

    def __repr__(self) -> str:
        sizes = [spelled(size) for size in self.shape]
        return represented(self, shape=f"({', '.join(sizes)}{',' * (len(sizes) == 1)})")

    def __str__(self) -> str:
        return self.counted or self.strided or self.number or spell(self.dtype, [spelled(size) for size in self.shape])


class Binding(Record):
    """An executable's plan for one value of each symbol, and the layout that it runs by."""

    symbols: Mapping[str, int]
    result_shapes: tuple[tuple[int, ...], ...]
    memory: Memory
    layout: Layout

    @property
    def bytes(self) -> int:
        """About what keeping it takes."""
        return self.layout.bytes


class Details(Record):
    """What there is to tell about a binding.

    Attributes:
        peak_buffers: those in use at the peak, the largest first.
        decisions: what was decided, and why.
        buffers: all of them, in order of first use.
        points: the ops, by the numbers that live ranges are in.
    """

    peak_buffers: tuple[BufferLine, ...]
    decisions: tuple[Decision, ...]
    buffers: tuple[BufferLine, ...]
    points: tuple[Source, ...] = ()


class WeightRange(Record):
    """The memory of a weight: `bytes` bytes from `address`, which the executable reads at every call."""

    name: str
    address: int
    bytes: int


class Executable(Protocol):
    """A compiled program. `bind` is called by one thread at a time, `run` by any number."""

    @property
    def inputs(self) -> tuple[TensorSpec, ...]: ...

    @property
    def results(self) -> tuple[TensorSpec, ...]: ...

    @property
    def constraints(self) -> Bounds:
        """The least and the greatest value of each symbol; `None` stands for no greatest."""
        ...

    @property
    def held(self) -> Mapping[int, int]:
        """The results that lie in the memory of donated inputs, by number, each with the number of the input."""
        ...

    def bind(self, symbols: Mapping[str, int]) -> Binding:
        """Plan for these values of the symbols."""
        ...

    def details(self, binding: Binding) -> Details:
        """What there is to tell about a plan; worked out when asked for."""
        ...

    def certificate(self, binding: Binding) -> Certificate | None:
        """What proves the lower bound of a plan, if anything is known; worked out when asked for."""
        ...

    @property
    def arenas(self) -> int:
        """How many arenas it has made."""
        ...

    @property
    def grown(self) -> int:
        """The most bytes that a call has taken for what is known only when it runs."""
        ...

    @property
    def code_bytes(self) -> int:
        """The memory of its machine code; 0 where that is not known."""
        ...

    @property
    def plans(self) -> tuple[int, bool]:
        """How many plans a search has made for `bind`, and whether one serves all values of the symbols."""
        ...

    def worst(self, ranges: Mapping[str, tuple[int, int]]) -> WorstCase:
        """The most that a call takes, for all values of the symbols in range."""
        ...

    def run(self, binding: Binding, inputs: Sequence[int], results: Sequence[int]) -> None:
        """Run on contiguous tensors at these addresses, which share no byte between inputs, results and weights.

        Inputs may share bytes with one another, unless they are donated. A result that lies in a donated input has the address
        of that. Raises ExecutionError.
        """
        ...

    def profile(self, binding: Binding, inputs: Sequence[int], results: Sequence[int], runs: int) -> KernelTimes:
        """Run once, and then `runs` times taking the time of each kernel. As `run` otherwise."""
        ...


class MemoryCheck(Protocol):
    """Runs a program under the memory checker."""

    def __call__(
        self,
        symbols: Mapping[str, int],
        inputs: Sequence[tuple[int, tuple[int, ...]]],
        results: Sequence[tuple[int, ...]],
    ) -> CheckReport:
        """`inputs` are addresses and shapes of contiguous tensors, `results` the shapes of the results."""
        ...


class Saver(Protocol):
    """Writes a program to files."""

    def save(self, path: str, weights: str, cpu: Sequence[str]) -> None:
        """As `Program.save`."""
        ...

    def export_c(self, folder: str, target: str, name: str) -> tuple[Path, ...]:
        """As `Program.export_c`."""
        ...


class Calling(Protocol):
    """How a Python call becomes tensors and back, as the front end has recorded it."""

    @property
    def parameters(self) -> Sequence[tuple[str, tuple[int, ...]]]:
        """The parameters of a call in order: the name of each, "" if it has none, and the inputs that come in it."""
        ...

    def flatten(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Sequence[object]:
        """The tensors of the call, one for each input. Raises ArgumentCountError."""
        ...

    def unflatten(self, results: Sequence[object], symbols: Mapping[str, int], leaves: Sequence[object]) -> object:
        """What the call returns, given a tensor for each result, the sizes of this call and what `flatten` made of it."""
        ...


def spell(dtype: str, shape: Sequence[object]) -> str:
    """A type as messages show it: `f32[s0, 3]`."""
    return f"{dtype}[{', '.join(str(dim) for dim in shape)}]"
