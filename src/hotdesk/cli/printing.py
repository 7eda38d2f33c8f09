"""IR as text: the module at the end, and the IR between passes, under headings in mlir-opt's form.

    // -----// IR Dump After ChooseDestinations (hotdesk-choose-destinations) //----- //

What lies between passes of MLIR's, MLIR prints: for each op that a pass ran on. Ours run on modules.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line has these options, and its help needs no MLIR
    from hotdesk._bindings import PassManager, ir
    from hotdesk.passes.base import Pass

_OWN_FILE = re.compile(r'"-":(?=\d+:\d+)')
_HEADING = re.compile(r"(IR Dump (?:Before|After) \w+)( Failed)?: ([\w-]+)(?:\{.*\})?( \('.*\))? //----- //")


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """How operations are printed. The limits are in elements and characters; None is no limit."""

    generic: bool = False
    locations: bool = False
    local_scope: bool = False
    elements_limit: int | None = None
    resources_limit: int | None = None

    def text(self, operation: ir.Operation, file: str = "-") -> str:
        """The operation as text, ending in a newline; `file` is what locations in the input name."""
        text = operation.get_asm(
            large_elements_limit=self.elements_limit,
            large_resource_limit=self.resources_limit,
            enable_debug_info=self.locations,
            print_generic_op_form=self.generic,
            use_local_scope=self.local_scope,
        )
        return self.with_file(text, file).rstrip("\n") + "\n"

    def with_file(self, text: str, file: str) -> str:
        """IR in text with that name of a file where its locations say `-`."""
        return _OWN_FILE.sub(lambda _: f'"{file}":', text) if self.locations else text


@dataclass(frozen=True, slots=True)
class DumpOptions:
    """Which IR to print between passes; `before` and `after` name passes."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    after_failure: bool = False
    module_scope: bool = False

    @property
    def any(self) -> bool:
        return self != DumpOptions() and (self != DumpOptions(module_scope=True))

    def shows_before(self, name: str) -> bool:
        return self.before_all or name in self.before

    def shows_after(self, name: str) -> bool:
        """Whether to print after a pass; a wish for changes or for failures alone means after every pass."""
        chosen = self.before or self.after or self.before_all or self.after_all
        return self.after_all or name in self.after or (not chosen and self.any)


@dataclass(frozen=True, slots=True)
class Dumps:
    """Prints the IR around the passes of one run."""

    options: DumpOptions
    printing: PrintOptions
    file: str = "-"

    @contextmanager
    def around(self, one: Pass, operation: ir.Operation) -> Generator[None]:
        """Prints before and after a pass of ours that runs inside the `with`."""
        if not self.options.any:
            yield
            return
        before = self.printing.text(operation, self.file)
        if self.options.shows_before(one.name):
            self._show("Before", one, operation, before)
        try:
            yield
        except Exception:
            if self.options.shows_after(one.name):
                self._show("After", one, operation, self.printing.text(operation, self.file), " Failed")
            raise
        if self.options.after_failure or not self.options.shows_after(one.name):
            return
        after = self.printing.text(operation, self.file)
        if not self.options.after_change or after != before:
            self._show("After", one, operation, after)

    @contextmanager
    def of_mlir(self, manager: PassManager, name: str) -> Generator[None]:
        """Prints around MLIR's pass `name`, the only one of `manager`, which runs inside the `with`."""
        before, after = self.options.shows_before(name), self.options.shows_after(name)
        if not before and not after:
            yield
            return
        with self._on_stderr():
            manager.enable_ir_printing(
                print_before_all=before,
                print_after_all=after,
                print_module_scope=self.options.module_scope,
                print_after_change=self.options.after_change,
                print_after_failure=self.options.after_failure,
                large_elements_limit=self.printing.elements_limit,
                large_resource_limit=self.printing.resources_limit,
                enable_debug_info=self.printing.locations,
                print_generic_op_form=self.printing.generic,
            )
            yield

    def _show(self, when: str, one: Pass, operation: ir.Operation, text: str, failed: str = "") -> None:
        scope = f" ('{operation.name}' operation)" if self.options.module_scope else ""
        heading = f"// -----// IR Dump {when} {type(one).__name__}{failed} ({one.name}){scope} //----- //\n"
        print(heading + text, file=sys.stderr, flush=True)

    @contextmanager
    def _on_stderr(self) -> Generator[None]:
        """What MLIR itself writes to stderr inside the `with` comes out in the form of ours."""
        sys.stderr.flush()
        with tempfile.TemporaryFile() as kept:
            own = os.dup(2)
            os.dup2(kept.fileno(), 2)
            try:
                yield
            finally:
                os.dup2(own, 2)
                os.close(own)
                kept.seek(0)
                text = kept.read().decode("utf-8", "replace")
                print(self._in_our_form(text), end="", file=sys.stderr, flush=True)

    def _in_our_form(self, text: str) -> str:
        """With the headings of ours, and the input's name in locations."""
        return self.printing.with_file(_HEADING.sub(r"\1\2 (\3)\4 //----- //", text), self.file)
