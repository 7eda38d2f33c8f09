"""Writing the text of a kernel: views of operands, loops and branches, memory. What they compute with is in `values`.

A kernel is one `func.func` named `@KERNEL`. Its arguments are one bare pointer per operand (`memref<element>`), then one
`index` for each None in the operands' views, operand by operand, sizes before strides.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hotdesk.kernels.values import Condition, Index, Values

_UNBOUNDED = 1 << 48  # elements: more than any address space holds


@dataclass(frozen=True, slots=True)
class View:
    """Strided memory: element type, sizes and strides in elements; None stands for what is known only at run time."""

    element: str
    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...]

    def __post_init__(self) -> None:
        if len(self.sizes) != len(self.strides):
            raise ValueError(f"view: expected as many strides as sizes, got {len(self.strides)} and {len(self.sizes)}")

    @property
    def unknowns(self) -> int:
        """How many `index` arguments the view adds to a kernel."""
        return self.sizes.count(None) + self.strides.count(None)

    def only(self, dims: Sequence[int]) -> View:
        """The same memory by these dims alone, of which others have one element."""
        return View(self.element, tuple(self.sizes[dim] for dim in dims), tuple(self.strides[dim] for dim in dims))


@dataclass(frozen=True, slots=True)
class KernelText:
    """A function named `@KERNEL`, and the declarations of the functions it calls."""

    text: str
    declarations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """A view inside a kernel: `pointer` is the argument, `flat` its memory as one unbounded row of elements."""

    pointer: str
    flat: str
    element: str
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]


class KernelBuilder(Values):
    """Collects the lines of one kernel.

    Values that do not depend on a loop (arguments, constants, stack tiles) go to the head of the function; everything
    else goes where the builder stands.
    """

    __slots__ = ("_arguments", "_declarations", "operands")

    def __init__(self, views: Sequence[View], noalias: Sequence[bool]) -> None:
        if len(views) != len(noalias):
            raise ValueError(f"kernel: expected {len(views)} noalias flags, got {len(noalias)}")
        super().__init__()
        self._declarations: dict[str, None] = {}
        self._arguments = [
            f"%p{i}: memref<{view.element}>{' {llvm.noalias}' if alone else ''}"
            for i, (view, alone) in enumerate(zip(views, noalias, strict=True))
        ]
        self.operands = tuple(self._operand(i, view) for i, view in enumerate(views))

    def _operand(self, number: int, view: View) -> Operand:
        def known(value: int | None) -> Index:
            if value is not None:
                return value
            name = f"%d{sum(argument.startswith('%d') for argument in self._arguments)}"
            self._arguments.append(f"{name}: index")
            return name

        sizes = tuple(known(size) for size in view.sizes)
        strides = tuple(known(stride) for stride in view.strides)
        return Operand(f"%p{number}", self._flat(f"%p{number}", view.element), view.element, sizes, strides)

    def _flat(self, pointer: str, element: str) -> str:
        name = self._name()
        self._head.append(
            f"{name} = memref.reinterpret_cast {pointer} to offset: [0], sizes: [{self.index(_UNBOUNDED)}], strides: [1]"
            f" : memref<{element}> to memref<?x{element}>"
        )
        return name

    def workspace(self, element: str) -> Operand:
        """One more operand, `%pW`: scratch memory of the caller's, disjoint from everything. Call it last, once."""
        self._arguments.append(f"%pW: memref<{element}> {{llvm.noalias}}")
        return Operand("%pW", self._flat("%pW", element), element, (), ())

    def number(self, name: str) -> str:
        """One more argument, an `index`."""
        self._arguments.append(f"%{name}: index")
        return f"%{name}"

    def stack(self, element: str, size: int) -> Operand:
        """A row of `size` elements on the stack."""
        name = self._name()
        self._head.append(f"{name} = memref.alloca() : memref<{size}x{element}>")
        flat = self._name()
        self._head.append(f"{flat} = memref.cast {name} : memref<{size}x{element}> to memref<?x{element}>")
        return Operand(name, flat, element, (size,), (1,))

    def finish(self) -> KernelText:
        lines = [f"func.func @KERNEL({', '.join(self._arguments)}) {{"]
        lines += [f"  {line}" for line in self._head]
        lines += self._body
        lines += ["  return", "}"]
        return KernelText("\n".join(lines) + "\n", tuple(self._declarations))

    def call(self, symbol: str, kinds: Sequence[str], arguments: Sequence[str]) -> None:
        """Calls an external function that returns nothing."""
        signature = ", ".join(kinds)
        self._declarations[f"func.func private @{symbol}({signature})"] = None
        self.line(f"func.call @{symbol}({', '.join(arguments)}) : ({signature}) -> ()")

    def share(self, tasks: Index, worth: Index, finer: int) -> None:
        """Has the part of this kernel (`kernels.parts`) do its tasks, in `finer` ranges for each thread that they are worth."""
        own = [argument.split(" {")[0].split(": ") for argument in self._arguments]
        numbers = [self.value(f"arith.index_cast {self.index(n)} : index to i64") for n in (tasks, worth, finer)]
        kinds = ["i64"] * 3 + [kind for _, kind in own]
        self.call("KERNEL_share", kinds, [*numbers, *(name for name, _ in own)])

    # Control flow

    @contextmanager
    def loop(self, start: Index, stop: Index, step: int = 1) -> Generator[Index, None, None]:
        """`for index in range(start, stop, step)`; a range known to have one number is written without a loop."""
        if isinstance(start, int) and isinstance(stop, int) and len(range(start, stop, step)) == 1:
            yield start
            return
        name = self._name()
        self.line(f"scf.for {name} = {self.index(start)} to {self.index(stop)} step {self.index(step)} {{")
        self._depth += 1
        yield name
        self._depth -= 1
        self.line("}")

    @contextmanager
    def loops(self, sizes: Sequence[Index]) -> Generator[tuple[Index, ...], None, None]:
        """A nest of loops from 0, the first size outermost."""
        if not sizes:
            yield ()
            return
        with self.loop(0, sizes[0]) as first, self.loops(sizes[1:]) as rest:
            yield (first, *rest)

    def reduce(
        self, start: Index, stop: Index, step: int, initial: str, kind: str, body: Callable[[Index, str], str]
    ) -> str:
        """The last value of a loop that turns its running value into the next by `body(index, value)`."""
        index, running, result = self._name(), self._name(), self._name()
        self.line(
            f"{result} = scf.for {index} = {self.index(start)} to {self.index(stop)} step {self.index(step)}"
            f" iter_args({running} = {initial}) -> ({kind}) {{"
        )
        self._depth += 1
        self.line(f"scf.yield {body(index, running)} : {kind}")
        self._depth -= 1
        self.line("}")
        return result

    def follow(self, start: Index, step: Callable[[Index], tuple[Condition, Index]]) -> Index:
        """The last of a chain of indices: for each, `step` gives whether there is a next one, and which."""
        current, result, taken = self._name(), self._name(), self._name()
        self.line(f"{result} = scf.while ({current} = {self.index(start)}) : (index) -> index {{")
        self._depth += 1
        more, following = step(current)
        chosen = self.index(self.select(more, following, current))
        self.line(f"scf.condition({more}) {chosen} : index")
        self._depth -= 1
        self.line("} do {")
        self.line(f"^bb0({taken}: index):")
        self.line(f"  scf.yield {taken} : index")
        self.line("}")
        return result

    def branch(self, condition: Condition, yes: Callable[[], None], no: Callable[[], None] | None = None) -> None:
        """`yes()` where the condition holds, else `no()`; a known condition leaves only its side."""
        if isinstance(condition, bool):
            chosen = yes if condition else no
            if chosen is not None:
                chosen()
            return
        self.line(f"scf.if {condition} {{")
        self._depth += 1
        yes()
        self._depth -= 1
        if no is not None:
            self.line("} else {")
            self._depth += 1
            no()
            self._depth -= 1
        self.line("}")

    # Memory

    def load(self, operand: Operand, offset: Index) -> str:
        return self.value(f"memref.load {operand.flat}[{self.index(offset)}] : memref<?x{operand.element}>")

    def store(self, value: str, operand: Operand, offset: Index) -> None:
        self.line(f"memref.store {value}, {operand.flat}[{self.index(offset)}] : memref<?x{operand.element}>")

    def address(self, operand: Operand, offset: Index, width: int) -> str:
        """The address of an element of `width` bytes, as i64: how a C function takes a pointer."""
        base = self.value(
            f"memref.extract_aligned_pointer_as_index {operand.pointer} : memref<{operand.element}> -> index"
        )
        return self.integer(self.add(base, self.mul(offset, width)))

    def integer(self, value: Index) -> str:
        """An index as i64: how a C function takes a number."""
        if isinstance(value, int):
            return self.constant(str(value), "i64")
        return self.value(f"arith.index_cast {value} : index to i64")

    def frozen(self, value: Index) -> Index:
        """An index behind LLVM's `freeze`, which its analysis of loops does not look through.

        For the address that many loads of a loop are near to: loop strength reduction took most of the time for such a kernel.
        """
        if isinstance(value, int):
            return value
        return self.value(f"arith.index_cast {self.value(f'llvm.freeze {self.integer(value)} : i64')} : i64 to index")
