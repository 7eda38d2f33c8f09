"""Writing functions of vectors: the builder of kernels, with registers, masks and loops that carry several values.

A function's arguments are the operands of given views, as of any kernel, then what it is asked for, in order: pointers
(`memref<element>`), numbers (`index`) and flags (`i1`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from math import log2

from hotdesk.kernels.machine import Machine
from hotdesk.kernels.text import Condition, Index, KernelBuilder, Operand, View


class VectorBuilder(KernelBuilder):
    """Collects the lines of one function on vectors of `element`, as many as a register of `machine` holds."""

    __slots__ = ("element", "lanes", "machine", "vector")

    def __init__(
        self, machine: Machine, element: str, views: Sequence[View] = (), noalias: Sequence[bool] = ()
    ) -> None:
        super().__init__(views, noalias)
        self.machine = machine
        self.element = element
        self.lanes = machine.lanes(element)
        self.vector = f"vector<{self.lanes}x{element}>"

    # Arguments

    def pointer(self, name: str, element: str = "") -> Operand:
        """Memory of the builder's type unless another is named."""
        element = element or self.element
        self._arguments.append(f"%{name}: memref<{element}>")
        return Operand(f"%{name}", self._flat(f"%{name}", element), element, (), ())

    def flag(self, name: str) -> str:
        self._arguments.append(f"%{name}: i1")
        return f"%{name}"

    def arguments(self, names: Sequence[str], elements: Mapping[str, str]) -> tuple[dict[str, str], dict[str, Operand]]:
        """Takes arguments by name: memory of the element types that are named, and numbers; `add` is a truth."""
        numbers, pointers = dict[str, str](), dict[str, Operand]()
        for name in names:
            if name in elements:
                pointers[name] = self.pointer(name, elements[name])
            else:
                numbers[name] = self.flag(name) if name == "add" else self.number(name)
        return numbers, pointers

    def function(self, name: str) -> str:
        """The text of the function; it is never copied into its callers, which would make it many."""

        head = f'func.func @{name}({", ".join(self._arguments)}) attributes {{passthrough = ["noinline"]}} {{'
        return "\n".join([head, *(f"  {line}" for line in self._head), *self._body, "  return", "}", ""])

    def scratch(self, size: int, element: str = "") -> Operand:
        """Elements on the stack, where a line of the cache begins; of the builder's type unless another is named."""
        element = element or self.element
        name, flat = self._name(), self._name()
        kind = f"memref<{size}x{element}>"
        self._head.append(f"{name} = memref.alloca() {{alignment = 64 : i64}} : {kind}")
        self._head.append(f"{flat} = memref.cast {name} : {kind} to memref<?x{element}>")
        bare = self._name()
        self._head.append(
            f"{bare} = memref.reinterpret_cast {name} to offset: [0], sizes: [], strides: [] : {kind} to memref<{element}>"
        )
        return Operand(bare, flat, element, (size,), (1,))

    def take_scratch(self, kind: int, size: Index, otherwise: Operand, unless: Condition = False) -> Operand:
        """A block of so many bytes (`kernels.scratch`); `otherwise` where there is none, or where that will do (`unless`)."""
        memref = f"memref<{self.element}>"

        def taken() -> list[str]:
            given = f"{self.index(kind)}, {self.index(size)}, {otherwise.pointer}"
            return [self.value(f"func.call @hotdesk_take_scratch({given}) : (index, index, {memref}) -> {memref}")]

        if isinstance(unless, bool):
            (found,) = [otherwise.pointer] if unless else taken()
        else:
            (found,) = self.chosen(unless, lambda: [otherwise.pointer], taken, [memref])
        return self.of_pointer(found)

    def give_scratch(self, block: Operand, otherwise: Operand) -> None:
        """Gives a block of scratch memory back."""
        memref = f"memref<{self.element}>"
        self.call_local("hotdesk_give_scratch", [(block.pointer, memref), (otherwise.pointer, memref)])

    def same_memory(self, one: Operand, other: Operand) -> Condition:
        """Whether two pieces of memory begin at the same place."""
        return self.equal(*(self.place(each, 0, 1) for each in (one, other)))

    def place(self, operand: Operand, offset: Index, width: int) -> Index:
        """The address of an element of `width` bytes, as a number."""
        base = self.value(
            f"memref.extract_aligned_pointer_as_index {operand.pointer} : memref<{operand.element}> -> index"
        )
        return self.add(base, self.mul(offset, width))

    def of_pointer(self, pointer: str) -> Operand:
        """Memory that begins at a pointer."""
        flat = self.value(
            f"memref.reinterpret_cast {pointer} to offset: [0], sizes: [{self.index(1 << 48)}], strides: [1]"
            f" : memref<{self.element}> to memref<?x{self.element}>"
        )
        return Operand(pointer, flat, self.element, (), ())

    def call_local(self, symbol: str, arguments: Sequence[tuple[Index | str, str]]) -> None:
        """Calls a function of the same module; arguments with their types."""
        values = [self.index(value) if kind == "index" else str(value) for value, kind in arguments]
        self.line(f"func.call @{symbol}({', '.join(values)}) : ({', '.join(kind for _, kind in arguments)}) -> ()")

    def one_function(self, value: Index, symbols: Mapping[int, str], kinds: Sequence[str]) -> str:
        """The function of the same module, of arguments of these types, whose number a value is; it is one of them."""
        kind = f"({', '.join(kinds)}) -> ()"
        found = self.value(f"scf.index_switch {self.index(value)} -> {kind}")
        last = [*symbols][-1]
        for number, symbol in symbols.items():
            self.line("default {" if number == last else f"case {number} {{")
            self._depth += 1
            self.line(f"scf.yield {self.value(f'func.constant @{symbol} : {kind}')} : {kind}")
            self._depth -= 1
            self.line("}")
        return found

    def call_found(self, function: str, arguments: Sequence[tuple[Index | str, str]]) -> None:
        """Calls a function that `one_function` found; arguments with their types."""
        values = [self.index(value) if kind == "index" else str(value) for value, kind in arguments]
        self.line(
            f"func.call_indirect {function}({', '.join(values)}) : ({', '.join(kind for _, kind in arguments)}) -> ()"
        )

    def load_wide(self, operand: Operand, offset: Index, *, vector: bool = True) -> str:
        """A vector, or else an element, in the builder's type: 16-bit floats become f32."""
        value = self.load_vector(operand, offset) if vector else self.load(operand, offset)
        if operand.element == self.element:
            return value
        return self.widened(value, operand.element, lanes=None if vector else 0)

    def store_or_add(self, value: str, operand: Operand, offset: Index, add: str) -> None:
        """Stores one element; where `add` holds, what is there and the element. 16-bit floats are added in f32."""
        zero = self.constant("0.0", self.element)
        before = self.value(f"scf.if {add} -> ({self.element}) {{")
        self._depth += 1
        self.line(f"scf.yield {self.load_wide(operand, offset, vector=False)} : {self.element}")
        self._depth -= 1
        self.line("} else {")
        self.line(f"  scf.yield {zero} : {self.element}")
        self.line("}")
        total = self.value(f"arith.addf {before}, {value} : {self.element}")
        narrow = operand.element != self.element
        self.store(self.narrowed(total, operand.element, lanes=0) if narrow else total, operand, offset)

    # Vectors

    def zeros(self) -> str:
        return self.constant("dense<0.0>", self.vector)

    def load_vector(self, operand: Operand, offset: Index) -> str:
        kinds = f"memref<?x{operand.element}>, vector<{self.lanes}x{operand.element}>"
        return self.value(f"vector.load {operand.flat}[{self.index(offset)}] : {kinds}")

    def store_vector(self, value: str, operand: Operand, offset: Index) -> None:
        kinds = f"memref<?x{operand.element}>, vector<{self.lanes}x{operand.element}>"
        self.line(f"vector.store {value}, {operand.flat}[{self.index(offset)}] : {kinds}")

    @property
    def integers(self) -> str:
        """A small whole number for each lane, as masks are kept in memory."""
        return f"vector<{self.lanes}xi8>"

    def store_lanes(self, first: Index, stop: Index, operand: Operand, offset: Index) -> None:
        """Stores a vector of `integers` for `load_lanes`: negative in the lanes from `first` up to `stop`, which fit them."""
        kind = self.integers
        element = kind[kind.index("x") + 1 : -1]
        numbers = self.constant(f"dense<{list(range(self.lanes))}>", kind)
        low, high = (
            self.value(f"vector.broadcast {self._cast(bound, element)} : {element} to {kind}")
            for bound in (first, stop)
        )
        below = self.value(f"arith.subi {numbers}, {high} : {kind}")
        above = self.value(
            f"arith.subi {low}, {self.value(f'arith.addi {numbers}, {self._ones(kind)} : {kind}')} : {kind}"
        )
        both = self.value(f"arith.andi {below}, {above} : {kind}")
        self.line(f"vector.store {both}, {operand.flat}[{self.index(offset)}] : memref<?x{element}>, {kind}")

    def _ones(self, kind: str) -> str:
        return self.constant("dense<1>", kind)

    def _cast(self, value: Index, element: str) -> str:
        return self.value(f"arith.index_cast {self.index(value)} : index to {element}")

    def load_lanes(self, operand: Operand, offset: Index, masks: Operand, mask: Index, otherwise: str) -> str:
        """The lanes of a vector that a mask of `store_lanes` names; the others are those of `otherwise`, and are not read.

        16-bit floats become f32.
        """
        kind = self.integers
        bits = self.value(f"vector.load {masks.flat}[{self.index(mask)}] : memref<?x{masks.element}>, {kind}")
        zero = self.constant("dense<0>", kind)
        chosen = self.value(f"arith.cmpi slt, {bits}, {zero} : {kind}")
        if operand.element != self.element:
            found = self.load_masked_wide(operand, offset, chosen)
            return self.value(f"arith.select {chosen}, {found}, {otherwise} : vector<{self.lanes}xi1>, {self.vector}")
        place = f"{operand.flat}[{self.index(offset)}], {chosen}, {otherwise}"
        kinds = f"memref<?x{self.element}>, vector<{self.lanes}xi1>, {self.vector} into {self.vector}"
        return self.value(f"vector.maskedload {place} : {kinds}")

    def first_lanes(self, count: Index, lanes: int = 0) -> str:
        """The mask of so many lanes, from the first on: none where `count` is negative, all where it is more than there are."""
        return self.value(f"vector.create_mask {self.index(count)} : vector<{lanes or self.lanes}xi1>")

    def load_masked(self, operand: Operand, offset: Index, mask: str) -> str:
        """The lanes that a mask names, and zeros, for which nothing is read."""
        memory, element = self._moved_as(operand)
        vector = f"vector<{self.lanes}x{element}>"
        none = self.constant("dense<0>" if element == "i16" else "dense<0.0>", vector)
        kinds = f"memref<?x{element}>, vector<{self.lanes}xi1>, {vector} into {vector}"
        value = self.value(f"vector.maskedload {memory}[{self.index(offset)}], {mask}, {none} : {kinds}")
        return self._bits_as(value, element, operand.element)

    def _moved_as(self, operand: Operand) -> tuple[str, str]:
        """The memory of an operand, and the type that some of its lanes are moved as: LLVM would move bf16 by way of f32."""
        if operand.element != "bf16":
            return operand.flat, operand.element
        return self.as_elements(operand, "i16").flat, "i16"

    def as_elements(self, operand: Operand, element: str) -> Operand:
        """The same memory as elements of another type."""
        pointer, flat = (
            self.value(
                f"builtin.unrealized_conversion_cast {name} : memref<{size}{operand.element}> to memref<{size}{element}>"
            )
            for name, size in ((operand.pointer, ""), (operand.flat, "?x"))
        )
        return Operand(pointer, flat, element, (), ())

    def _bits_as(self, value: str, element: str, other: str) -> str:
        """The bits of a vector as another type of the same length."""
        if element == other:
            return value
        return self.value(f"arith.bitcast {value} : vector<{self.lanes}x{element}> to vector<{self.lanes}x{other}>")

    def load_masked_wide(self, operand: Operand, offset: Index, mask: str) -> str:
        """The same in the builder's type: 16-bit floats become f32."""
        value = self.load_masked(operand, offset, mask)
        return value if operand.element == self.element else self.widened(value, operand.element)

    def store_masked(self, value: str, operand: Operand, offset: Index, mask: str) -> None:
        """Stores the lanes that a mask names; what the others would lie in is not touched."""
        memory, element = self._moved_as(operand)
        value = self._bits_as(value, operand.element, element)
        kinds = f"memref<?x{element}>, vector<{self.lanes}xi1>, vector<{self.lanes}x{element}>"
        self.line(f"vector.maskedstore {memory}[{self.index(offset)}], {mask}, {value} : {kinds}")

    def store_some(
        self, values: Sequence[str], operand: Operand, places: Sequence[Index], count: Index, *, add: bool = False
    ) -> None:
        """Stores the first `count` lanes of vectors, each at its place, or adds them to what is there; nothing else is touched.

        Where masks cost something (some processors take a dozen cycles for a store under one): as a half of a vector, a quarter
        and so on, as far as there are lanes.
        """
        if self.machine.cheap_masks:
            mask = self.first_lanes(count)
            for value, place in zip(values, places, strict=True):
                total = self.add_vectors(self.load_masked(operand, place, mask), value) if add else value
                self.store_masked(total, operand, place, mask)
            return
        memory, element = self._moved_as(operand)
        values = [self._bits_as(value, operand.element, element) for value in values]

        def stored(values: Sequence[str], lanes: int, begun: Index) -> None:
            kind = f"vector<{lanes}x{element}>"
            for value, place in zip(values, places, strict=True):
                at = f"{memory}[{self.index(self.add(place, begun))}] : memref<?x{element}>, {kind}"
                if add:
                    value = self.value(f"arith.addf {self.value(f'vector.load {at}')}, {value} : {kind}")
                self.line(f"vector.store {value}, {at}")

        def parts(values: Sequence[str], lanes: int, begun: Index, left: Index) -> None:
            """Fewer lanes than there are are left, none of which is stored."""
            if lanes == 1:
                return
            half = lanes // 2
            whole, kind = f"vector<{lanes}x{element}>", f"vector<{half}x{element}>"

            def cut(value: str, start: int) -> str:
                lanes_of = [*range(start, start + half)]
                return self.value(f"vector.shuffle {value}, {value} {lanes_of} : {whole}, {whole}")

            def first() -> list[str]:
                stored([cut(value, 0) for value in values], half, begun)
                rest = [cut(value, half) for value in values]
                return [*rest, self.index(self.add(begun, half)), self.index(self.sub(left, half))]

            def none() -> list[str]:
                return [*(cut(value, 0) for value in values), self.index(begun), self.index(left)]

            *rest, begun, left = self.chosen(
                self.at_least(left, half), first, none, [kind] * len(values) + ["index"] * 2
            )
            parts(rest, half, begun, left)

        self.branch(
            self.at_least(count, self.lanes),
            lambda: stored(values, self.lanes, 0),
            lambda: parts(values, self.lanes, 0, self.index(count)),
        )

    def store_first(self, value: str, count: int, operand: Operand, offset: Index) -> None:
        """Stores so many lanes, from the first on, at least half of them: the two ends of these, without a mask."""
        half, element = self.lanes // 2, operand.element
        whole, part = f"vector<{self.lanes}x{element}>", f"vector<{half}x{element}>"
        for start in (0, count - half):
            lanes = [*range(start, start + half)]
            end = self.value(f"vector.shuffle {value}, {value} {lanes} : {whole}, {whole}")
            place = self.index(self.add(offset, start))
            self.line(f"vector.store {end}, {operand.flat}[{place}] : memref<?x{element}>, {part}")

    def lanes_between(self, first: Index, stop: Index, lanes: int = 0) -> str:
        """The mask of the lanes from the first up to `stop`, as far as there are such."""
        kind = f"vector<{lanes or self.lanes}xi1>"
        before = self.first_lanes(first, lanes)
        behind = self.value(f"arith.xori {before}, {self.constant('dense<true>', kind)} : {kind}")
        return self.value(f"arith.andi {self.first_lanes(stop, lanes)}, {behind} : {kind}")

    def all_or_none(self, mask: str, condition: Condition) -> str:
        """The mask where the condition holds; else no lane."""
        kind = f"vector<{self.lanes}xi1>"
        every = self.value(f"vector.broadcast {condition} : i1 to {kind}")
        return self.value(f"arith.andi {mask}, {every} : {kind}")

    def more(self, index: Index, other: Index) -> Condition:
        """Whether an index is more than another."""
        return self.value(f"arith.cmpi sgt, {self.index(index)}, {self.index(other)} : index")

    def within(self, index: Index, size: Index) -> Condition:
        """Whether an index is one of those from 0 up to a size."""
        return self.value(f"arith.cmpi ult, {self.index(index)}, {self.index(size)} : index")

    def every_other(self, first: str, second: str, *, start: int = 0) -> str:
        """The elements of even number of two vectors in a row; with `start` 1 those of odd number."""
        return self._shuffle(first, second, range(start, 2 * self.lanes, 2))

    def every_third(self, first: str, second: str, third: str) -> list[str]:
        """The elements of three vectors in a row whose numbers are 0, 1 and 2 modulo 3."""
        found: list[str] = []
        for start in range(3):
            places = list(range(start, 3 * self.lanes, 3))
            two = self._shuffle(first, second, [place if place < 2 * self.lanes else 0 for place in places])
            rest = [place - self.lanes if place >= 2 * self.lanes else lane for lane, place in enumerate(places)]
            found.append(self._shuffle(two, third, rest))
        return found

    def interleaved(self, first: str, second: str) -> tuple[str, str]:
        """The elements of two vectors by turns: two vectors in a row."""
        places = [place for lane in range(self.lanes) for place in (lane, self.lanes + lane)]
        low, high = places[: self.lanes], places[self.lanes :]
        return self._shuffle(first, second, low), self._shuffle(first, second, high)

    def prefetch(self, operand: Operand, offset: Index, *, write: bool) -> None:
        """Asks for a line of memory that will be wanted. It need not belong to anybody: a prefetch never fails."""
        kind = f"{'write' if write else 'read'}, locality<3>, data : memref<?x{self.element}>"
        self.line(f"memref.prefetch {operand.flat}[{self.index(offset)}], {kind}")

    def prefetch_far(self, address: str, *, few: bool = False) -> None:
        """Asks for the line of an address, an `i64`, to be brought into the second cache, which leaves the first as it is.

        Nothing is asked for where the machine cannot do that (`Machine.far_prefetch`), as what is near is worth more, unless it
        is `few` lines, which displace little.
        """
        if not (few or self.machine.far_prefetch):
            return
        pointer = self.value(f"llvm.inttoptr {address} : i64 to !llvm.ptr")
        self.line(
            f'"llvm.intr.prefetch"({pointer}) <{{rw = 0 : i32, hint = 2 : i32, cache = 1 : i32}}> : (!llvm.ptr) -> ()'
        )

    def broadcast(self, scalar: str) -> str:
        return self.value(f"vector.broadcast {scalar} : {self.element} to {self.vector}")

    def hidden(self, number: str) -> str:
        """The same `i64`, of which the compiler no longer knows how it was computed, so that it is kept in a register.

        Without it, addresses that are some strides apart become a chain of sums between the products of a tile, and the rows that
        the chain reads early push the tile's sums out of the registers.
        """
        return self.value(f'llvm.inline_asm asm_dialect = att "", "=r,0" {number} : (i64) -> i64')

    def hidden_index(self, index: Index) -> str:
        """The same index, in the same way."""
        return self.value(f"arith.index_cast {self.hidden(self.integer(index))} : i64 to index")

    def load_at(self, address: str) -> str:
        """The element at an address, an `i64`."""
        pointer = self.value(f"llvm.inttoptr {address} : i64 to !llvm.ptr")
        alignment = self.machine.vector_bytes // self.lanes
        return self.value(f"llvm.load {pointer} {{alignment = {alignment} : i64}} : !llvm.ptr -> {self.element}")

    def moved_address(self, address: str, offset: int) -> str:
        """The address some bytes behind another."""
        return self.add_addresses(address, self.constant(str(offset), "i64")) if offset else address

    def add_addresses(self, first: str, second: str) -> str:
        return self.value(f"arith.addi {first}, {second} : i64")

    def widened(self, value: str, element: str, *, lanes: int | None = None) -> str:
        """16-bit floats in f32; one alone where `lanes` is 0."""
        half, single = (self._many(kind, lanes) for kind in (element, "f32"))
        if element == "f16":
            return self.value(f"arith.extf {value} : {half} to {single}")
        short, bits = (self._many(kind, lanes) for kind in ("i16", "i32"))
        number = self.value(
            f"arith.extui {self.value(f'arith.bitcast {value} : {half} to {short}')} : {short} to {bits}"
        )
        high = self.value(f"arith.shli {number}, {self._filled(16, bits)} : {bits}")
        return self.value(f"arith.bitcast {high} : {bits} to {single}")

    def load_pairs(self, operand: Operand, offset: Index) -> str:
        """Twice as many 16-bit floats as there are lanes, two in each: a vector of the builder's type, f32, only by its bits."""
        pairs = f"vector<{2 * self.lanes}x{operand.element}>"
        found = self.value(f"vector.load {operand.flat}[{self.index(offset)}] : memref<?x{operand.element}>, {pairs}")
        return self.value(f"vector.bitcast {found} : {pairs} to {self.vector}")

    def load_first_pairs(self, operand: Operand, offset: Index, count: Index) -> str:
        """The same of the first `count` 16-bit floats, and zeros, for which nothing is read."""
        low, high = (
            self.load_masked(operand, self.add(offset, first), self.first_lanes(self.sub(count, first)))
            for first in (0, self.lanes)
        )
        half, pairs = (f"vector<{lanes}x{operand.element}>" for lanes in (self.lanes, 2 * self.lanes))
        found = self.value(f"vector.shuffle {low}, {high} {[*range(2 * self.lanes)]} : {half}, {half}")
        return self.value(f"vector.bitcast {found} : {pairs} to {self.vector}")

    def load_line(self, operand: Operand, offset: Index, mask: str) -> str:
        """The 16-bit floats of a whole register that a mask of twice as many lanes names, and zeros: their bits."""
        line = f"vector<{2 * self.lanes}xi16>"
        memory, none = self.as_elements(operand, "i16").flat, self.constant("dense<0>", line)
        kinds = f"memref<?xi16>, vector<{2 * self.lanes}xi1>, {line} into {line}"
        return self.value(f"vector.maskedload {memory}[{self.index(offset)}], {mask}, {none} : {kinds}")

    def pairs_of(self, line: str, places: Sequence[tuple[int, int | None]]) -> str:
        """Elements of a `load_line`, two in each lane, by their numbers; 0 for none."""
        whole = f"vector<{2 * self.lanes}xi16>"
        numbers = [2 * self.lanes if each is None else each for pair in places for each in pair]
        none = self.constant("dense<0>", whole)
        found = self.value(f"vector.shuffle {line}, {none} {numbers} : {whole}, {whole}")
        return self.value(f"vector.bitcast {found} : {whole} to {self.vector}")

    def load_alone(self, operand: Operand, offset: Index, mask: str) -> str:
        """The 16-bit floats that a mask names, one in each lane beside 0, and zeros."""
        short, bits = self._many("i16", None), self._many("i32", None)
        found = self.load_masked(self.as_elements(operand, "i16"), offset, mask)
        return self.value(
            f"arith.bitcast {self.value(f'arith.extui {found} : {short} to {bits}')} : {bits} to {self.vector}"
        )

    def broadcast_pair(self, operand: Operand, first: Index, second: Index | None) -> str:
        """Two 16-bit floats in each lane; 0 for none."""
        memory, bits = self.as_elements(operand, "i16"), self._many("i32", None)
        both = self.value(f"arith.extui {self.load(memory, first)} : i16 to i32")
        if second is not None:
            high = self.value(f"arith.extui {self.load(memory, second)} : i16 to i32")
            upper = self.value(f"arith.shli {high}, {self._filled(16, 'i32')} : i32")
            both = self.value(f"arith.ori {both}, {upper} : i32")
        many = self.value(f"vector.broadcast {both} : i32 to {bits}")
        return self.value(f"arith.bitcast {many} : {bits} to {self.vector}")

    def paired(self, first: str, second: str, element: str) -> str:
        """Two vectors of 16-bit floats, two in each lane."""
        short, bits, half = (self._many(kind, None) for kind in ("i16", "i32", element))
        low, high = (
            self.value(f"arith.extui {self.value(f'arith.bitcast {each} : {half} to {short}')} : {short} to {bits}")
            for each in (first, second)
        )
        upper = self.value(f"arith.shli {high}, {self._filled(16, bits)} : {bits}")
        both = self.value(f"arith.ori {low}, {upper} : {bits}")
        return self.value(f"arith.bitcast {both} : {bits} to {self.vector}")

    def widened_pairs(self, value: str, element: str) -> tuple[str, str]:
        """The first of the two 16-bit floats in each lane, and the second, in f32."""
        bits = self._many("i32", None)
        number = self.value(f"arith.bitcast {value} : {self.vector} to {bits}")
        by = self._filled(16, bits)
        if element == "bf16":
            upper = self._filled(-(1 << 16), bits)
            found = (f"arith.shli {number}, {by}", f"arith.andi {number}, {upper}")
            first, second = (
                self.value(f"arith.bitcast {self.value(f'{each} : {bits}')} : {bits} to {self.vector}")
                for each in found
            )
            return first, second
        short, half = self._many("i16", None), self._many(element, None)
        shifted = self.value(f"arith.shrui {number}, {by} : {bits}")
        cut = (self.value(f"arith.trunci {each} : {bits} to {short}") for each in (number, shifted))
        first, second = (self.widened(self.value(f"arith.bitcast {each} : {short} to {half}"), element) for each in cut)
        return first, second

    def narrowed(self, value: str, element: str, *, lanes: int | None = None) -> str:
        """Numbers of f32 as 16-bit floats, rounded to the nearest, or to the even one; one alone where `lanes` is 0."""
        half, single = (self._many(kind, lanes) for kind in (element, "f32"))
        if element == "f16":
            return self.value(f"arith.truncf {value} : {single} to {half}")
        short, bits, truths = (self._many(kind, lanes) for kind in ("i16", "i32", "i1"))
        number = self.value(f"arith.bitcast {value} : {single} to {bits}")
        upper = self.value(f"arith.shrui {number}, {self._filled(16, bits)} : {bits}")
        odd = self.value(f"arith.andi {upper}, {self._filled(1, bits)} : {bits}")
        step = self.value(f"arith.addi {odd}, {self._filled(32767, bits)} : {bits}")
        moved = self.value(f"arith.addi {number}, {step} : {bits}")
        rounded = self.value(f"arith.shrui {moved}, {self._filled(16, bits)} : {bits}")
        quiet = self.value(f"arith.ori {upper}, {self._filled(64, bits)} : {bits}")
        none = self.value(f"arith.cmpf uno, {value}, {value} : {single}")
        kinds = bits if lanes == 0 else f"{truths}, {bits}"
        chosen = self.value(f"arith.select {none}, {quiet}, {rounded} : {kinds}")
        cut = self.value(f"arith.trunci {chosen} : {bits} to {short}")
        return self.value(f"arith.bitcast {cut} : {short} to {half}")

    def all_narrowed(self, values: Sequence[str], element: str) -> list[str]:
        """Vectors of f32 as 16-bit floats, rounded in the same way: by an instruction for it where no number is subnormal."""
        if element != "bf16" or not self.machine.bf16_round:
            return [self.narrowed(value, element) for value in values]
        half, short, truths = (self._many(kind, None) for kind in (element, "i16", "i1"))
        subnormal = self.constant("32", "i32")
        found = [
            self.value(
                f'llvm.call_intrinsic "{self.machine.subnormal}"({each}, {subnormal}) : ({self.vector}, i32) -> {truths}'
            )
            for each in values
        ]

        some = reduce(lambda one, other: self.value(f"arith.ori {one}, {other} : {truths}"), found)
        some = self.value(f"vector.reduction <or>, {some} : {truths} into i1")

        def quick(value: str) -> str:
            return self.value(f'llvm.call_intrinsic "{self.machine.bf16_round}"({value}) : ({self.vector}) -> {half}')

        def bits(round_: Callable[[str], str]) -> list[str]:
            return [self.value(f"arith.bitcast {round_(each)} : {half} to {short}") for each in values]

        chosen = self.chosen(
            some, lambda: bits(lambda each: self.narrowed(each, element)), lambda: bits(quick), [short] * len(values)
        )
        return [self.value(f"arith.bitcast {each} : {short} to {half}") for each in chosen]

    def _many(self, kind: str, lanes: int | None) -> str:
        return kind if lanes == 0 else f"vector<{self.lanes}x{kind}>"

    def _filled(self, number: int, kind: str) -> str:
        return self.constant(f"dense<{number}>" if kind.startswith("vector") else str(number), kind)

    def multiply_add(self, a: str, b: str, to: str) -> str:
        if self.machine.fma:
            return self.value(f"math.fma {a}, {b}, {to} : {self.vector}")
        return self.add_vectors(self.value(f"arith.mulf {a}, {b} : {self.vector}"), to)

    def add_pairs(self, a: str, b: str, to: str) -> str:
        """`to` and, in each lane, the products of the two bf16 that lie in it in a and in b (`Machine.bf16_dot`)."""
        pairs = f"vector<{2 * self.lanes}xbf16>"
        both = (self.value(f"vector.bitcast {each} : {self.vector} to {pairs}") for each in (a, b))
        kinds = f"({self.vector}, {pairs}, {pairs}) -> {self.vector}"
        return self.value(f'llvm.call_intrinsic "{self.machine.bf16_dot}"({to}, {", ".join(both)}) : {kinds}')

    # Tiles: registers of a matrix unit, by their numbers (`Machine.tiles`)

    def configure_tiles(self, address: Index) -> None:
        """Makes all tiles zeros of the shapes that 64 bytes at an address say."""
        self._tile_op("ldtilecfg", [], [(self._pointer_at(address), "!llvm.ptr")])

    def release_tiles(self) -> None:
        """Gives the tiles up: they need not be kept for this thread any more."""
        self._tile_op("tilerelease", [], [])

    def clear_tile(self, tile: int) -> None:
        self._tile_op("tilezero", [tile], [])

    def load_tile(self, tile: int, address: Index, row: Index) -> None:
        """Loads a tile from rows that are so many bytes apart."""
        self._tile_op("tileloadd64", [tile], self._rows_of_tile(address, row))

    def store_tile(self, tile: int, address: Index, row: Index) -> None:
        """Stores a tile to rows that are so many bytes apart."""
        self._tile_op("tilestored64", [tile], self._rows_of_tile(address, row))

    def multiply_tiles(self, to: int, a: int, b: int) -> None:
        """Adds to a tile of f32 the product of one of bf16 and one of pairs of them."""
        self._tile_op("tdpbf16ps", [to, a, b], [])

    def _rows_of_tile(self, address: Index, row: Index) -> list[tuple[str, str]]:
        return [(self._pointer_at(address), "!llvm.ptr"), (self.integer(row), "i64")]

    def _pointer_at(self, address: Index) -> str:
        return self.value(f"llvm.inttoptr {self.integer(address)} : i64 to !llvm.ptr")

    def _tile_op(self, name: str, tiles: Sequence[int], others: Sequence[tuple[str, str]]) -> None:
        given = [(self.constant(str(tile), "i8"), "i8") for tile in tiles] + list(others)
        values, kinds = (", ".join(each[i] for each in given) for i in range(2))
        self.line(f'llvm.call_intrinsic "llvm.x86.{name}"({values}) : ({kinds}) -> ()')

    def add_vectors(self, a: str, b: str) -> str:
        return self.value(f"arith.addf {a}, {b} : {self.vector}")

    def subtract_vectors(self, a: str, b: str) -> str:
        return self.value(f"arith.subf {a}, {b} : {self.vector}")

    def weighted(self, values: Sequence[str], weights: Sequence[Fraction]) -> str:
        """The sum of vectors times numbers, of which some are not 0; those times 1 or -1 are not multiplied."""
        terms = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight]
        terms.sort(key=lambda term: (term[1] != 1, abs(term[1]) != 1))
        (total, first), *rest = terms
        if first != 1:
            total = self.value(f"arith.mulf {total}, {self._number(first)} : {self.vector}")
        for value, weight in rest:
            if abs(weight) == 1:
                total = self.add_vectors(total, value) if weight > 0 else self.subtract_vectors(total, value)
            else:
                total = self.multiply_add(value, self._number(weight), total)
        return total

    def _number(self, value: Fraction) -> str:
        return self.constant(f"dense<{float(value)!r}>", self.vector)

    def total(self, value: str) -> str:
        """The sum of a vector's elements, halves first."""
        return self.value(f"vector.reduction <add>, {value} fastmath<reassoc> : {self.vector} into {self.element}")

    def transpose(self, rows: Sequence[str]) -> list[str]:
        """As many vectors as each has lanes, element j of vector i and element i of vector j changed about."""
        current = list(rows)
        for level in range(int(log2(self.lanes))):
            apart = 1 << level
            for i in range(self.lanes):
                if i & apart:
                    continue
                first, second = current[i], current[i + apart]
                low = [j if not j & apart else self.lanes + j - apart for j in range(self.lanes)]
                high = [j + apart if not j & apart else self.lanes + j for j in range(self.lanes)]
                current[i], current[i + apart] = (self._shuffle(first, second, each) for each in (low, high))
        return current

    def _shuffle(self, a: str, b: str, places: Sequence[int]) -> str:
        return self.value(f"vector.shuffle {a}, {b} {list(places)} : {self.vector}, {self.vector}")

    # Control flow

    @contextmanager
    def steps(self, start: Index, stop: Index, step: Index) -> Generator[Index, None, None]:
        """A loop whose step, at least 1, is known only at run time."""
        name = self._name()
        self.line(f"scf.for {name} = {self.index(start)} to {self.index(stop)} step {self.index(step)} {{")
        self._depth += 1
        yield name
        self._depth -= 1
        self.line("}")

    def switch(self, value: Index, cases: Sequence[int], body: Callable[[int], None]) -> None:
        """`body(value)` for a value that is one of the cases."""
        self.line(f"scf.index_switch {self.index(value)}")
        for case in cases:
            self.line("default {" if case == cases[-1] else f"case {case} {{")
            self._depth += 1
            body(case)
            self._depth -= 1
            self.line("}" if case == cases[-1] else "scf.yield }")

    def first_of(self, ways: Sequence[tuple[Condition, Callable[[], None]]], otherwise: Callable[[], None]) -> None:
        """The first of the ways whose condition holds."""
        if not ways:
            otherwise()
            return
        (condition, way), *rest = ways
        self.branch(condition, way, lambda: self.first_of(rest, otherwise))

    def chosen(
        self, condition: Condition, yes: Callable[[], list[str]], no: Callable[[], list[str]], kinds: Sequence[str]
    ) -> list[str]:
        """The values of these types that `yes()` gives where the condition holds, else those of `no()`."""
        types = ", ".join(kinds)
        result = self.several(f"scf.if {condition} -> ({types}) {{", len(kinds))
        for way, end in ((yes, "} else {"), (no, "}")):
            self._depth += 1
            self.line(f"scf.yield {', '.join(way())} : {types}")
            self._depth -= 1
            self.line(end)
        return result

    def carry(
        self,
        start: Index,
        stop: Index,
        step: int,
        initial: Sequence[str],
        body: Callable[[Index, list[str]], list[str]],
        addresses: Sequence[str] = (),
    ) -> list[str]:
        """The last values of a loop that turns vectors, then `i64` addresses, into the next by `body(index, values)`."""
        index, result = self._name(), self._name()
        values = (*initial, *addresses)
        carried = [self._name() for _ in values]
        kinds = ", ".join([self.vector] * len(initial) + ["i64"] * len(addresses))
        arguments = ", ".join(f"{name} = {value}" for name, value in zip(carried, values, strict=True))
        self.line(
            f"{result}:{len(values)} = scf.for {index} = {self.index(start)} to {self.index(stop)}"
            f" step {self.index(step)} iter_args({arguments}) -> ({kinds}) {{"
        )
        self._depth += 1
        self.line(f"scf.yield {', '.join(body(index, carried))} : {kinds}")
        self._depth -= 1
        self.line("}")
        return [f"{result}#{i}" for i in range(len(values))]
