"""`linalg`, by walking every point of the iteration domain, and Hotdesk's own ops.

The ops that programs have most are said once more, by what their names mean and not by the payload that MLIR gives them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs._mlirDialectsLinalg import get_indexing_maps
from torch_mlir.dialects import _linalg_ops_gen

from hotdesk.ir.dialect import ZeroRows
from tests.reference.interpreter import POINT, Interpreter, Meaning
from tests.reference.values import Array, Operation, Values, integers
from tests.reference.windows import convolution, least, pooling

_EQUATIONS = {
    "matmul": "mk,kn->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "matvec": "mk,k->m",
    "vecmat": "k,kn->n",
    "dot": "k,k->",
}


def _structured(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """Any op with a payload: what MLIR says are its maps, and as many inits as results; on memory, it writes into its inits."""
    count = len(op.results) or _count_of_inits(op)
    inputs = len(operands) - count
    maps = [attribute.value for attribute in get_indexing_maps(op) or ()]
    assert maps, f"{op.name} has no meaning here"
    if op.results:
        return _walk(machine, op, operands[:inputs], [x.copy() for x in operands[inputs:]], maps, values)
    _walk(machine, op, operands[:inputs], operands[inputs:], maps, values)
    return []


def _count_of_inits(op: Operation) -> int:
    """How many operands an op on memory writes."""
    return int(op.attributes["operandSegmentSizes"][1]) if "operandSegmentSizes" in op.attributes else 1


def _walk(
    machine: Interpreter, op: Operation, inputs: list[Any], outputs: list[Any], maps: Sequence[Any], values: Values
) -> list[Array]:
    """The body, at every point of the iteration domain, which writes into the outputs."""
    region = op.regions[0]
    arrays = [*(np.asarray(x) for x in inputs), *outputs]
    taken = len(region.blocks[0].arguments)  # `linalg.map` may not name what it overwrites
    for point in itertools.product(*(range(size) for size in _domain(maps, [x.shape for x in arrays]))):
        places = [tuple(_affine(e, point) for e in m.results) for m in maps]
        arguments = [array[place] for array, place in zip(arrays, places, strict=True)]
        local: Values = {**values, POINT: [np.int64(p) for p in point]}
        results = machine.yielded(region, arguments[:taken], local)
        for array, place, value in zip(outputs, places[len(inputs) :], results, strict=True):
            array[place] = value
    return outputs


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


def _index(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [values[POINT][int(op.attributes["dim"].value)]]


def _fill(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [np.full(operands[1].shape, operands[0], operands[1].dtype)]


def _copy(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [operands[0].astype(operands[1].dtype)]


def _move(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [operands[0].copy()]


def _transpose(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    turned: Any = np.transpose(operands[0], integers(op.attributes["permutation"]))
    return [turned.copy()]


def _broadcast(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    sizes, added = operands[1].shape, integers(op.attributes["dimensions"])
    kept = tuple(slice(None) if i not in added else None for i in range(len(sizes)))
    widened: Any = np.broadcast_to(operands[0][kept], sizes)
    return [widened.copy()]


def _product(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    a, b, init = operands
    total = np.einsum(_EQUATIONS[op.name.split(".")[1]], a.astype(init.dtype), b.astype(init.dtype))
    return [np.asarray(init + total, dtype=init.dtype)]


def _convolution(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    strides, dilations = integers(op.attributes["strides"]), integers(op.attributes["dilations"])
    x, w, init = operands
    return [convolution(x.astype(init.dtype), w, init, strides, dilations, 1)]


def _pooling(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    strides, dilations = integers(op.attributes["strides"]), integers(op.attributes["dilations"])
    x, window, init = operands
    return [pooling(x, init, window.shape, strides, dilations, op.name.rsplit("_", 1)[1])]


# Hotdesk's


def _own_contract(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    a, b, init = operands
    equation = op.attributes["equation"].value
    letters: dict[str, int] = {}
    left, right = equation.split("->")
    for names, array in zip([*left.split(","), right], operands, strict=True):
        for letter, size in zip(names, array.shape, strict=True):
            assert letters.setdefault(letter, size) == size, f"{letter} of {equation} has two sizes"
    total = np.einsum(equation, a.astype(init.dtype), b.astype(init.dtype))
    return [np.asarray(total + init if op.attributes["accumulate"].value else total, dtype=init.dtype)]


def _own_convolution(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    x, w, init = operands
    names = ("strides", "dilations", "pad_low", "pad_high", "input_dilations")
    strides, dilations, low, high, spread = (integers(op.attributes[name]) for name in names)
    wide = [(s - 1) * d + 1 if s else 0 for s, d in zip(x.shape[2:], spread, strict=True)]
    padded = np.zeros([*x.shape[:2], *(a + s + b for a, s, b in zip(low, wide, high, strict=True))], init.dtype)
    inside = tuple(slice(a, a + s, d) for a, s, d in zip(low, wide, spread, strict=True))
    padded[(slice(None), slice(None), *inside)] = x
    start = init if op.attributes["accumulate"].value else np.zeros_like(init)
    return [convolution(padded, w, start, strides, dilations, int(op.attributes["groups"].value))]


def _own_pooling(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    x, init = operands
    names = ("window", "strides", "dilations", "pad_low", "pad_high")
    window, strides, dilations, low, high = (integers(op.attributes[name]) for name in names)
    kind = op.attributes["kind"].value
    neutral = 0 if kind == "sum" else least(init.dtype)
    around = [(0, 0)] * (x.ndim - len(window)) + list(zip(low, high, strict=True))
    padded = np.pad(x, around, constant_values=neutral)
    start = init if op.attributes["accumulate"].value else np.full_like(init, neutral)
    return [pooling(padded, start, window, strides, dilations, kind)]


def _own_attention(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """Score by score, by the words of the dialect."""
    *inputs, init = operands
    terms, result = op.attributes["equation"].value.split("->")
    letters = terms.split(",")
    sizes = {c: size for names, x in zip(letters, inputs, strict=True) for c, size in zip(names, x.shape, strict=True)}
    batch = [c for c in result if c not in "me"]
    found = np.zeros_like(init)

    def at(names: str, x: Any, place: dict[str, int]) -> Any:
        return x[tuple(0 if c == "1" else place.get(c, slice(None)) for c in names)]

    for point in itertools.product(*(range(sizes[c]) for c in batch), range(sizes["m"])):
        place = dict(zip([*batch, "m"], point, strict=True))
        scores: list[Any] = []
        for key in range(sizes["n"]):
            here = {**place, "n": key}
            q, k, _, *extras = (at(names, x, here) for names, x in zip(letters, inputs, strict=True))
            given = [np.dot(q, k), *extras, np.int64(place["m"]), np.int64(key)]
            scores += machine.yielded(op.regions[0], given, values)
        row = np.array(scores, np.float64)
        peak = max(row, default=-np.inf)
        zeros = ZeroRows(op.attributes["zero_rows"].value)
        if peak == -np.inf and zeros is not ZeroRows.NEVER:
            continue
        if zeros is ZeroRows.UNDEFINED and (peak == np.inf or np.isnan(row).any()):
            continue
        weights = np.exp(row - peak) if len(row) else row
        v = [at(letters[2], inputs[2], {**place, "n": key}) for key in range(sizes["n"])]
        total = sum(
            (w * x for w, x in zip(weights / (weights.sum() if len(row) else 1), v, strict=True)), np.zeros(sizes["e"])
        )
        found[tuple(place.get(c, slice(None)) for c in result)] = total
    return [found]


_NAMES = [c.OPERATION_NAME for c in vars(_linalg_ops_gen).values() if hasattr(c, "OPERATION_NAME")]
_ON_TENSORS: dict[str, Meaning] = {
    **dict.fromkeys(_NAMES, _structured),
    "linalg.index": _index,
    "linalg.fill": _fill,
    "linalg.copy": _copy,
    "linalg.transpose": _transpose,
    "linalg.broadcast": _broadcast,
    **{f"linalg.{name}": _product for name in _EQUATIONS},
    "linalg.conv_1d_ncw_fcw": _convolution,
    "linalg.conv_2d_nchw_fchw": _convolution,
    **{f"linalg.pooling_nc{dims}_{kind}": _pooling for dims in ("w", "hw") for kind in ("sum", "max")},
    "hotdesk.attention": _own_attention,
    "hotdesk.contract": _own_contract,
    "hotdesk.conv": _own_convolution,
    "hotdesk.pool": _own_pooling,
    "hotdesk.move": _move,
}


def _on_memory(meaning: Meaning) -> Meaning:
    """The same, of which an op without results writes into its last operand."""

    def run(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
        made = meaning(machine, op, operands, values)
        if len(made) > len(op.results):
            operands[-1][...] = made[0]
            return []
        return made

    return run


MEANINGS: dict[str, Meaning] = {name: _on_memory(meaning) for name, meaning in _ON_TENSORS.items()}
