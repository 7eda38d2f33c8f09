"""`select_and_scatter` of StableHLO, the gradient of maximum pooling, as loops over windows that carry the result.

    select_and_scatter(%x, %s, %init) by GE and add   ->   for each window of %x: find the place of its largest element,
                                                           and add the window's element of %s to the result there

1. Elements of a window are compared in row-major order, each with the one selected so far, which stays where the comparison (GE,
   GT, LE or LT of the two) holds: of equal ones GE takes the first and GT the last. What is no number stays for no other element.
2. The result is combined with an element of the source by one op of both that `arith` has, as a scatter's is.
3. Padding of the op itself is never selected. An operand that is padded by a constant, as JAX's is, is not padded in memory where
   the result is read without that padding: what lies there is the constant, and what is selected there is left out.
4. Sizes are known.

Another one raises UnsupportedOpError: the lowering of StableHLO's own passes takes only windows that lie side by side, and gives
elements that are equal in a window other places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.elements import FLOAT_BITS
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.mlir.stablehlo_scatters import combining
from hotdesk.frontends.mlir.stablehlo_writing import bits, is_known, signless, spread, written
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import attributes_of, defining_op, users

_SWAPPED = {"GE": "LE", "GT": "LT", "LE": "GE", "LT": "GT"}


@dataclass(frozen=True, slots=True)
class _Windows:
    """Windows of an operand, dim by dim; `low` is the padding in front, of the op or of the operand."""

    operand: tuple[int, ...]
    source: tuple[int, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    low: tuple[int, ...]

    def by_name(self) -> dict[str, tuple[int, ...]]:
        """What the loops count with."""
        return {
            "size": self.operand,
            "count": self.source,
            "window": self.sizes,
            "stride": self.strides,
            "low": self.low,
        }

    def reaches_out(self, dim: int) -> bool:
        """Whether some window has places outside of the operand along a dim."""
        last = (self.source[dim] - 1) * self.strides[dim] - self.low[dim] + self.sizes[dim]
        return self.low[dim] > 0 or last > self.operand[dim]


def rewrite_selection(op: ir.Operation) -> None:
    """Writes a `select_and_scatter` so.

    Raises:
        UnsupportedOpError: it is of another kind.
    """
    if not all(is_known(each) for each in op.operands):
        raise _refused(op, "known sizes", ", ".join(str(each.type) for each in op.operands))
    operand, source, init = op.operands
    element = element_of(operand.type)
    compared, combined = _comparison(op, element), combining(op.regions[1].blocks[0], element)
    if compared is None:
        raise _refused(op, "elements selected by GE, GT, LE or LT of the two", "another comparison")
    if not combined:
        raise _refused(op, "a sum, a product, the greater or the lesser as what is scattered", "another function")
    padded = _padded(op)
    low = [int(pair[0]) for pair in _pairs(op)]
    results = [op.results[0]]
    if padded is not None:
        operand, results = padded.operands[0], [each.results[0] for each in users(op.results[0])]
        low = _numbers(padded, "edge_padding_low")
    windows = _Windows(
        cast("tuple[int, ...]", tuple(shape_of(operand.type))),
        cast("tuple[int, ...]", tuple(shape_of(source.type))),
        tuple(_numbers(op, "window_dimensions")),
        tuple(_numbers(op, "window_strides")) or (1,) * len(low),
        tuple(low),
    )
    begun = spread(signless(init, op), signless(operand, op).type, op)
    padding = [] if padded is None else [signless(padded.operands[1], op)]
    operands = [signless(operand, op), signless(source, op), begun, *padding]
    made = written(_SelectionLoops(windows, operands, compared, combined).text(), operands, op)
    made = bits(made, element, op) if element.startswith("ui") else made
    for result in results:
        result.replace_all_uses_with(made)
    for each in [] if padded is None else [result.owner for result in results]:
        each.erase()
    op.erase()


def _refused(op: ir.Operation, expected: str, got: str) -> UnsupportedOpError:
    where = python_line(op.location) or None
    return UnsupportedOpError(f"lowering of `{op.name}`", expected=expected, got=got, where=where)


def _comparison(op: ir.Operation, element: str) -> str | None:
    """The op of `arith` that compares the selected element with another one; None for a region of another kind."""
    block = op.regions[0].blocks[0]
    found = defining_op(list(block.operations)[-1].operation.operands[0])
    if (
        found is None
        or found.name != "stablehlo.compare"
        or "TOTALORDER" in str(attributes_of(found).get("compare_type"))
    ):
        return None
    match = re.search(r"comparison_direction (\w+)", str(attributes_of(found)["comparison_direction"]))
    direction, arguments = "" if match is None else match[1], list(block.arguments)
    if direction not in _SWAPPED or list(found.operands) not in (arguments, arguments[::-1]):
        return None
    if list(found.operands) != arguments:
        direction = _SWAPPED[direction]
    if element in FLOAT_BITS:
        return f"arith.cmpf o{direction.lower()},"
    if not re.fullmatch(r"u?i\d+", element):
        return None
    return f"arith.cmpi {'u' if element == 'i1' or element.startswith('u') else 's'}{direction.lower()},"


def _numbers(op: ir.Operation, attribute: str) -> list[int]:
    """The numbers of an attribute, none if there is none."""
    found: Any = attributes_of(op).get(attribute)
    return [] if found is None else [int(each) for each in found]


def _pairs(op: ir.Operation) -> list[tuple[int, int]]:
    """Padding in front of and behind each dim, of the op itself."""
    flat = _numbers(op, "padding") or [0] * (2 * len(_numbers(op, "window_dimensions")))
    return list(zip(flat[::2], flat[1::2], strict=True))


def _padded(op: ir.Operation) -> ir.Operation | None:
    """What pads the operand, where nobody reads the part of the result that lies in the padding."""
    pad = defining_op(op.operands[0])
    if pad is None or pad.name != "stablehlo.pad" or not is_known(pad.operands[0]):
        return None
    sizes, whole = (cast("Sequence[int]", shape_of(each.type)) for each in (pad.operands[0], op.operands[0]))
    low, high, gaps = (_numbers(pad, name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    if any(each < 0 for each in (*low, *high)) or any(gaps) or 0 in sizes or any(map(any, _pairs(op))):
        return None
    cut = {
        "start_indices": low,
        "limit_indices": [a + n for a, n in zip(low, sizes, strict=True)],
        "strides": [1] * len(low),
    }
    readers = users(op.results[0])
    is_cut = [
        each.name == "stablehlo.slice" and all(_numbers(each, key) == cut[key] for key in cut) for each in readers
    ]
    return pad if readers and all(is_cut) and len(whole) == len(low) else None


class _SelectionLoops:
    """The loops as text: over windows outside, over the elements of one inside.

    Operands are what is selected from, what is scattered, what the result begins with and, where there is one, what lies around.
    """

    def __init__(self, windows: _Windows, operands: Sequence[ir.Value], compared: str, combined: str) -> None:
        self._windows, self._compared, self._combined = windows, compared, combined
        self._operand, self._source = (str(each.type) for each in operands[:2])
        self._element, self._pads = element_of(operands[0].type), len(operands) == 4
        self._dims = range(len(windows.sizes))
        self._checked = [d for d in self._dims if windows.reaches_out(d)]
        self._inner = [d for d in self._dims if windows.sizes[d] > 1]
        self._kinds = [self._element, *["index"] * len(self._inner), *["i1"] * bool(self._checked)]

    def text(self) -> str:
        """A function of the operands."""
        lines = ["%n0 = arith.constant 0 : index", "%n1 = arith.constant 1 : index", "%yes = arith.constant true"]
        for name, numbers in self._windows.by_name().items():
            lines += [f"%{name}{d} = arith.constant {numbers[d]} : index" for d in self._dims]
        arguments = [f"%x: {self._operand}", f"%s: {self._source}", f"%made: {self._operand}"]
        if self._pads:
            arguments.append(f"%pad: tensor<{self._element}>")
            lines.append(f"%around = tensor.extract %pad[] : tensor<{self._element}>")
        acc, ends = "%made", list[str]()
        for d in self._dims:
            begun = f"iter_args(%acc{d} = {acc}) -> ({self._operand})"
            lines.append(f"%made{d} = scf.for %o{d} = %n0 to %count{d} step %n1 {begun} {{")
            ends = [f"scf.yield {'%put' if d == self._dims[-1] else f'%made{d + 1}'} : {self._operand}", "}", *ends]
            acc = f"%acc{d}"
        for d in self._dims:
            lines.append(f"%far{d} = arith.muli %o{d}, %stride{d} : index")
            lines.append(f"%base{d} = arith.subi %far{d}, %low{d} : index")
        selecting, selected = self._selection()
        lines += [*selecting, *self._scatter(selected, acc), *ends]
        head = f"func.func private @written({', '.join(arguments)}) -> {self._operand} {{"
        return "\n".join([head, *lines, f"return {'%made0' if self._dims else '%put'} : {self._operand}", "}"])

    def _selection(self) -> tuple[list[str], list[str]]:
        """What goes over the elements of a window; and the one selected, its places along the inner dims, and whether these are
        inside, where they may not be."""
        lines = self._look_at("f", [f"%base{d}" for d in self._dims])
        state = ["%valuef", *(f"%base{d}" for d in self._inner), *["%insidef"] * bool(self._checked)]
        kinds, ends = ", ".join(self._kinds), list[str]()
        for d in self._inner:
            names = [f"%c{number}_{d}" for number in range(len(self._kinds))]
            begun = ", ".join(f"{name} = {value}" for name, value in zip(names, state, strict=True))
            loop = f"scf.for %k{d} = %n0 to %window{d} step %n1 iter_args({begun}) -> ({kinds}) {{"
            lines.append(f"%w{d}:{len(self._kinds)} = {loop}")
            if d != self._inner[0]:
                ends = [f"scf.yield {', '.join(self._results(f'%w{d}#'))} : {kinds}", "}", *ends]
            state = names
        if not self._inner:
            return lines, state
        lines += [f"%p{d} = arith.addi %base{d}, %k{d} : index" for d in self._inner]
        lines += self._look_at("n", [f"%p{d}" if d in self._inner else f"%base{d}" for d in self._dims])
        lines.append(f"%holds = {self._compared} {state[0]}, %valuen : {self._element}")
        stays = "%holds"
        if self._checked and not self._pads:
            lines += [
                f"%stays = arith.andi %holds, {state[-1]} : i1",
                "%out = arith.xori %insiden, %yes : i1",
                "%keeps = arith.ori %stays, %out : i1",
            ]
            stays = "%keeps"
        new = ["%valuen", *(f"%p{d}" for d in self._inner), *["%insiden"] * bool(self._checked)]
        for name, old, other, kind in zip(self._results("%t"), state, new, self._kinds, strict=True):
            lines.append(f"{name} = arith.select {stays}, {old}, {other} : {kind}")
        lines += [f"scf.yield {', '.join(self._results('%t'))} : {kinds}", "}", *ends]
        return lines, self._results(f"%w{self._inner[0]}#")

    def _results(self, name: str) -> list[str]:
        return [f"{name}{number}" for number in range(len(self._kinds))]

    def _look_at(self, mark: str, places: Sequence[str]) -> list[str]:
        """The element at a place, `%valueMARK`, and whether the place is inside, `%insideMARK`, where it may not be."""
        lines, inside, at = list[str](), "%yes", list(places)
        for d in self._checked:
            last = f"%inside{mark}" if d == self._checked[-1] else f"%inside{mark}{d}"
            lines += [
                f"%above{mark}{d} = arith.cmpi sge, {at[d]}, %n0 : index",
                f"%below{mark}{d} = arith.cmpi slt, {at[d]}, %size{d} : index",
                f"%both{mark}{d} = arith.andi %above{mark}{d}, %below{mark}{d} : i1",
                f"%at{mark}{d} = arith.select %both{mark}{d}, {at[d]}, %n0 : index",
                f"{last} = arith.andi {inside}, %both{mark}{d} : i1",
            ]
            inside, at[d] = last, f"%at{mark}{d}"
        read = f"tensor.extract %x[{', '.join(at)}] : {self._operand}"
        if not self._checked or not self._pads:
            return [*lines, f"%value{mark} = {read}"]
        chosen = f"arith.select {inside}, %there{mark}, %around : {self._element}"
        return [*lines, f"%there{mark} = {read}", f"%value{mark} = {chosen}"]

    def _scatter(self, selected: Sequence[str], acc: str) -> list[str]:
        """Combines the element of the source with the result, `%put`, where a window's element was selected."""
        at = dict(zip(self._inner, selected[1:], strict=False))
        where = ", ".join(at.get(d, f"%base{d}") for d in self._dims)
        put = "%there" if self._checked else "%put"
        lines = [
            f"%new = tensor.extract %s[{', '.join(f'%o{d}' for d in self._dims)}] : {self._source}",
            f"%old = tensor.extract {acc}[{where}] : {self._operand}",
            f"%both = {self._combined} %old, %new : {self._element}",
            f"{put} = tensor.insert %both into {acc}[{where}] : {self._operand}",
        ]
        if not self._checked:
            return lines
        begin = f"%put = scf.if {selected[-1]} -> ({self._operand}) {{"
        otherwise = ["} else {", f"scf.yield {acc} : {self._operand}", "}"]
        return [begin, *lines, f"scf.yield {put} : {self._operand}", *otherwise]
