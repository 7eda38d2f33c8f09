"""The sizes of a tensor or memref from those of the operands of the op that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.types import kept_dims, shape_of
from hotdesk.ir.walking import defining_op, int_array, integer_of, is_constant, segment_sizes
from hotdesk.sizes.expressions import integer, product
from hotdesk.sizes.size import Size

_algebra: Any = sympy  # SymPy's functions are not annotated


MadeWith = Callable[[ir.Value], "Sequence[ir.Value] | None"]


class SizeReader(Protocol):
    """Who answers for operands: `symbolic.SymbolicSizes`. `made_with` tells the dynamic sizes of what other ops allocate."""

    made_with: MadeWith

    def value(self, value: ir.Value) -> Size: ...

    def shape(self, value: ir.Value) -> tuple[Size, ...]: ...

    def mixed(self, static: ir.Attribute, dynamic: list[ir.Value]) -> tuple[Size, ...]: ...


def shape_made(op: ir.Operation, value: ir.Value, known: SizeReader) -> tuple[Size, ...] | None:
    """The sizes of a result; None if nothing is known of the op."""
    operands = list(op.operands)
    match op.name:
        case "bufferization.alloc_tensor" if segment_sizes(op)[1]:
            return known.shape(operands[segment_sizes(op)[0]])
        case "tensor.empty" | "memref.alloc" | "memref.alloca" | "bufferization.alloc_tensor" | "tensor.generate":
            return _filled(value, operands, known)
        case "tensor.splat":
            return _filled(value, operands[1:], known)
        case "tensor.cast" | "memref.cast" | "bufferization.to_tensor" | "bufferization.to_buffer":
            return known.shape(operands[0]) if cast(Any, operands[0].type).has_rank else None
        case "tensor.expand_shape" | "memref.expand_shape":
            return known.mixed(op.attributes["static_output_shape"], operands[1:])
        case "tensor.collapse_shape" | "memref.collapse_shape":
            source = known.shape(operands[0])
            groups = cast(Any, op.attributes["reassociation"])
            return tuple(product([source[i] for i in int_array(group)]) for group in groups)
        case "tensor.extract_slice" | "memref.subview":
            counts = segment_sizes(op)
            first = 1 + counts[1]
            sizes = known.mixed(op.attributes["static_sizes"], operands[first : first + counts[2]])
            return tuple(sizes[i] for i in kept_dims(sizes, shape_of(value.type)))
        case "memref.reinterpret_cast":
            counts = segment_sizes(op)
            first = 1 + counts[1]
            return known.mixed(op.attributes["static_sizes"], operands[first : first + counts[2]])
        case "tensor.concat":
            axis, shapes = integer_of(op, "dim"), [known.shape(operand) for operand in operands]
            whole = integer(_algebra.Add(*(shape[axis] for shape in shapes)))
            return (*shapes[0][:axis], whole, *shapes[0][axis + 1 :])
        case "tensor.pad":
            counts = segment_sizes(op)
            low = known.mixed(op.attributes["static_low"], operands[1 : 1 + counts[1]])
            high = known.mixed(op.attributes["static_high"], operands[1 + counts[1] : 1 + counts[1] + counts[2]])
            source = known.shape(operands[0])
            return tuple(integer(sympy.sympify(a + b + c)) for a, b, c in zip(low, source, high, strict=True))
        case "tensor.insert_slice" | "tensor.insert" | "tensor.scatter" | "vector.transfer_write":
            return known.shape(operands[1])
        case "tensor.reshape":
            return _reshaped(op, known)
        case "tensor.bitcast" | "bufferization.clone" | "bufferization.materialize_in_destination":
            return known.shape(operands[0])
        case name if name.startswith(("arith.", "math.")) and name != "arith.select":
            return known.shape(operands[0]) if operands and isinstance(operands[0].type, ir.ShapedType) else None
        case name if name.startswith(("linalg.", "hotdesk.", "tm_tensor.")):
            inits = operands[-len(op.results) :]
            return known.shape(inits[[*cast(Any, op.results)].index(value)])
        case _:
            given = known.made_with(value)
            return None if given is None else _filled(value, given, known)


def stated_sizes(reshape: ir.Operation) -> list[int | ir.Value | None]:
    """The sizes of the result of a `tensor.reshape`: of its type, of a constant, or the values of which `tensor.from_elements`
    makes the shape; None where one is read from a tensor when the program runs."""
    stated = shape_of(reshape.results[0].type)
    made = defining_op(reshape.operands[1])
    found: Sequence[int | ir.Value | None] = stated
    if made is not None and made.name == "tensor.from_elements":
        found = tuple(made.operands)
    elif made is not None and is_constant(made):
        found = int_array(made.attributes["value"])
    return [b if a is None else a for a, b in zip(stated, found, strict=True)]


def _reshaped(op: ir.Operation, known: SizeReader) -> tuple[Size, ...] | None:
    if not cast(Any, op.results[0].type).has_rank:
        return None
    sizes = [known.value(size) if isinstance(size, ir.Value) else size for size in stated_sizes(op)]
    return None if None in sizes else tuple(cast("list[Size]", sizes))


def _filled(value: ir.Value, dynamic: Sequence[ir.Value], known: SizeReader) -> tuple[Size, ...]:
    """The sizes of a result by its type, and those given for each `?` in it."""
    rest = iter(dynamic)
    return tuple(known.value(next(rest)) if size is None else size for size in shape_of(value.type))
