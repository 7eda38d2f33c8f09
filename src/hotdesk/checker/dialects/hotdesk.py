"""Hotdesk's ops: contractions, convolutions and poolings, each in the plainest way NumPy has.

An element of the result is undefined if one that it is computed from is: the same op, applied to a source's marks with ones in
the place of the other source, counts how many of those there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from hotdesk.checker.buffers import MemRef
from hotdesk.checker.dialects.elementwise import marked
from hotdesk.checker.interpreter import Frame, Implementation, Interpreter, OpReader, Step
from hotdesk.checker.overlaps import may_move, sharing
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Array, Unwritten, Value, plain, xp
from hotdesk.errors import LoweringError
from hotdesk.explain import Source
from hotdesk.ir.dialect import ZeroRows

Total: TypeAlias = Callable[..., Array]
"""What an op makes of the type to compute in and of its sources."""


def _contract(reader: OpReader) -> Step:
    a, b, init = reader.operands
    equation, accumulates = str(reader.attribute("equation").value), bool(reader.attribute("accumulate").value)
    interpreter, at = reader.interpreter, reader.at
    left, result = equation.split("->")
    names = [*left.split(","), result]

    def step(frame: Frame) -> None:
        views: list[MemRef] = [frame[slot] for slot in (a, b, init)]
        letters: dict[str, int] = {}
        for group, view in zip(names, views, strict=True):
            for letter, size in zip(group, view.sizes, strict=True):
                if letters.setdefault(letter, size) != size:
                    interpreter.findings.stop(
                        FaultKind.SHAPE, at, f"{letter} of {equation} is {letters[letter]} and {size}"
                    )

        def total(kind: np.dtype[Any], x: Array, y: Array) -> Array:
            return _product(equation, x.astype(kind), y.astype(kind))

        value = _computed(interpreter, views, total, _sums(views[2].dtype), at)
        _finish(interpreter, views[2], value, np.add, accumulates, at)

    return step


def _product(equation: str, x: Array, y: Array) -> Array:
    """The contraction; of size 1 along letters that the result alone has, along which it stays the same."""
    inputs, result = equation.split("->")
    total: Array = np.einsum(f"{inputs}->{''.join(c for c in result if c in inputs)}", x, y, optimize=True)
    return np.expand_dims(total, tuple(i for i, letter in enumerate(result) if letter not in inputs))


def _convolution(reader: OpReader) -> Step:
    a, b, init, *scratch = reader.operands
    steps, dilations, low, high, spread = (
        reader.integers(n) for n in ("strides", "dilations", "pad_low", "pad_high", "input_dilations")
    )
    groups, accumulates = int(reader.attribute("groups").value), bool(reader.attribute("accumulate").value)
    interpreter, at = reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        views: list[MemRef] = [frame[slot] for slot in (a, b, init)]
        out = views[2].sizes

        def total(kind: np.dtype[Any], x: Array, w: Array) -> Array:
            wide = [(s - 1) * d + 1 if s else 0 for s, d in zip(x.shape[2:], spread, strict=True)]
            padded = np.zeros([*x.shape[:2], *(p + s + q for p, s, q in zip(low, wide, high, strict=True))], kind)
            inside = tuple(slice(p, p + s, d) for p, s, d in zip(low, wide, spread, strict=True))
            padded[(slice(None), slice(None), *inside)] = x
            found = np.zeros(out, kind)
            filters, channels = w.shape[0] // max(groups, 1), w.shape[1]
            for tap in itertools.product(*map(range, w.shape[2:])):
                window = _window(interpreter, padded, out[2:], tap, steps, dilations, at)
                for group in range(groups):
                    f = slice(group * filters, (group + 1) * filters)
                    part = window[:, group * channels : (group + 1) * channels]
                    weights = w[(f, slice(None), *tap)].astype(kind)
                    found[:, f] += np.einsum("nc...,fc->nf...", part, weights, optimize=True)
            return found

        value = _computed(interpreter, views, total, _sums(views[2].dtype), at)
        for slot in scratch:  # whatever the kernel leaves in its scratch memory
            view: MemRef = frame[slot]
            interpreter.memory.write(view, np.zeros((), view.dtype), at)
            interpreter.memory.forget(view)
        _finish(interpreter, views[2], value, np.add, accumulates, at)

    return step


def _pooling(reader: OpReader) -> Step:
    a, init = reader.operands
    window, steps, dilations, low, high = (
        reader.integers(n) for n in ("window", "strides", "dilations", "pad_low", "pad_high")
    )
    kind, accumulates = str(reader.attribute("kind").value), bool(reader.attribute("accumulate").value)
    interpreter, at = reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        views: list[MemRef] = [frame[slot] for slot in (a, init)]
        dtype, combine = views[1].dtype, np.add if kind == "sum" else np.maximum
        out = views[1].sizes[len(views[1].sizes) - len(window) :]

        def total(kept: np.dtype[Any], x: Array) -> Array:
            neutral = kept.type(0) if kind == "sum" else _least(kept)
            around = [(0, 0)] * (x.ndim - len(window)) + list(zip(low, high, strict=True))
            padded = np.pad(x.astype(kept), around, constant_values=neutral)
            found = np.full(views[1].sizes, neutral, kept)
            for tap in itertools.product(*map(range, window)):
                found = combine(found, _window(interpreter, padded, out, tap, steps, dilations, at))
            return found

        value = _computed(interpreter, views, total, _sums(dtype) if kind == "sum" else dtype, at)
        _finish(interpreter, views[1], value, combine, accumulates, at)

    return step


def _move(reader: OpReader) -> Step:
    source, target = reader.operands
    interpreter, at = reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        a, b = frame[source], frame[target]
        if a.sizes != b.sizes:
            message = f"moves elements of sizes {list(a.sizes)} to {list(b.sizes)}"
            interpreter.findings.stop(FaultKind.SHAPE, at, message, b.buffer)
        if not may_move(a, b):
            message = (
                "source and target of a move share bytes, and their elements do not lie in the order of their indices"
            )
            interpreter.findings.add(FaultKind.OVERLAP, at, message, b.buffer)
        interpreter.memory.write(b, interpreter.memory.read(a, at), at)

    return step


def _attention(reader: OpReader) -> Step:
    """Softmax of all scores at once. An element is undefined if its query, a key, a value of its column or an extra is."""
    *inputs, target = reader.operands
    terms, result = str(reader.attribute("equation").value).split("->")
    letters, zero_rows = terms.split(","), ZeroRows(reader.attribute("zero_rows").value)
    domain = "".join(c for c in result if c not in "me") + "mn"
    interpreter, at, body = reader.interpreter, reader.at, reader.region(0)

    def scored(frame: Frame, q: Array, k: Array, extras: Sequence[Array], shape: Sequence[int]) -> Array:
        products = np.einsum(f"{letters[0]},{letters[1]}->{domain}", q, k, optimize=True)
        places: list[Array] = [np.arange(shape[-2], dtype=np.int64)[:, None], np.arange(shape[-1], dtype=np.int64)]
        given = [_over(extra, names, domain) for extra, names in zip(extras, letters[3:], strict=True)]
        (found,) = body.run(frame, [products, *given, *places])
        return np.broadcast_to(found, shape)

    def weighed(scores: Array, v: Array) -> Array:
        peak = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        guards = zero_rows is not ZeroRows.NEVER
        powers = np.exp(scores - (np.where(peak == -np.inf, 0, peak) if guards else peak))
        total = powers.sum(axis=-1, keepdims=True)
        weights = powers / (np.where(total == 0, 1, total) if guards else total)
        if zero_rows is ZeroRows.UNDEFINED:
            weights = np.where(np.isnan(weights), 0, weights)
        return np.einsum(f"{domain},{letters[2]}->{result}", weights, v, optimize=True)

    def step(frame: Frame) -> None:
        views: list[MemRef] = [frame[slot] for slot in (*inputs, target)]
        for view in views[:-1]:
            if sharing(view, views[-1]):
                message = f"reads {view.buffer.name} while it writes it"
                interpreter.findings.add(FaultKind.OVERLAP, at, message, view.buffer)
        sizes: dict[str, int] = {}
        for names, view in zip([*letters, result], views, strict=True):
            for letter, size in zip(names, view.sizes, strict=True):
                if sizes.setdefault(letter, size) != size:
                    interpreter.findings.stop(FaultKind.SHAPE, at, f"{letter} is {sizes[letter]} and {size}")
        shape = [sizes[c] for c in domain]
        given = [_read(interpreter, view, at) for view in views[:-1]]
        q, k, v, *extras = map(plain, given)
        q, k, v = (each.astype(_sums(each.dtype)) for each in (q, k, v))
        with np.errstate(invalid="ignore"):
            value: Value = weighed(scored(frame, q, k, extras, shape), v).astype(views[-1].dtype)
        marks = [each for each in given if type(each) is Unwritten]
        if marks:
            where = [each.where if type(each) is Unwritten else np.zeros(plain(each).shape, np.bool_) for each in given]
            unknown = np.zeros(shape, np.bool_)
            for mark, names in zip((*where[:2], *where[3:]), (*letters[:2], *letters[3:]), strict=True):
                summed = tuple(i for i, c in enumerate(names) if c == "d")
                unknown = unknown | _over(mark.any(axis=summed), names.replace("d", ""), domain)
            rows = _over(unknown.any(axis=-1), domain[:-1], result)
            columns = _over(where[2].any(axis=letters[2].index("n")), letters[2].replace("n", ""), result)
            undefined = rows | columns
            value = Unwritten(
                plain(value), xp.broadcast_to(undefined, plain(value).shape), marks[0].reader, marks[0].buffer
            )
        interpreter.memory.write(views[-1], value, at)

    return step


def _foreign(reader: OpReader) -> Step:
    """Calls the function on copies of its inputs, each row by row. All of a result is undefined if anything of an input is."""
    inputs, numbers, _ = reader.integers("groups")
    operands, interpreter, at = reader.operands, reader.interpreter, reader.at
    callee = str(reader.attribute("callee").value)
    call = interpreter.settings.calls.get(callee)
    if call is None:
        raise LoweringError(
            f"the memory checker has no function `{callee}`",
            expected="a program that brings what its foreign calls run, as `Program.check` does",
            got=f"a call for `{reader.attribute('op').value}`",
            where=at.location,
        )

    def step(frame: Frame) -> None:
        given: list[MemRef] = [frame[slot] for slot in operands[:inputs]]
        made: list[MemRef] = [frame[slot] for slot in operands[inputs + numbers :]]
        for view, target in itertools.product(given, made):
            if sharing(view, target):
                message = f"reads {view.buffer.name} while it writes it"
                interpreter.findings.add(FaultKind.OVERLAP, at, message, view.buffer)
        read = [_read(interpreter, view, at) for view in given]
        results: list[Array] = [np.empty(view.sizes, view.array.dtype) for view in made]
        copies = [np.array(view.array, order="C") for view in given]
        call(copies, [int(frame[slot]) for slot in operands[inputs : inputs + numbers]], results)
        marks = [value for value in read if type(value) is Unwritten]
        for view, result in zip(made, results, strict=True):
            value: Value = result
            if marks:
                value = Unwritten(result, np.ones(result.shape, np.bool_), marks[0].reader, marks[0].buffer)
            interpreter.memory.write(view, value, at)

    return step


def _over(value: Array, names: str, domain: str) -> Array:
    """A tensor with a dimension for each letter of a domain, of size 1 for those that it has not."""
    kept = [i for i, c in enumerate(names) if c != "1"]
    plain_names = [names[i] for i in kept]
    reshaped = value.reshape([value.shape[i] for i in kept])
    order = sorted(range(len(kept)), key=lambda i: domain.index(plain_names[i]))
    turned = reshaped.transpose(order)
    sizes = dict(zip((plain_names[i] for i in order), turned.shape, strict=True))
    return turned.reshape([sizes.get(c, 1) for c in domain])


def _window(
    interpreter: Interpreter,
    padded: Array,
    out: Sequence[int],
    tap: Sequence[int],
    steps: Sequence[int],
    dilations: Sequence[int],
    at: Source,
) -> Array:
    """The element under one tap of the window, for each place of the window."""
    leading = padded.ndim - len(out)
    parts = [slice(None)] * leading
    for size, place, stride, dilation, whole in zip(out, tap, steps, dilations, padded.shape[leading:], strict=True):
        first = place * dilation
        if size and first + (size - 1) * stride >= whole:
            message = f"a window reaches element {first + (size - 1) * stride} of {whole}, padding included"
            interpreter.findings.stop(FaultKind.OUT_OF_BOUNDS, at, message)
        parts.append(slice(first, first + size * stride, stride) if size else slice(0, 0))
    return padded[tuple(parts)]


def _computed(
    interpreter: Interpreter, views: Sequence[MemRef], total: Total, kind: np.dtype[Any], at: Source
) -> Value:
    """What an op makes of all views but the last, which is the destination and must not share bytes with them."""
    *sources, target = views
    for view in sources:
        if sharing(view, target):
            message = f"reads {view.buffer.name} while it writes it"
            interpreter.findings.add(FaultKind.OVERLAP, at, message, view.buffer)
    given = [_read(interpreter, view, at) for view in sources]
    result = total(kind, *map(plain, given))
    marks = [value for value in given if type(value) is Unwritten]
    if not marks:
        return result
    where = np.zeros(result.shape, np.bool_)
    for mark in marks:
        counted = (mark.where if value is mark else np.ones(plain(value).shape) for value in given)
        where |= total(np.dtype(np.float64), *counted) > 0
    return Unwritten(result, where, marks[0].reader, marks[0].buffer)


def _finish(
    interpreter: Interpreter, target: MemRef, value: Value, combine: Any, accumulates: bool, at: Source
) -> None:
    """Writes what was computed into the destination, together with what is there already if the op accumulates."""

    def written(*values: Array) -> Array:
        total = values[0] if len(values) == 1 else combine(values[1].astype(values[0].dtype), values[0])
        return np.asarray(total).astype(target.dtype)

    parts = (value, _read(interpreter, target, at)) if accumulates else (value,)
    undefined = any(type(part) is Unwritten for part in parts)
    interpreter.memory.write(target, marked(interpreter, written, parts, at) if undefined else written(*parts), at)


def _read(interpreter: Interpreter, view: MemRef, at: Source) -> Value:
    """What is in a view; if nobody wrote it, that is told, or carried on."""
    value = interpreter.memory.read(view, at)
    return value if interpreter.settings.undefined == "carry" else interpreter.defined(value, at)


def _sums(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What sums of a type are kept in: 16-bit floats are rounded once."""
    return np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype


def _least(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return np.bool_(False)
    return np.iinfo(dtype).min if dtype.kind in "iu" else dtype.type(-np.inf)


OPS: dict[str, Implementation] = {
    "hotdesk.attention": _attention,
    "hotdesk.contract": _contract,
    "hotdesk.conv": _convolution,
    "hotdesk.foreign": _foreign,
    "hotdesk.move": _move,
    "hotdesk.pool": _pooling,
}
