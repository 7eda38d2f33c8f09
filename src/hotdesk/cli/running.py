"""Runs a pipeline pass by pass: what lies between can be printed, timed and left unverified, and who failed is known."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from hotdesk._bindings import PassManager, ir
from hotdesk.cli.pipelines import single_passes
from hotdesk.cli.printing import Dumps
from hotdesk.errors import HotdeskError, PassError
from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.passes.base import Pass
from hotdesk.passes.textual import MODULE, MLIRPasses, PassPipeline

_REPORT = (
    "This is a defect of the pass, not of the input: please report it to whoever keeps the pass (Hotdesk's issue tracker for a "
    "name that begins with hotdesk-), with the command and the input; --debug shows the traceback."
)
_RULE = f"==={'-' * 73}==="


class InternalError(PassError):
    """A pass raised what no pass should raise."""

    @classmethod
    def of(cls, name: str, error: Exception) -> InternalError:
        found = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return cls(f"internal error in pass '{name}'", got=found, hint=_REPORT)


@dataclass(frozen=True, slots=True)
class Top:
    """What passes run on: an operation, and the module that it is unless the input is another op."""

    operation: ir.Operation
    module: ir.Module | None


@dataclass(slots=True)
class Timer:
    """Seconds of wall time by name, in order; a pass that runs twice has two lines."""

    rows: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    _start: float = field(default_factory=time.perf_counter)

    @contextmanager
    def measure(self, name: str) -> Generator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.rows.append((name, time.perf_counter() - start))

    def report(self) -> str:
        """The table of what was measured, up to now."""
        return table(self.rows, time.perf_counter() - self._start)


@dataclass(slots=True)
class Runner:
    """Runs passes on one input. `current` is the pass that runs, or failed."""

    dumps: Dumps
    timer: Timer | None = None
    verify_each: bool = True
    current: str = ""

    def run(self, pipeline: PassPipeline, top: Top) -> Generator[tuple[str, tuple[Decision, ...]]]:
        """The decisions of each pass by its name, once it has run.

        Raises:
            ir.MLIRError: a pass of MLIR's failed; carries its diagnostics.
            InternalError: a pass raised what no pass should raise.
            HotdeskError: a pass failed, or is for another op.
        """
        _check_anchor(pipeline, top)
        for one in single_passes(pipeline).passes:
            self.current = one.argument if isinstance(one, MLIRPasses) else one.name
            with self.measured(self.current), entered(top.operation):
                if isinstance(one, MLIRPasses):
                    self._run_mlir(one, pipeline.anchor, top.operation)
                    taken = ()
                else:
                    taken = self._run_ours(one, top)
            yield self.current, taken
        self.current = ""

    def measured(self, name: str) -> AbstractContextManager[None]:
        """Times what runs inside the `with`, if anybody asked for it."""
        return nullcontext() if self.timer is None else self.timer.measure(name)

    def _run_mlir(self, one: MLIRPasses, anchor: str, operation: ir.Operation) -> None:
        anchor = operation.name if anchor == "any" else anchor
        manager = PassManager.parse(f"{anchor}({one.pipeline})")
        manager.enable_verifier(self.verify_each)
        with self.dumps.of_mlir(manager, self.current):
            manager.run(operation)

    def _run_ours(self, one: Pass, top: Top) -> tuple[Decision, ...]:
        if top.module is None:
            raise PassError(f"pass '{one.name}'", expected="to run on a builtin.module", got=f"a {top.operation.name}")
        try:
            with self.dumps.around(one, top.operation):
                taken = one.apply(top.module, verified=self.verify_each)
        except (HotdeskError, ir.MLIRError):
            raise
        except Exception as error:
            raise InternalError.of(one.name, error) from error
        return taken


def table(rows: list[tuple[str, float]], total: float) -> str:
    """Seconds and percent of `total` of each row; what is left of the total is called Rest."""
    rest = max(total - sum(seconds for _, seconds in rows), 0.0)
    title = f"{'':25}... Execution time report ..."
    lines = [_RULE, title, _RULE, f"  Total Execution Time: {total:.4f} seconds", ""]
    lines.append("  ----Wall Time----  ----Name----")
    for name, seconds in [*rows, ("Rest", rest), ("Total", total)]:
        percent = 100 * seconds / total if total else 0.0
        lines.append(f"  {seconds:8.4f} ({percent:5.1f}%)  {name}")
    return "\n".join(lines) + "\n"


def _check_anchor(pipeline: PassPipeline, top: Top) -> None:
    if pipeline.anchor in ("any", top.operation.name) or (pipeline.anchor == MODULE and not pipeline.passes):
        return
    raise PassError(f"pipeline for '{pipeline.anchor}'", expected=f"one for '{top.operation.name}'", got=str(pipeline))
