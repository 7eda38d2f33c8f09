"""`affine`: indices put together and taken apart. The rest of the dialect is lowered before a program runs (`check`)."""

from __future__ import annotations

import numpy as np

from hotdesk.checker.interpreter import Frame, Implementation, OpReader, Step


def _delinearize(reader: OpReader) -> Step:
    """The digits of a number, the last one first; what is left over is the first one, whose bound may be stated or not."""
    index, *slots = reader.operands
    basis_of, results, interpreter, at = (
        reader.mixed("static_basis", slots),
        reader.results,
        reader.interpreter,
        reader.at,
    )

    def step(frame: Frame) -> None:
        rest, basis = interpreter.defined(frame[index], at), basis_of(frame)
        for slot, size in zip(reversed(results[1:]), reversed(basis), strict=False):
            frame[slot] = np.int64(rest % size)
            rest = rest // size
        frame[results[0]] = np.int64(rest)

    return step


def _linearize(reader: OpReader) -> Step:
    indices, slots = reader.groups()
    basis_of, (result,), interpreter, at = (
        reader.mixed("static_basis", slots),
        reader.results,
        reader.interpreter,
        reader.at,
    )

    def step(frame: Frame) -> None:
        first, *rest = (interpreter.defined(frame[slot], at) for slot in indices)
        basis = basis_of(frame)
        for index, size in zip(rest, basis[len(basis) - len(rest) :], strict=True):
            first = first * size + index
        frame[result] = np.int64(first)

    return step


OPS: dict[str, Implementation] = {
    "affine.delinearize_index": _delinearize,
    "affine.linearize_index": _linearize,
}
