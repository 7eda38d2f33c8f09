"""Scatters of StableHLO as loops over the updates, each written where it belongs unless that is outside.

A scatter sets elements, or adds, multiplies, or takes the greater or the lesser; any other computes the new element from the old
one and the update as its region says, on tensors without dims. Windows that are not wholly inside of the operand are left out, as
StableHLO says. A scatter of several operands, or of open sizes, stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from hotdesk._bindings import ir
from hotdesk.elements import FLOAT_BITS
from hotdesk.frontends.mlir.stablehlo_writing import bits, is_known, signless, take_away, written
from hotdesk.ir.building import clone_with
from hotdesk.ir.functions import called_name
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import attributes_of, defining_op, nested_ops

_OF_REGION = "hotdesk.scatter_region"
"""The function that stands for the region of a scatter while its loops are text."""
_FLOATS = {
    "add": "arith.addf",
    "multiply": "arith.mulf",
    "maximum": "arith.maximumf",
    "minimum": "arith.minimumf",
    "subtract": "arith.subf",
}
_INTEGERS = {
    "add": "arith.addi",
    "multiply": "arith.muli",
    "maximum": "arith.maxsi",
    "minimum": "arith.minsi",
    "subtract": "arith.subi",
    "and": "arith.andi",
    "or": "arith.ori",
    "xor": "arith.xori",
}
_UNSIGNED = {**_INTEGERS, "maximum": "arith.maxui", "minimum": "arith.minui"}
_TRUTHS = {
    "add": "arith.ori",
    "multiply": "arith.andi",
    "maximum": "arith.ori",
    "minimum": "arith.andi",
    "and": "arith.andi",
    "or": "arith.ori",
    "xor": "arith.xori",
}
"""By the op of a scatter, that of `arith` which combines two elements."""


def rewrite_scatter(op: ir.Operation) -> None:
    """Writes a scatter so, if it is of this kind."""
    if len(op.operands) != 3 or not all(is_known(each) for each in op.operands):
        return
    element = element_of(op.operands[0].type)
    known = combining(op.regions[0].blocks[0], element)
    combined = _OF_REGION if known is None else known
    operand, indices, updates = (signless(each, op) for each in op.operands)
    as_index = "arith.index_castui" if element_of(op.operands[1].type).startswith("ui") else "arith.index_cast"
    text = _scattered(_Scatter.of(op), operand.type, indices.type, updates.type, combined, as_index)
    made = written(text, [operand, indices, updates], op)
    if combined == _OF_REGION:
        _put_region(op, cast(ir.Operation, defining_op(made)))
    take_away(op, [made if operand == op.operands[0] else bits(made, element, op)])


def _put_region(op: ir.Operation, loops: ir.Operation) -> None:
    """Puts what a scatter computes where its loops call that."""
    block = op.regions[0].blocks[0]
    *body, end = (each.operation for each in block.operations)
    element = element_of(op.operands[0].type)
    for call in [each for each in nested_ops(loops) if called_name(each) == _OF_REGION]:
        given = [bits(each, element, call) if element.startswith("ui") else each for each in call.operands]
        known: dict[ir.Value, ir.Value] = dict(zip(block.arguments, given, strict=True))
        for each in body:
            clone_with(each, known, ir.InsertionPoint(call))
        take_away(call, [signless(known.get(end.operands[0], end.operands[0]), call)])


def combining(block: ir.Block, element: str) -> str | None:
    """The op of `arith` that combines an element with its update, as a scatter's region says; an empty text where the update is
    taken as it is."""
    old, new = block.arguments
    returned = list(block.operations)[-1].operation.operands[0]
    if returned == new:
        return ""
    maker = defining_op(returned)
    if maker is None or list(maker.operands) not in ([old, new], [new, old]):
        return None
    name = maker.name.removeprefix("stablehlo.")
    if name == "subtract" and list(maker.operands) != [old, new]:
        return None
    known: Mapping[str, str] = (
        _FLOATS
        if element in FLOAT_BITS
        else _TRUTHS
        if element == "i1"
        else _UNSIGNED
        if element.startswith("ui")
        else _INTEGERS
        if re.fullmatch(r"i\d+", element)
        else {}
    )
    return known.get(name)


@dataclass(frozen=True, slots=True)
class _Scatter:
    """`scatter_dimension_numbers`, in the words of StableHLO's specification."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    input_batching_dims: tuple[int, ...]
    scatter_indices_batching_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    index_vector_dim: int

    @classmethod
    def of(cls, op: ir.Operation) -> _Scatter:
        text = str(attributes_of(op)["scatter_dimension_numbers"])

        def dims(name: str) -> tuple[int, ...]:
            found = re.search(rf"\b{name} = \[([\d, ]*)\]", text)
            return () if found is None else tuple(int(each) for each in found[1].split(",") if each.strip())

        vector = re.search(r"index_vector_dim = (\d+)", text)
        return cls(
            dims("update_window_dims"),
            dims("inserted_window_dims"),
            dims("input_batching_dims"),
            dims("scatter_indices_batching_dims"),
            dims("scatter_dims_to_operand_dims"),
            0 if vector is None else int(vector[1]),
        )


def _scattered(
    dims: _Scatter, operand: ir.Type, indices: ir.Type, updates: ir.Type, combined: str, as_index: str
) -> str:
    """The loops: over the places of windows, outside, and over what is in a window, inside."""
    sizes, counts = (cast("Sequence[int]", shape_of(kind)) for kind in (operand, updates))
    element, index = element_of(operand), element_of(indices)
    outer = [n for n in range(len(counts)) if n not in dims.update_window_dims]
    whole = [n for n in range(len(sizes)) if n not in (*dims.inserted_window_dims, *dims.input_batching_dims)]
    window = dict(zip(whole, dims.update_window_dims, strict=True))
    has_vector = dims.index_vector_dim < len(shape_of(indices))
    lines = [f"  %n{n} = arith.constant {n} : index" for n in range(max(len(sizes), 2))]
    lines += [f"  %c{n} = arith.constant {size} : index" for n, size in enumerate(counts)]

    def position(number: int) -> str:
        """Where the number of an index vector lies."""
        at = [f"%u{n}" for n in outer]
        if has_vector:
            at.insert(dims.index_vector_dim, f"%n{number}")
        return ", ".join(at)

    def carried(loops: Sequence[int], acc: str, body: Callable[[str, str], list[str]]) -> list[str]:
        """Nested loops that carry a tensor, which the body makes anew under a name that it is given."""
        made = list[str]()
        for n in loops:
            made.append(f"%r{n} = scf.for %u{n} = %n0 to %c{n} step %n1 iter_args(%a{n} = {acc}) -> ({operand}) {{")
            acc = f"%a{n}"
        made += body(acc, "%made" if loops else "%result")
        for depth in reversed(range(len(loops))):
            inner = "%made" if depth == len(loops) - 1 else f"%r{loops[depth + 1]}"
            made += [f"scf.yield {inner} : {operand}", "}"]
        return made

    def inside(acc: str, name: str) -> list[str]:
        at = list[str]()
        made = list[str]()
        for d in range(len(sizes)):
            parts = ([f"%s{d}"] if d in dims.scatter_dims_to_operand_dims else []) + (
                [f"%u{window[d]}"] if d in window else []
            )
            if d in dims.input_batching_dims:
                batch = dims.scatter_indices_batching_dims[dims.input_batching_dims.index(d)]
                batch -= has_vector and batch > dims.index_vector_dim
                parts = [f"%u{outer[batch]}"]
            if len(parts) == 2:
                made.append(f"%p{d} = arith.addi {parts[0]}, {parts[1]} : index")
                parts = [f"%p{d}"]
            at.append(parts[0] if parts else "%n0")
        made.append(f"%new = tensor.extract %updates[{', '.join(f'%u{n}' for n in range(len(counts)))}] : {updates}")
        value = "%new"
        if combined == _OF_REGION:
            one = f"tensor<{element}>"
            made.append(f"%old = tensor.extract {acc}[{', '.join(at)}] : {operand}")
            made += [f"%{name}s = tensor.from_elements %{name} : {one}" for name in ("old", "new")]
            made.append(f"%values = func.call @{combined}(%olds, %news) : ({one}, {one}) -> {one}")
            made.append(f"%value = tensor.extract %values[] : {one}")
            value = "%value"
        elif combined:
            made.append(f"%old = tensor.extract {acc}[{', '.join(at)}] : {operand}")
            made.append(f"%value = {combined} %old, %new : {element}")
            value = "%value"
        return [*made, f"{name} = tensor.insert {value} into {acc}[{', '.join(at)}] : {operand}"]

    def placed(acc: str, name: str) -> list[str]:
        made, holds = ["%yes = arith.constant true"], "%yes"
        for number, d in enumerate(dims.scatter_dims_to_operand_dims):
            room = sizes[d] - (counts[window[d]] if d in window else 1)
            made += [
                f"%i{d} = tensor.extract %indices[{position(number)}] : {indices}",
                f"%s{d} = {as_index} %i{d} : {index} to index",
                f"%room{d} = arith.constant {room} : index",
                f"%low{d} = arith.cmpi sge, %s{d}, %n0 : index",
                f"%high{d} = arith.cmpi sle, %s{d}, %room{d} : index",
                f"%both{d} = arith.andi %low{d}, %high{d} : i1",
                f"%holds{d} = arith.andi {holds}, %both{d} : i1",
            ]
            holds = f"%holds{d}"
        body = carried(dims.update_window_dims, acc, inside)
        inner = f"%r{dims.update_window_dims[0]}" if dims.update_window_dims else "%result"
        return [
            *made,
            f"{name} = scf.if {holds} -> ({operand}) {{",
            *body,
            f"scf.yield {inner} : {operand}",
            "} else {",
            f"scf.yield {acc} : {operand}",
            "}",
        ]

    body = carried(outer, "%x", placed)
    end = f"%r{outer[0]}" if outer else "%result"
    return "\n".join(
        [
            f"func.func private @written(%x: {operand}, %indices: {indices}, %updates: {updates}) -> {operand} {{",
            *lines,
            *body,
            f"  return {end} : {operand}",
            "}",
            f"func.func private @{_OF_REGION}(tensor<{element}>, tensor<{element}>) -> tensor<{element}>",
        ]
    )
