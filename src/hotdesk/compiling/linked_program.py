"""A lowered program linked: its machine code, and the record of all that memory is given to, kept on disk, or saved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hotdesk.explain import Decision
from hotdesk.ir.context import bytecode
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.function import LoweredFunction
from hotdesk.pipeline import Lowered
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.products import common_functions, linked

if TYPE_CHECKING:
    from hotdesk.frontends.captured import Captured


@dataclass(frozen=True, slots=True)
class LinkedProgram:
    """A program whose machine code is linked, without memory yet.

    Attributes:
        captured: as the front end found it; without its module, which has changed since.
        module: the IR on memrefs, as bytecode.
        main, prepare: its functions.
        assertions: the run-time checks that kernels may fail.
        prepared: shape and element type of what `@prepare` hands to `@main`.
        decisions: what the passes decided.
        common: functions of the process that its code calls.
        code: the key of its machine code in the cache, if it is there.
    """

    captured: Captured
    module: bytes
    main: LoweredFunction
    prepare: LoweredFunction | None
    assertions: tuple[Assertion, ...]
    prepared: tuple[tuple[tuple[int, ...], str], ...]
    decisions: tuple[Decision, ...]
    common: tuple[str, ...]
    code: str | None

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(function.entry for function in (self.main, self.prepare) if function is not None)


def link_program(
    captured: Captured,
    lowered: Lowered,
    prepared: Iterable[tuple[tuple[int, ...], str]],
    decisions: Iterable[Decision],
) -> tuple[LinkedProgram, CompiledCode]:
    """A lowered program and its machine code."""
    without_module: Any = {"module": None}
    made = LinkedProgram(
        replace(captured, **without_module),
        bytecode(captured.module),
        lowered.main,
        lowered.prepare,
        lowered.assertions,
        tuple(prepared),
        tuple(decisions),
        common_functions(lowered.module),
        None,
    )
    machine = linked(lowered.module, made.entries, captured.foreign)
    return replace(made, code=machine.kept_as), machine
