"""`func`: calls and returns."""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.checker.interpreter import LEAVE, End, Frame, Implementation, OpReader, Step, Terminator, give
from hotdesk.checker.values import Value


def _call(reader: OpReader) -> Step:
    callee, operands, results = str(reader.attribute("callee").value), reader.operands, reader.results
    interpreter, at = reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        give(frame, results, interpreter.call(callee, [frame[slot] for slot in operands], at))

    return step


def _constant(reader: OpReader) -> Step:
    """A function as a value: its name."""
    name, (result,) = str(reader.attribute("value").value), reader.results

    def step(frame: Frame) -> None:
        frame[result] = name

    return step


def _call_indirect(reader: OpReader) -> Step:
    (callee, *operands), results, interpreter, at = reader.operands, reader.results, reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        name = interpreter.defined(frame[callee], at)
        give(frame, results, interpreter.call(name, [frame[slot] for slot in operands], at))

    return step


def _return(reader: OpReader, targets: Sequence[int]) -> End:
    interpreter, slots, at = reader.interpreter, reader.operands, reader.at

    def end(frame: Frame) -> tuple[int, list[Value]]:
        interpreter.returned = at
        return LEAVE, [frame[slot] for slot in slots]

    return end


OPS: dict[str, Implementation] = {
    "func.call": _call,
    "func.call_indirect": _call_indirect,
    "func.constant": _constant,
}
TERMINATORS: dict[str, Terminator] = {"func.return": _return}
