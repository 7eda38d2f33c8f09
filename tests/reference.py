"""A slow interpreter of tensor programs, with value semantics: every op makes new arrays and nothing is shared.

It says what a program means, independently of how Hotdesk compiles it: linalg by walking every point of the iteration domain,
convolutions and poolings by their defining sums. Nothing of Hotdesk is used.

What `tensor.empty` holds is undefined. `run` fills it as it is told; `expected` runs with several fills, and elements on which
the runs differ depend on something undefined: no compiler owes anything for them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from torch_mlir import ir

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Values: TypeAlias = "dict[ir.Value, Any]"

DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "index": np.dtype(np.int64),
}
_DYNAMIC = -(2**63)


@dataclass(frozen=True)
class Expected:
    """A result, and which of its elements are defined."""

    values: Array
    defined: Array


def expected(function: ir.Operation, inputs: Sequence[Array]) -> list[Expected]:
    """What a function of one block returns."""
    first, *others = (run(function, inputs, fill) for fill in (_lowest, _highest, _Drawn()))
    return [
        Expected(a, np.logical_and.reduce([_same(a, b) for b in rest])) for a, *rest in zip(first, *others, strict=True)
    ]


Fill: TypeAlias = "Callable[[Sequence[int], np.dtype[Any]], Array]"


def _lowest(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """NaN, which no arithmetic gets rid of, or the least integer."""
    return np.full(shape, np.nan if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min, dtype)


def _highest(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    return np.full(shape, 1e30 if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max, dtype)


class _Drawn:
    """Numbers that are others each time."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng(7)

    def __call__(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        numbers = self._generator.integers(-1000, 1000, shape)
        return np.asarray(numbers % 2 == 0 if dtype.kind == "b" else numbers).astype(dtype)


def run(function: ir.Operation, inputs: Sequence[Array], undefined: Fill = _lowest) -> list[Array]:
    """What a function returns when undefined memory holds what `undefined` makes."""
    interpreter = _Interpreter(undefined)
    block = function.regions[0].blocks[0]
    values: Values = {a: np.array(x) for a, x in zip(block.arguments, inputs, strict=True)}
    with np.errstate(all="ignore"):
        return [np.asarray(x) for x in interpreter.block(block, values)]


def _same(a: Array, b: Array) -> Array:
    same = a == b
    return same | (np.isnan(a) & np.isnan(b)) if a.dtype.kind == "f" else same


def _dtype(mlir_type: Any) -> np.dtype[Any]:
    return DTYPES[str(getattr(mlir_type, "element_type", mlir_type))]


class _Interpreter:
    def __init__(self, undefined: Fill) -> None:
        self._undefined = undefined
        self._empty: set[Any] = set()

    def block(self, block: ir.Block, values: Values) -> list[Any]:
        """Runs a block to its terminator, whose operands it returns. `values` gets what the block defines."""
        for op_view in block.operations:
            op = op_view.operation
            if op.name in ("func.return", "return", "linalg.yield", "tensor.yield"):
                return [self._read(v, values) for v in op.operands]
            self._op(op, values)
        raise AssertionError("a block without terminator")

    def _read(self, value: ir.Value, values: Values) -> Any:
        """A value; one that is undefined throughout is another one each time it is read."""
        known = values[value]
        return self._undefined(known.shape, known.dtype) if value in self._empty else known

    def _op(self, op: ir.Operation, values: Values) -> None:
        operands = [self._read(v, values) for v in op.operands]
        dialect, _, name = op.name.partition(".")
        if op.name == "cf.assert":
            assert operands[0], op.attributes["msg"]
        elif dialect in ("arith", "math"):
            values[op.results[0]] = _scalar_op(op, operands)
        elif op.name == "linalg.index":
            values[op.results[0]] = values[_POINT][int(op.attributes["dim"].value)]
        elif dialect == "linalg":
            results = self._linalg(op, name, operands, values)
            for result, array in zip(op.results, results, strict=True):
                values[result] = array
        else:
            method: Callable[..., Any] = getattr(self, f"_{dialect}_{name}")
            values[op.results[0]] = method(op, operands, values)
            if name == "empty" or (
                name in ("cast", "expand_shape", "collapse_shape", "reshape") and op.operands[0] in self._empty
            ):
                self._empty.add(op.results[0])

    # tensor

    def _tensor_empty(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        result: Any = op.results[0].type
        rest = iter(operands)
        sizes = [next(rest) if result.is_dynamic_dim(i) else result.get_dim_size(i) for i in range(result.rank)]
        return self._undefined([int(s) for s in sizes], _dtype(result))

    def _tensor_dim(self, op: ir.Operation, operands: list[Any], values: Values) -> Any:
        return np.int64(operands[0].shape[int(operands[1])])

    def _tensor_extract(self, op: ir.Operation, operands: list[Any], values: Values) -> Any:
        array, *position = operands
        assert all(0 <= i < size for i, size in zip(position, array.shape, strict=True)), "tensor.extract out of bounds"
        return array[tuple(int(i) for i in position)]

    def _tensor_cast(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        return _checked(op, operands[0].copy())

    def _tensor_extract_slice(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        return _checked(op, _dropped(op.results[0].type, operands[0][_slices(op, operands, 1)].copy()))

    def _tensor_insert_slice(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        source, into = operands[0], operands[1].copy()
        part = into[_slices(op, operands, 2)]
        assert source.size == part.size, "tensor.insert_slice of another size"
        part[...] = source.reshape(part.shape)
        return into

    def _tensor_expand_shape(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        rest = iter(operands[1:])
        sizes = [int(next(rest)) if s == _DYNAMIC else s for s in _integers(op.attributes["static_output_shape"])]
        return _checked(op, operands[0].reshape(sizes).copy())

    def _tensor_collapse_shape(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        groups = [_integers(group) for group in op.attributes["reassociation"]]
        sizes = [math.prod(operands[0].shape[i] for i in group) for group in groups]
        return _checked(op, operands[0].reshape(sizes).copy())

    def _tensor_from_elements(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        result: Any = op.results[0].type
        return np.array(operands, _dtype(result)).reshape(result.shape)

    def _tensor_reshape(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        return _checked(op, operands[0].reshape([int(size) for size in operands[1]]).copy())

    def _tensor_concat(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        return _checked(op, np.concatenate(operands, axis=int(op.attributes["dim"].value)))

    def _tensor_pad(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        counts = _integers(op.attributes["operandSegmentSizes"])
        source = operands[0]
        low = _mixed(op.attributes["static_low"], operands[1 : 1 + counts[1]])
        high = _mixed(op.attributes["static_high"], operands[1 + counts[1] :])
        sizes = [a + s + b for a, s, b in zip(low, source.shape, high, strict=True)]
        result = np.empty(sizes, source.dtype)
        block = op.regions[0].blocks[0]
        for point in np.ndindex(*sizes):
            inside = tuple(p - a for p, a in zip(point, low, strict=True))
            if all(0 <= i < s for i, s in zip(inside, source.shape, strict=True)):
                result[point] = source[inside]
            else:
                local = {**values, **{a: np.int64(p) for a, p in zip(block.arguments, point, strict=True)}}
                result[point] = self.block(block, local)[0]
        return _checked(op, result)

    # hotdesk

    def _hotdesk_contract(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        a, b, init = operands
        equation = op.attributes["equation"].value
        letters: dict[str, int] = {}
        left, right = equation.split("->")
        for names, array in zip([*left.split(","), right], operands, strict=True):
            for letter, size in zip(names, array.shape, strict=True):
                assert letters.setdefault(letter, size) == size, f"{letter} of {equation} has two sizes"
        total = np.einsum(equation, a.astype(init.dtype), b.astype(init.dtype))
        return np.asarray(total + init if op.attributes["accumulate"].value else total, dtype=init.dtype)

    def _hotdesk_conv(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        x, w, init = operands
        names = ("strides", "dilations", "pad_low", "pad_high", "input_dilations")
        strides, dilations, low, high, spread = (_integers(op.attributes[name]) for name in names)
        wide = [(s - 1) * d + 1 if s else 0 for s, d in zip(x.shape[2:], spread, strict=True)]
        padded = np.zeros([*x.shape[:2], *(a + s + b for a, s, b in zip(low, wide, high, strict=True))], init.dtype)
        inside = tuple(slice(a, a + s, d) for a, s, d in zip(low, wide, spread, strict=True))
        padded[(slice(None), slice(None), *inside)] = x
        groups = int(op.attributes["groups"].value)
        start = init if op.attributes["accumulate"].value else np.zeros_like(init)
        return _convolution(padded, w, start, strides, dilations, groups)

    def _hotdesk_pool(self, op: ir.Operation, operands: list[Any], values: Values) -> Array:
        x, init = operands
        names = ("window", "strides", "dilations", "pad_low", "pad_high")
        window, strides, dilations, low, high = (_integers(op.attributes[name]) for name in names)
        kind = op.attributes["kind"].value
        neutral = 0 if kind == "sum" else _least(init.dtype)
        leading = x.ndim - len(window)
        around = [(0, 0)] * leading + list(zip(low, high, strict=True))
        padded = np.pad(x, around, constant_values=neutral)
        start = init if op.attributes["accumulate"].value else np.full_like(init, neutral)
        return _pooling(padded, start, window, strides, dilations, kind)

    # linalg

    def _linalg(self, op: ir.Operation, name: str, operands: list[Any], values: Values) -> list[Array]:
        if name == "fill":
            return [np.full(operands[1].shape, operands[0], operands[1].dtype)]
        if name == "transpose":
            return [np.transpose(operands[0], _integers(op.attributes["permutation"])).copy()]
        if name == "broadcast":
            return [_broadcast(operands[0], operands[1].shape, _integers(op.attributes["dimensions"]))]
        if name in _EQUATIONS:
            a, b, init = operands
            total = np.einsum(_EQUATIONS[name], a.astype(init.dtype), b.astype(init.dtype))
            return [np.asarray(init + total, dtype=init.dtype)]
        if name in ("conv_1d_ncw_fcw", "conv_2d_nchw_fchw"):
            strides, dilations = _integers(op.attributes["strides"]), _integers(op.attributes["dilations"])
            x, w, init = operands
            return [_convolution(x.astype(init.dtype), w, init, strides, dilations, 1)]
        if name.startswith("pooling_nc"):
            strides, dilations = _integers(op.attributes["strides"]), _integers(op.attributes["dilations"])
            x, window, init = operands
            return [_pooling(x, init, window.shape, strides, dilations, name.rsplit("_", 1)[1])]
        assert name == "generic", f"linalg.{name} has no meaning here"
        return self._generic(op, operands, values)

    def _generic(self, op: ir.Operation, operands: list[Any], values: Values) -> list[Array]:
        inputs = _integers(op.attributes["operandSegmentSizes"])[0]
        maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
        block = op.regions[0].blocks[0]
        sizes = _domain(maps, [np.shape(x) for x in operands])
        outputs = [x.copy() for x in operands[inputs:]]
        arrays = [*(np.asarray(x) for x in operands[:inputs]), *outputs]
        for point in itertools.product(*(range(size) for size in sizes)):
            places = [tuple(_affine(e, point) for e in m.results) for m in maps]
            local: Values = {**values, _POINT: [np.int64(p) for p in point]}
            for argument, array, place in zip(block.arguments, arrays, places, strict=True):
                local[argument] = array[place]
            for array, place, value in zip(outputs, places[inputs:], self.block(block, local), strict=True):
                array[place] = value
        return outputs


_POINT: Any = "the point of the iteration domain"
_EQUATIONS = {
    "matmul": "mk,kn->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "matvec": "mk,k->m",
    "vecmat": "k,kn->n",
    "dot": "k,k->",
}


def _integers(attribute: Any) -> tuple[int, ...]:
    return tuple(int(getattr(item, "value", item)) for item in attribute)


def _mixed(static: Any, dynamic: Sequence[Any]) -> list[int]:
    rest = iter(dynamic)
    return [int(next(rest)) if s == _DYNAMIC else s for s in _integers(static)]


def _slices(op: ir.Operation, operands: list[Any], first: int) -> tuple[slice, ...]:
    counts = _integers(op.attributes["operandSegmentSizes"])[-3:]
    rest = operands[first:]
    offsets = _mixed(op.attributes["static_offsets"], rest[: counts[0]])
    sizes = _mixed(op.attributes["static_sizes"], rest[counts[0] : counts[0] + counts[1]])
    steps = _mixed(op.attributes["static_strides"], rest[counts[0] + counts[1] :])
    for offset, size, step, whole in zip(offsets, sizes, steps, operands[first - 1].shape, strict=True):
        assert offset >= 0, "a slice begins before its tensor"
        assert size == 0 or offset + (size - 1) * step < whole, "a slice ends behind its tensor"
    # A slice of no elements has no end either:
    return tuple(
        slice(o, o + (size - 1) * step + 1 if size else o, step)
        for o, size, step in zip(offsets, sizes, steps, strict=True)
    )


def _dropped(result: Any, part: Array) -> Array:
    """A slice without the unit dimensions that its type leaves out."""
    if result.rank == part.ndim:
        return part
    for kept in itertools.combinations(range(part.ndim), result.rank):
        fits = all(result.is_dynamic_dim(i) or result.get_dim_size(i) == part.shape[d] for i, d in enumerate(kept))
        if fits and all(part.shape[d] == 1 for d in range(part.ndim) if d not in kept):
            return part.reshape([part.shape[d] for d in kept])
    raise AssertionError(f"a slice of shape {part.shape} does not become {result}")


def _checked(op: ir.Operation, array: Array) -> Array:
    """The array, if it has the static sizes that its type promises."""
    result: Any = op.results[0].type
    assert result.rank == array.ndim, f"{op.name} makes {array.shape}, not {result}"
    for i, size in enumerate(array.shape):
        assert result.is_dynamic_dim(i) or result.get_dim_size(i) == size, (
            f"{op.name} makes {array.shape}, not {result}"
        )
    return array


def _affine(expression: Any, point: Sequence[int]) -> int:
    if isinstance(expression, ir.AffineDimExpr):
        return point[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value
    assert isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)), str(expression)
    left, right = _affine(expression.lhs, point), _affine(expression.rhs, point)
    return left + right if isinstance(expression, ir.AffineAddExpr) else left * right


def _domain(maps: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> list[int]:
    """The size of each dimension of the iteration domain, which some operand is indexed by alone."""
    sizes: dict[int, int] = {}
    for affine_map, shape in zip(maps, shapes, strict=True):
        for expression, size in zip(affine_map.results, shape, strict=True):
            if isinstance(expression, ir.AffineDimExpr):
                position = expression.position
                assert sizes.setdefault(position, size) == size, f"d{position} has two sizes"
    return [sizes[i] for i in range(maps[0].n_dims)]


def _broadcast(array: Array, sizes: Sequence[int], added: Sequence[int]) -> Array:
    kept = tuple(slice(None) if i not in added else None for i in range(len(sizes)))
    return np.broadcast_to(array[kept], sizes).copy()


def _convolution(
    x: Array, w: Array, init: Array, strides: Sequence[int], dilations: Sequence[int], groups: int
) -> Array:
    """`init` plus a convolution of an input that is padded already: `[N, G·C, …] * [G·F, C, …]`."""
    result = init.copy()
    channels, filters = w.shape[1], w.shape[0] // groups if groups else 0
    for n, f, *out in np.ndindex(*result.shape):
        for c, *tap in np.ndindex(*w.shape[1:]):
            place = [o * s + t * d for o, s, t, d in zip(out, strides, tap, dilations, strict=True)]
            channel = f // filters * channels + c
            result[(n, f, *out)] += x[(n, channel, *place)] * w[(f, c, *tap)].astype(result.dtype)
    return result


def _least(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _pooling(
    x: Array, init: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int], kind: str
) -> Array:
    result = init.copy()
    leading = x.ndim - len(window)
    for point in np.ndindex(*result.shape):
        for tap in np.ndindex(*window):
            place = [o * s + t * d for o, s, t, d in zip(point[leading:], strides, tap, dilations, strict=True)]
            value = x[(*point[:leading], *place)]
            here = result[point]
            result[point] = here + value if kind == "sum" else _greater(here, value)
    return result


# Scalars


def _greater(a: Any, b: Any) -> Any:
    """`arith.maximumf` and `arith.maxsi`: NaN if either is."""
    return np.maximum(a, b)


def _wrapped(value: int, dtype: np.dtype[Any]) -> Any:
    """An integer modulo 2 to the bits of its type."""
    if dtype.kind == "b":
        return np.bool_(value & 1)
    bits = dtype.itemsize * 8
    value &= (1 << bits) - 1
    return dtype.type(value - (1 << bits) if value >> (bits - 1) else value)


_FLOATS: dict[str, Callable[[Any, Any], Any]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: a / b,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
}
_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "maxsi": max,
    "minsi": min,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "divsi": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "remsi": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
}
_COMPARISONS: dict[int, Callable[[int, int], bool]] = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    2: lambda a, b: a < b,
    3: lambda a, b: a <= b,
    4: lambda a, b: a > b,
    5: lambda a, b: a >= b,
}
_FLOAT_COMPARISONS: dict[int, Callable[[Any, Any], Any]] = {
    1: lambda a, b: a == b,
    2: lambda a, b: a > b,
    3: lambda a, b: a >= b,
    4: lambda a, b: a < b,
    5: lambda a, b: a <= b,
    13: lambda a, b: a != b,
}


def _scalar_op(op: ir.Operation, operands: list[Any]) -> Any:
    name = op.name.split(".")[1]
    if name == "constant":
        return _constant(op)
    dtype = _dtype(op.results[0].type)
    if name == "select":
        return operands[1] if operands[0] else operands[2]
    if name == "cmpf":
        return np.bool_(_FLOAT_COMPARISONS[int(op.attributes["predicate"].value)](*operands))
    if name == "cmpi":
        return np.bool_(_COMPARISONS[int(op.attributes["predicate"].value)](*(int(x) for x in operands)))
    if name in _FLOATS:
        return dtype.type(_FLOATS[name](*operands))
    if name in _INTEGERS:
        return _wrapped(_INTEGERS[name](*(int(x) for x in operands)), dtype)
    if name == "negf":
        return -operands[0]
    if name in ("sitofp", "extf", "truncf", "uitofp"):
        return dtype.type(operands[0])
    if name in ("index_cast", "extsi", "extui", "trunci", "fptosi"):
        value = int(operands[0])
        return _wrapped(-value if name == "extsi" and operands[0].dtype.kind == "b" else value, dtype)
    raise AssertionError(f"{op.name} has no meaning here")


def _constant(op: ir.Operation) -> Any:
    attribute, result = op.attributes["value"], op.results[0].type
    dtype = _dtype(result)
    if isinstance(result, ir.RankedTensorType):
        elements: Any = attribute
        if elements.is_splat:
            return np.full(list(result.shape), elements.get_splat_value().value, dtype)
        return np.array([elements[i] for i in range(len(elements))], dtype).reshape(list(result.shape))
    value = attribute.value
    return _wrapped(int(value), dtype) if dtype.kind in "bi" else dtype.type(value)
