"""Symbolic sizes: every index value of a function as an integer or a SymPy expression over the symbols of its arguments.

The sizes of an argument are named by its `hotdesk.shape` attribute (`["s0", "100"]`); equal names are equal sizes. What
cannot be followed becomes a symbol of its own, `opaque…`, which is equal to nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.affine import evaluated
from hotdesk.ir.sizes import OPAQUE, Size, expand, integer, is_opaque, parsed, product
from hotdesk.ir.types import DYNAMIC, kept_dims, shape_of
from hotdesk.ir.walking import defining_op, entry_block, int_array, segment_sizes

_algebra: Any = sympy  # SymPy's functions are not annotated
_SAME = frozenset({"arith.index_cast", "arith.extsi", "arith.extui", "arith.index_castui"})


class SymbolicSizes:
    """Answers what an index value or a dimension of a tensor or memref is, for one function; answers are remembered.

    `read` tells what `memref.extract_strided_metadata` gives, as far as the one who asks knows.
    """

    def __init__(self, function: ir.Operation, read: Callable[[ir.Value], Size | None] = lambda value: None) -> None:
        self._read = read
        self._argument_shapes = _argument_shapes(function)
        self._entry = entry_block(function)
        self._values: dict[ir.Value, Size] = {}
        self._shapes: dict[ir.Value, tuple[Size, ...]] = {}
        self._opaque = _last_opaque(self._argument_shapes)
        self._sizes: set[object] = {
            symbol
            for shape in self._argument_shapes.values()
            for size in shape
            if isinstance(size, sympy.Expr)
            for symbol in size.free_symbols
        }

    def value(self, value: ir.Value) -> Size:
        """An index or integer value as an expression."""
        if value not in self._values:
            self._values[value] = self._compute(value)
        return self._values[value]

    def shape(self, value: ir.Value) -> tuple[Size, ...]:
        """The sizes of a tensor or memref value."""
        if value not in self._shapes:
            static = shape_of(value.type)
            self._shapes[value] = (
                tuple(cast(int, size) for size in static) if None not in static else self._dynamic_shape(value, static)
            )
        return self._shapes[value]

    def may_be_negative(self, symbol: Any) -> bool:
        """Whether a symbol stands for an index value that need not be the size of anything."""
        return is_opaque(symbol) and symbol not in self._sizes

    def mixed(self, static: ir.Attribute, dynamic: list[ir.Value]) -> tuple[Size, ...]:
        """Sizes, offsets or strides given as a static array with gaps that operands fill."""
        rest = iter(dynamic)
        return tuple(self.value(next(rest)) if entry == DYNAMIC else entry for entry in int_array(static))

    def _fresh(self) -> sympy.Expr:
        self._opaque += 1
        return sympy.Symbol(f"{OPAQUE}{self._opaque}")

    def _compute(self, value: ir.Value) -> Size:
        op = defining_op(value)
        if op is None:
            return self._fresh()
        name = op.name
        if name == "arith.constant":
            attribute = op.attributes["value"]
            return attribute.value if isinstance(attribute, ir.IntegerAttr) else self._fresh()
        if name in ("tensor.dim", "memref.dim"):
            position = self.value(op.operands[1])
            return self.shape(op.operands[0])[position] if isinstance(position, int) else self._fresh()
        if name == "arith.extui" and str(op.operands[0].type) == "i1":
            decided = self._decided(op.operands[0])
            return self._fresh() if decided is None else int(decided)
        if name in _SAME:
            return self._fresh() if _narrows(op) else self.value(op.operands[0])
        if name.startswith("arith.") and len(op.operands) == 2:
            return self._arithmetic(name, self.value(op.operands[0]), self.value(op.operands[1]))
        if name == "arith.select":
            return self._select(op)
        if name in ("affine.apply", "affine.min", "affine.max"):
            return self._applied(op)
        found = self._read(value) if name == "memref.extract_strided_metadata" else None
        return self._fresh() if found is None else found

    def _applied(self, op: ir.Operation) -> Size:
        """The one result of an affine map, which MLIR's own folds write sizes as, or the least or greatest of several."""
        results = evaluated(cast(Any, op.attributes["map"]).value, [self.value(v) for v in op.operands])
        if op.name == "affine.apply":
            return expand(results[0])
        return integer((_algebra.Min if op.name == "affine.min" else _algebra.Max)(*results))

    def _arithmetic(self, name: str, a: Size, b: Size) -> Size:
        x, y = sympy.sympify(a), sympy.sympify(b)
        match name:
            case "arith.addi":
                return integer(x + y)
            case "arith.subi":
                return integer(x - y)
            case "arith.muli":
                return expand(x * y)
            case "arith.floordivsi" | "arith.divsi" | "arith.divui":
                return integer(sympy.floor(x / y)) if y != 0 else self._fresh()
            case "arith.ceildivsi" | "arith.ceildivui":
                return integer(sympy.ceiling(x / y)) if y != 0 else self._fresh()
            case "arith.remsi" | "arith.remui":
                return integer(sympy.Mod(x, y)) if y != 0 else self._fresh()
            case "arith.maxsi" | "arith.maxui":
                return integer(sympy.Max(x, y))
            case "arith.minsi" | "arith.minui":
                return integer(sympy.Min(x, y))
            case _:
                return self._fresh()

    def _select(self, op: ir.Operation) -> Size:
        decided = self._decided(op.operands[0])
        if decided is not None:
            return self.value(op.operands[1 if decided else 2])
        condition = self.condition(op.operands[0])
        if condition is None:
            return self._fresh()
        a, b = self.value(op.operands[1]), self.value(op.operands[2])
        return integer(sympy.Piecewise((a, condition), (b, True)))

    def _decided(self, value: ir.Value) -> bool | None:
        """Whether a comparison holds for all sizes, or for none; None when that depends. Sizes are not negative."""
        condition = self.condition(value)
        if condition is None:
            return None
        sizes = [symbol for symbol in condition.free_symbols if not is_opaque(symbol)]
        known = condition.xreplace({size: _algebra.Symbol(size.name, integer=True, nonnegative=True) for size in sizes})
        return True if known is sympy.true else False if known is sympy.false else None

    def condition(self, value: ir.Value) -> Any:
        """A comparison of sizes as a SymPy relation (or true/false); None when it is not one."""
        op = defining_op(value)
        if op is None:
            return None
        if op.name == "arith.constant":
            return sympy.true if bool(cast(Any, op.attributes["value"]).value) else sympy.false
        if op.name in ("arith.ori", "arith.andi"):
            parts = [self.condition(operand) for operand in op.operands]
            joined = _algebra.Or if op.name == "arith.ori" else _algebra.And
            return None if None in parts else joined(*parts)
        if op.name != "arith.cmpi":
            return None
        a, b = (sympy.sympify(self.value(v)) for v in op.operands)
        predicate = int(cast(Any, op.attributes["predicate"]).value)
        names = ("Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Lt", "Le", "Gt", "Ge")  # sizes are not negative: unsigned too
        return getattr(_algebra, names[predicate])(a, b)

    def _dynamic_shape(self, value: ir.Value, static: tuple[int | None, ...]) -> tuple[Size, ...]:
        known = self._traced_shape(value)
        if known is None:
            fresh = tuple(self._fresh() if size is None else size for size in static)
            self._sizes.update(fresh)
            return fresh
        return tuple(k if size is None else size for k, size in zip(known, static, strict=True))

    def _traced_shape(self, value: ir.Value) -> tuple[Size, ...] | None:
        op = defining_op(value)
        if op is None:
            argument = cast(Any, value)
            return self._argument_shapes.get(argument.arg_number) if argument.owner == self._entry else None
        operands = list(op.operands)
        match op.name:
            case "bufferization.alloc_tensor" if segment_sizes(op)[1]:
                return self.shape(operands[segment_sizes(op)[0]])
            case "tensor.empty" | "memref.alloc" | "bufferization.alloc_tensor" | "tensor.splat" | "tensor.generate":
                rest = iter(operands[1:] if op.name == "tensor.splat" else operands)
                return tuple(self.value(next(rest)) if s is None else s for s in shape_of(value.type))
            case "tensor.cast" | "memref.cast" | "bufferization.to_tensor" | "bufferization.to_buffer":
                return self.shape(operands[0])
            case "tensor.expand_shape" | "memref.expand_shape":
                return self.mixed(op.attributes["static_output_shape"], operands[1:])
            case "tensor.collapse_shape" | "memref.collapse_shape":
                source = self.shape(operands[0])
                groups = cast(Any, op.attributes["reassociation"])
                return tuple(product([source[i] for i in int_array(group)]) for group in groups)
            case "tensor.extract_slice" | "memref.subview":
                counts = segment_sizes(op)
                first = 1 + counts[1]
                sizes = self.mixed(op.attributes["static_sizes"], operands[first : first + counts[2]])
                return tuple(sizes[i] for i in kept_dims(sizes, shape_of(value.type)))
            case "memref.reinterpret_cast":
                counts = segment_sizes(op)
                first = 1 + counts[1]
                return self.mixed(op.attributes["static_sizes"], operands[first : first + counts[2]])
            case "tensor.concat":
                axis, shapes = int(cast(Any, op.attributes["dim"]).value), [self.shape(operand) for operand in operands]
                whole = integer(_algebra.Add(*(shape[axis] for shape in shapes)))
                return (*shapes[0][:axis], whole, *shapes[0][axis + 1 :])
            case "tensor.pad":
                counts = segment_sizes(op)
                low = self.mixed(op.attributes["static_low"], operands[1 : 1 + counts[1]])
                high = self.mixed(op.attributes["static_high"], operands[1 + counts[1] : 1 + counts[1] + counts[2]])
                source = self.shape(operands[0])
                return tuple(integer(sympy.sympify(a + b + c)) for a, b, c in zip(low, source, high, strict=True))
            case "tensor.insert_slice":
                return self.shape(operands[1])
            case name if name.startswith(("linalg.", "hotdesk.", "tm_tensor.")):
                inits = operands[-len(op.results) :]
                return self.shape(inits[[*cast(Any, op.results)].index(value)])
            case _:
                return None


def _argument_shapes(function: ir.Operation) -> dict[int, tuple[Size, ...]]:
    shapes: dict[int, tuple[Size, ...]] = {}
    if "arg_attrs" not in function.attributes:
        return shapes
    for number, attributes in enumerate(cast(Any, function.attributes["arg_attrs"])):
        if "hotdesk.shape" in attributes:
            shapes[number] = tuple(
                int(entry.value) if entry.value.isdigit() else parsed(entry.value)
                for entry in attributes["hotdesk.shape"]
            )
    return shapes


def _last_opaque(shapes: dict[int, tuple[Size, ...]]) -> int:
    """The greatest number of an opaque symbol among the sizes of arguments, so that new ones differ from them."""
    sizes = [size for shape in shapes.values() for size in shape if isinstance(size, sympy.Expr)]
    names = {str(symbol) for size in sizes for symbol in size.free_symbols}
    numbers = [name.removeprefix(OPAQUE) for name in names if name.startswith(OPAQUE)]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def _narrows(op: ir.Operation) -> bool:
    """Whether a cast from `index` has too few bits for every index."""
    kind = op.results[0].type
    return isinstance(op.operands[0].type, ir.IndexType) and isinstance(kind, ir.IntegerType) and kind.width < 64
