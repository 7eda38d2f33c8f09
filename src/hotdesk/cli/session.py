"""What `hotdesk-opt` does with its input: each part is read, run and printed, and what is said about it shown or checked."""

from __future__ import annotations

import io
import traceback
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from hotdesk._bindings import ir
from hotdesk.cli.arguments import CommandLine
from hotdesk.cli.diagnostics import Diagnostic, Input, without_operations
from hotdesk.cli.exits import complain
from hotdesk.cli.expectations import unmet
from hotdesk.cli.files import Chunk, chunks, fill, read, write
from hotdesk.cli.pipelines import flag_pipeline, written_out
from hotdesk.cli.printing import Dumps, PrintOptions
from hotdesk.cli.remarks import Functions, Remarks, in_words_of
from hotdesk.cli.running import Runner, Timer, Top
from hotdesk.errors import HotdeskError, PassError
from hotdesk.explain import Decision
from hotdesk.ir.context import make_context
from hotdesk.models.files import load_models
from hotdesk.passes.textual import MODULE, PassPipeline, parse_pipeline


def transform(options: CommandLine) -> int:
    """Runs the passes on every part of the input in turn, and returns the exit code; a part that fails leaves the others alone.

    Raises:
        HotdeskError: the pipeline, or a file of models, makes no sense.
        OSError: a file cannot be read or written.
        UnicodeDecodeError: the input is neither bytecode nor text in UTF-8.
    """
    for file in options.models:
        load_models(file)
    text = read(options.file)
    pipeline = None
    if options.pipeline is not None:
        pipeline = parse_pipeline(options.pipeline)
    elif options.implicit_module:
        pipeline = flag_pipeline(options.passes)
    name = "<stdin>" if options.file == "-" else options.file
    session = Session(options, Input.of(name, text if isinstance(text, str) else ""), pipeline)
    with ExitStack() as files:
        if options.remark_file not in (None, "-"):
            session.remark_output = files.enter_context(Path(options.remark_file).open("w", encoding="utf-8"))
        return fill(options.output, lambda output: _process(text, session, output))


def _process(text: str | bytes, session: Session, output: TextIO) -> int:
    failed = False
    for number, chunk in enumerate(chunks(text, session.options.split)):
        if number:
            write(output, f"{session.options.output_marker}\n")
        printed, succeeded = session.run(chunk)
        failed |= not succeeded
        if printed is not None:
            write(output, f"{printed}\n" if isinstance(printed, str) else printed)
    return int(failed)


@dataclass(slots=True)
class Session:
    """A run of the command. `pipeline` is None while it depends on the input's own op."""

    options: CommandLine
    source: Input
    pipeline: PassPipeline | None
    remark_output: TextIO | None = None
    _diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def run(self, chunk: Chunk) -> tuple[str | bytes | None, bool]:
        """What to print of a part of the input, or None if it failed; and whether all is as it should be.

        With --verify-diagnostics, a failure is as it should be if the input expects it.
        """
        self._diagnostics.clear()
        timer = Timer() if self.options.timing else None
        printed = self._transformed(chunk, timer)
        if timer is not None:
            complain(timer.report())
        checking = self.options.verify_diagnostics
        if checking is None:
            return printed, printed is not None
        wrong = unmet(self._diagnostics, self.source, chunk.lines, chunk.before, checking == "all")
        for one in wrong:
            complain(self.source.show(one))
        return printed, not wrong

    def _transformed(self, chunk: Chunk, timer: Timer | None) -> str | bytes | None:
        dumps = Dumps(self.options.dumps, self.options.printing, self.source.file)
        runner = Runner(dumps, timer, self.options.verify_each)
        remarks = Remarks(self.options.remarks, self.options.remark_format, self.remark_output, self._say)
        functions = Functions(())
        context = make_context()
        context.enable_multithreading(False)
        context.allow_unregistered_dialects = self.options.allow_unregistered
        handler = context.attach_diagnostic_handler(self._handle)
        try:
            with runner.measured("Parser"):
                top = self._parse(chunk, context)
            functions = Functions.of(top.operation, self.source)
            pipeline = self.pipeline or flag_pipeline(self.options.passes, top.operation.name)
            if self.options.dump_pipeline:
                complain(str(written_out(pipeline)))
            for name, taken in runner.run(pipeline, top):
                for decision in taken:
                    self._told(decision)
                    remarks.decided(name, decision, self.source, functions)
            with runner.measured("Output"):
                return self._output(top)
        except ir.MLIRError as error:
            self._failed_in_mlir(error, runner.current)
        except HotdeskError as error:
            self._failed(error)
            remarks.failed(runner.current, error, self.source, functions)
        finally:
            handler.detach()
        return None

    def _parse(self, chunk: Chunk, context: ir.Context) -> Top:
        if not self.options.implicit_module and isinstance(chunk.padded, str):
            operation = ir.Operation.parse(chunk.padded, source_name="-", context=context).operation
            if operation.name != MODULE:
                return Top(operation, None)
        module = ir.Module.parse(chunk.padded, context)
        return Top(module.operation, module)

    def _output(self, top: Top) -> str | bytes:
        if not self.options.bytecode:
            return self.options.printing.text(top.operation, self.source.file)
        written = io.BytesIO()
        named = PrintOptions(generic=True, locations=True).text(top.operation, self.source.file)
        context = make_context()  # where names of resources are free
        context.allow_unregistered_dialects = self.options.allow_unregistered
        operation = ir.Operation.parse(named, source_name="-", context=context).operation
        operation.write_bytecode(written)
        return written.getvalue()

    # What is said

    def _say(self, diagnostic: Diagnostic) -> None:
        if not self.options.operation_notes:
            (diagnostic,) = without_operations([diagnostic])
        self._diagnostics.append(diagnostic)
        if self.options.verify_diagnostics is None:
            complain(self.source.show(diagnostic))

    def _handle(self, found: ir.Diagnostic) -> bool:
        self._say(self.source.of_mlir(found))
        return True

    def _told(self, decision: Decision) -> None:
        if not self.options.print_decisions:
            return
        decision = in_words_of(self.source, decision)
        because = ", ".join(map(str, decision.because))
        ending = f" ({because})" if because else ""
        complain(f"decision: {decision.subject}: {decision.outcome}: {decision.reason}, {decision.size} bytes{ending}")

    def _failed_in_mlir(self, error: ir.MLIRError, name: str) -> None:
        for one in error.error_diagnostics:
            self._say(self.source.of_mlir(one))
        if not name:
            return
        bare = PassError(f"pass '{name}' failed")
        if not error.error_diagnostics:
            self._failed(bare)
        elif self.options.verify_diagnostics is None:
            complain(f"{self.source.file}: error: {bare}")

    def _failed(self, error: HotdeskError) -> None:
        if isinstance(error.__cause__, ir.MLIRError):
            for one in error.__cause__.error_diagnostics:
                self._say(self.source.of_mlir(one))
            error = type(error)(error.what, expected=error.expected, where=error.where, hint=error.hint)
        self._say(self.source.of_error(error))
        if self.options.debug and error.__cause__ is not None:
            complain("".join(traceback.format_exception(error)))
