"""Symbolic sizes: every index value of a function as an integer or a SymPy expression over the symbols of its arguments.

The sizes of an argument are named by its `hotdesk.shape` attribute (`["s0", "100"]`); equal names are equal sizes. What
cannot be followed becomes a symbol of its own, `opaque…`, which is equal to nothing else. Followed are sizes (`tensor.dim`,
`memref.dim`), arithmetic on integers, and choices by comparisons (`arith.cmpi`), of which several may be joined (`arith.andi`,
`arith.ori`), or be a number themselves (`arith.extui`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.graphs import postorder
from hotdesk.ir.argument_sizes import argument_shapes, last_opaque
from hotdesk.ir.arithmetic import AFFINE, CASTS, applied, arithmetic, is_not_negative
from hotdesk.ir.locations import python_line
from hotdesk.ir.shapes import MadeWith, shape_made
from hotdesk.ir.types import DYNAMIC, element_bytes, element_of, shape_of
from hotdesk.ir.walking import defining_op, entry_block, flag_of, int_array, integer_of, is_constant
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.memref import METADATA
from hotdesk.program.joins import is_inside, settled, sources_of
from hotdesk.sizes.expressions import integer, product, replaced
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Size, is_opaque
from hotdesk.sizes.writing import unnamed

_algebra: Any = sympy  # SymPy's functions are not annotated
_UNSIGNED_CASTS = ("arith.extui", "arith.index_castui")
_PREDICATES = ("Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Lt", "Le", "Gt", "Ge")  # of `arith.cmpi`, by number
_FIRST_UNSIGNED = 6  # of them
_BITS = 64  # of an index


class SymbolicSizes:
    """Answers what an index value or a dimension of a tensor or memref is, for one function; answers are remembered.

    As far as the one who asks knows, `read` tells what `memref.extract_strided_metadata` gives, and `made_with` the dynamic sizes
    of a memref that an op allocates which is not known here.
    """

    def __init__(
        self,
        function: ir.Operation,
        read: Callable[[ir.Value], Size | None] = lambda value: None,
        made_with: MadeWith = lambda value: None,
    ) -> None:
        self._read, self.made_with = read, made_with
        self._argument_shapes = argument_shapes(function)
        self._entry = entry_block(function)
        self._values: dict[ir.Value, Size] = {}
        self._shapes: dict[ir.Value, tuple[Size, ...]] = {}
        self._owners: dict[Any, ir.Value] = {}  # whose size each opaque symbol is
        self._joining = False
        self._equations: dict[Any, list[Size]] = {}  # of symbols that come together: what each may be
        self._recent: list[ir.Value] = []  # answers that may depend on them
        self._opaque = last_opaque(self._argument_shapes)
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
            found = self._compute(value)
            self._remember(self._values, value, self._fresh(value) if found is None else found)
        return self._values[value]

    def shape(self, value: ir.Value) -> tuple[Size, ...]:
        """The sizes of a tensor or memref value."""
        if value not in self._shapes:
            static = shape_of(value.type)
            known = tuple(size for size in static if size is not None)
            found = known if len(known) == len(static) else self._dynamic_shape(value, static)
            self._remember(self._shapes, value, found)
        return self._shapes[value]

    def bytes(self, value: ir.Value) -> Size:
        """The bytes of a tensor or memref."""
        return product([*self.shape(value), element_bytes(element_of(value.type))])

    def may_be_negative(self, symbol: Any) -> bool:
        """Whether a symbol stands for an index value that need not be the size of anything."""
        return is_opaque(symbol) and symbol not in self._sizes

    def mixed(self, static: ir.Attribute, dynamic: list[ir.Value]) -> tuple[Size, ...]:
        """Sizes, offsets or strides given as a static array with gaps that operands fill."""
        rest = iter(dynamic)
        return tuple(self.value(next(rest)) if entry == DYNAMIC else entry for entry in int_array(static))

    def _remember(self, answers: dict[ir.Value, Any], value: ir.Value, found: object) -> None:
        answers[value] = found
        if self._joining:
            self._recent.append(value)

    def _fresh(self, value: ir.Value, dim: int | None = None) -> sympy.Expr:
        self._opaque += 1
        symbol = unnamed(self._opaque, _told(value) if dim is None else f"dim {dim} of {_told(value)}")
        self._owners[symbol] = value
        return symbol

    def _compute(self, value: ir.Value) -> Size | None:
        op = defining_op(value)
        if op is None:
            return None
        name = op.name
        if is_constant(op):
            attribute = op.attributes["value"]
            return attribute.value if isinstance(attribute, ir.IntegerAttr) else None
        if name in ("tensor.dim", "memref.dim"):
            position, shape = self.value(op.operands[1]), self.shape(op.operands[0])
            return shape[position] if isinstance(position, int) and 0 <= position < len(shape) else None
        if name == "arith.extui" and str(op.operands[0].type) == "i1":
            decided = self._decided(op.operands[0])
            return None if decided is None else int(decided)
        if name in CASTS:
            return None if _narrows(op) or self._changes_sign(op) else self.value(op.operands[0])
        if name.startswith("arith.") and len(op.operands) == 2 and _has_bits_of_sizes(value):
            return arithmetic(name, self.value(op.operands[0]), self.value(op.operands[1]), self.may_be_negative)
        if name == CHOICE:
            return self._select(op)
        if name in AFFINE:
            return applied(op, [self.value(v) for v in op.operands])
        return self._read(value) if name == METADATA else None

    def _changes_sign(self, op: ir.Operation) -> bool:
        """Whether a cast of a number without a sign may make one above 0 of one below."""
        if op.name not in _UNSIGNED_CASTS or _has_bits_of_sizes(op.operands[0]):
            return False
        return not is_not_negative(self.value(op.operands[0]), self.may_be_negative)

    def _select(self, op: ir.Operation) -> Size | None:
        decided = self._decided(op.operands[0])
        if decided is not None:
            return self.value(op.operands[1 if decided else 2])
        condition = self.condition(op.operands[0])
        condition = None if condition is None else _without_choices(condition)
        if condition is None:
            return None
        a, b = self.value(op.operands[1]), self.value(op.operands[2])
        return integer(sympy.Piecewise((a, condition), (b, True)))

    def _decided(self, value: ir.Value) -> bool | None:
        """Whether a comparison holds for all sizes, or for none; None when that depends. Sizes are not negative."""
        condition = self.condition(value)
        return None if condition is None else SizeProver(may_be_negative=self.may_be_negative).decided(condition)

    def condition(self, value: ir.Value) -> Any:
        """A comparison of sizes as a SymPy relation (or true/false); None when it is not one."""
        op = defining_op(value)
        if op is None:
            return None
        if is_constant(op):
            return sympy.true if flag_of(op, "value") else sympy.false
        if op.name in ("arith.ori", "arith.andi"):
            parts = [self.condition(operand) for operand in op.operands]
            joined = _algebra.Or if op.name == "arith.ori" else _algebra.And
            return None if None in parts else joined(*parts)
        if op.name != "arith.cmpi":
            return None
        a, b = (sympy.sympify(self.value(v)) for v in op.operands)
        predicate = integer_of(op, "predicate")
        compared = getattr(_algebra, _PREDICATES[predicate])
        return compared(a, b) if predicate < _FIRST_UNSIGNED else self._without_signs(compared, a, b)

    def _without_signs(self, compared: Any, a: Any, b: Any) -> Any:
        """A comparison of numbers without a sign, where one below 0 is more than any from 0 on."""
        a_below, b_below = (
            sympy.false if is_not_negative(each, self.may_be_negative) else _algebra.Lt(each, 0) for each in (a, b)
        )
        falls = compared in (_algebra.Lt, _algebra.Le)
        alike = _algebra.Or(_algebra.And(a_below, b_below), _algebra.And(_algebra.Not(a_below), _algebra.Not(b_below)))
        more, less = (b_below, a_below) if falls else (a_below, b_below)
        return _algebra.Or(_algebra.And(alike, compared(a, b)), _algebra.And(more, _algebra.Not(less)))

    def _dynamic_shape(self, value: ir.Value, static: tuple[int | None, ...]) -> tuple[Size, ...]:
        known = self._traced_shape(value)
        if known is None:
            known = self._fresh_shape(value)
        return tuple(k if size is None else size for k, size in zip(known, static, strict=True))

    def _fresh_shape(self, value: ir.Value) -> tuple[Size, ...]:
        fresh = tuple(
            self._fresh(value, dim) if size is None else size for dim, size in enumerate(shape_of(value.type))
        )
        self._sizes.update(fresh)
        return fresh

    def _traced_shape(self, value: ir.Value) -> tuple[Size, ...] | None:
        op = defining_op(value)
        if op is None and value.owner == self._entry:
            return self._argument_shapes.get(cast(Any, value).arg_number)
        made = None if op is None else shape_made(op, value, self)
        return self._joined_shape(value) if made is None else made

    # Control flow

    def _joined_shape(self, value: ir.Value) -> tuple[Size, ...] | None:
        """The sizes of what comes out of branches or round a loop: symbols until all that they depend on has been followed."""
        sources = {each: found for each, found in sources_of(value).items() if found and _is_dynamic(each)}
        if value not in sources:
            return None
        outermost, self._joining = not self._joining, True
        for each in sources:
            self._remember(self._shapes, each, self._fresh_shape(each))
            self._equations.update((symbol, []) for symbol in self._shapes[each] if not isinstance(symbol, int))
        for each, found in sources.items():
            for source in found:
                self._follow(source)
            shapes = [self.shape(source) for source in found]
            for i, symbol in enumerate(self._shapes[each]):
                if not isinstance(symbol, int):
                    self._equations[symbol] = [shape[i] for shape in shapes]
        if outermost:
            self._settle()
        return self._shapes[value]

    def _settle(self) -> None:
        """Replaces symbols that turned out to be other sizes, in every answer that may have one."""
        found = settled(self._equations, self._may_be)
        for value in self._recent if found else ():
            if value in self._shapes:
                self._shapes[value] = tuple(replaced(size, found) for size in self._shapes[value])
            else:
                self._values[value] = replaced(self._values[value], found)
        self._equations.clear()
        self._recent.clear()
        self._joining = False

    def _may_be(self, symbol: Any, size: Size) -> bool:
        """Whether a symbol may be said to be a size: that of a result is none that is only known inside of its op."""
        op = defining_op(self._owners[symbol])
        if op is None or not len(op.regions) or not isinstance(size, sympy.Expr):
            return True
        owners = [self._owners[each] for each in cast(Any, size).free_symbols if each in self._owners]
        return not any(is_inside(owner, op) for owner in owners)

    def _follow(self, value: ir.Value) -> None:
        """Answers for all that a value is made of, operands first: what is long is not followed by recursion."""

        def open_operands(each: ir.Value) -> Iterator[ir.Value]:
            op = None if self._is_known(each) else defining_op(each)
            operands = [] if op is None else list(op.operands)
            return (v for v in reversed(operands) if not self._is_known(v) and _is_size(v))

        for each in postorder([value], open_operands):
            self.value(each) if _is_number(each) else self.shape(each)

    def _is_known(self, value: ir.Value) -> bool:
        return value in self._shapes or value in self._values


def _told(value: ir.Value) -> str:
    """What a value is, and where: nobody keeps its name."""
    op = defining_op(value)
    where = python_line(value.location)
    what = f"argument {cast(Any, value).arg_number}" if op is None else f"`{op.name}`"
    return f"{what} ({where})" if where else what


def _has_bits_of_sizes(value: ir.Value) -> bool:
    """Whether a number has 64 bits: what has fewer may overflow."""
    kind = value.type
    return isinstance(kind, ir.IndexType) or (isinstance(kind, ir.IntegerType) and kind.width >= _BITS)


def _narrows(op: ir.Operation) -> bool:
    """Whether a cast from `index` has too few bits for every index."""
    kind = op.results[0].type
    return isinstance(op.operands[0].type, ir.IndexType) and isinstance(kind, ir.IntegerType) and kind.width < _BITS


def _is_dynamic(value: ir.Value) -> bool:
    """Whether a value is a tensor or a memref with a size that its type does not say."""
    return isinstance(value.type, (ir.RankedTensorType, ir.MemRefType)) and None in shape_of(value.type)


def _is_number(value: ir.Value) -> bool:
    kind = value.type
    return isinstance(kind, ir.IndexType) or (isinstance(kind, ir.IntegerType) and kind.width > 1)


def _is_size(value: ir.Value) -> bool:
    """Whether a size may depend on a value."""
    return _is_number(value) or _is_dynamic(value)


def byte_size(value: ir.Value, function: ir.Operation) -> Size:
    """The bytes of a tensor or memref of a function whose IR changes, so that what was known of sizes may not be remembered.

    The function is read for that, and only for that.
    """
    known = [size for size in shape_of(value.type) if size is not None]
    if len(known) == len(shape_of(value.type)):
        return product([*known, element_bytes(element_of(value.type))])
    return SymbolicSizes(function).bytes(value)


def _without_choices(condition: Any) -> Any:
    """A condition without the choice that it asks, if it asks one; None if it asks more.

    SymPy would solve inequalities to do so, in a time that grows faster than any power of how deep they are.
    """
    choices = condition.atoms(_algebra.Piecewise)
    if not choices:
        return condition
    if len(choices) > 1:
        return None
    (choice,) = choices
    found, before = _algebra.false, _algebra.true
    for value, holds in choice.args:
        found = _algebra.Or(found, _algebra.And(before, holds, condition.xreplace({choice: value})))
        before = _algebra.And(before, _algebra.Not(holds))
    return found
