"""The kernels of a program: functions in one module, identical ones kept once."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.explain import Source
from hotdesk.ir.context import entered
from hotdesk.ir.linking import define
from hotdesk.ir.locations import CHECKED_OP, python_line
from hotdesk.ir.walking import symbol_name
from hotdesk.kernels.parts import part_name
from hotdesk.kernels.text import KernelText
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.structured.kernel import LoopKernel, build_loop_kernel
from hotdesk.passes.lower.to_llvm import SUPPORT
from hotdesk.passes.lower.views import MemrefResolver
from hotdesk.program.symbolic import SymbolicSizes


class KernelLibrary:
    """Collects kernels in `module`; asks for the same kernel twice give the same name."""

    def __init__(self, context: ir.Context) -> None:
        with context, ir.Location.unknown():
            self.module = ir.Module.create()
        self._names: dict[str, str] = {}
        self._declared: set[str] = set()
        self.assertions: list[Assertion] = []

    @property
    def count(self) -> int:
        """How many distinct kernels there are."""
        return len(self._names)

    def from_text(self, kernel: KernelText) -> str:
        """The name of a kernel given as MLIR text."""
        if kernel.text in self._names:
            return self._names[kernel.text]
        name = self._new_name(kernel.text)
        declarations = [each.replace("@KERNEL", f"@{name}") for each in kernel.declarations]
        new = [d for d in declarations if d not in self._declared]
        self._declared.update(new)
        text = "\n".join([*declarations, kernel.text.replace("@KERNEL", f"@{name}")])
        with entered(self.module.operation):
            try:
                parsed = ir.Module.parse(text)
            except ir.MLIRError as error:
                raise LoweringError("a kernel does not parse", got=str(error)) from error
            for op in list(parsed.body.operations):
                if symbol_name(op.operation) in (name, part_name(name)) or any(
                    f"@{symbol_name(op.operation)}(" in d for d in new
                ):
                    op.operation.detach_from_parent()
                    self.module.body.append(op)
        return name

    def from_op(
        self, op: ir.Operation, places: MemrefResolver, sizes: SymbolicSizes, *, computes: bool = True
    ) -> tuple[str, LoopKernel]:
        """The name of the loop kernel of a structured op, and what its call passes; see `build_loop_kernel`."""
        kernel = build_loop_kernel(op, self.module, places, sizes, self.assertion_code, computes=computes)
        text = kernel.head + kernel.function.get_asm(use_local_scope=True)
        if text in self._names:
            kernel.function.erase()
            return self._names[text], kernel
        name = self._new_name(text)
        kernel.function.attributes["sym_name"] = ir.StringAttr.get(part_name(name) if kernel.head else name)
        if kernel.head:
            define(self.module, kernel.head.replace("@KERNEL", f"@{name}"))
        return name, kernel

    def reserved_name(self) -> str:
        """The name of a kernel that somebody else puts into the module."""
        return self._new_name(f"reserved {len(self._names)}")

    def _new_name(self, text: str) -> str:
        self._names[text] = f"kernel_{len(self._names)}"
        return self._names[text]

    def assertion_code(self, op: ir.Operation) -> int:
        """A code for a `cf.assert`: one for each message, op that is checked, and Python line."""
        message = cast(Any, op.attributes["msg"]).value
        source = Source(_checked_op(op), python_line(op.location))
        for known in self.assertions:
            if (known.message, known.source) == (message, source):
                return known.code
        self.assertions.append(Assertion(len(self.assertions) + 1, message, source))
        return len(self.assertions)


def _checked_op(check: ir.Operation) -> str:
    """The op that a `cf.assert` checks: the one it was made for, or else the structured op it is in, or else itself."""
    if CHECKED_OP in check.attributes:
        return str(cast(Any, check.attributes[CHECKED_OP]).value)
    parent = check.parent
    while parent is not None:
        if parent.name.startswith(("linalg.", "tm_tensor.")):
            return parent.name
        parent = parent.operation.parent
    return check.name


def define_support(module: ir.Module) -> None:
    """Defines the functions in the LLVM dialect that kernels call and nobody else brings."""
    define(module, SUPPORT)
