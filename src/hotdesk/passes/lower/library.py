"""The kernels of a program: functions in one module, identical ones kept once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.explain import Source
from hotdesk.ir.context import entered
from hotdesk.ir.linking import define
from hotdesk.ir.locations import CHECKED_OP, python_line
from hotdesk.ir.walking import ops_around, symbol_name, text_of
from hotdesk.kernels.parts import part_name
from hotdesk.kernels.text import KernelText
from hotdesk.models.hotdesk import WITH_KERNELS, scratch_operands
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.named import has_named_kernel, named_kernel
from hotdesk.passes.lower.structured.kernel import build_loop_kernel
from hotdesk.passes.lower.to_llvm import SUPPORT
from hotdesk.passes.lower.views import MemrefPlaces, ScalarSizes
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class KernelUse:
    """The kernel of an op by name, and what a call of it passes, in this order.

    Attributes:
        memrefs: pointers to their first elements.
        scalars: sizes and strides that are not compiled in, and index values.
        passed: scalars that it does not compute.
        scratch: pointers to scratch memory.
        needs_status: a pointer to the status word.
    """

    name: str
    memrefs: Sequence[ir.Value]
    scalars: Sequence[Size]
    passed: Sequence[ir.Value] = ()
    scratch: Sequence[ir.Value] = ()
    needs_status: bool = False


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

    def kernel_of(
        self, op: ir.Operation, places: MemrefPlaces, sizes: ScalarSizes, *, computes: bool = True
    ) -> KernelUse:
        """The kernel of an op on memrefs that has one (`models.hotdesk`), or of a structured op (`build_loop_kernel`).

        Raises:
            LoweringError: there is none for its operands.
        """
        try:
            if not has_named_kernel(op):
                return self._of_structured(op, places, sizes, computes)
            operands, scratch = list(op.operands), scratch_operands(op)
            memrefs = operands[: len(operands) - scratch]
            seen = [places.of(value) for value in memrefs]
            name = self._of_text(named_kernel(op, seen))
        except ValueError as error:
            where = python_line(op.location)
            raise LoweringError(f"op `{op.name}` has no kernel", got=str(error), where=where) from error
        unknown = [size for place in seen for size in place.unknowns()]
        return KernelUse(name, memrefs, unknown, scratch=operands[len(memrefs) :])

    def _of_text(self, kernel: KernelText) -> str:
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

    def _of_structured(self, op: ir.Operation, places: MemrefPlaces, sizes: ScalarSizes, computes: bool) -> KernelUse:
        kernel = build_loop_kernel(op, self.module, places, sizes, self.assertion_code, computes=computes)
        text = kernel.head + kernel.function.get_asm(use_local_scope=True)
        if text in self._names:
            kernel.function.erase()
            name = self._names[text]
        else:
            name = self._new_name(text)
            kernel.function.attributes["sym_name"] = ir.StringAttr.get(part_name(name) if kernel.head else name)
            if kernel.head:
                define(self.module, kernel.head.replace("@KERNEL", f"@{name}"))
        return KernelUse(name, kernel.memrefs, kernel.scalars, kernel.passed, (), kernel.needs_status)

    def reserved_name(self) -> str:
        """The name of a kernel that somebody else puts into the module."""
        return self._new_name(f"reserved {len(self._names)}")

    def _new_name(self, text: str) -> str:
        self._names[text] = f"kernel_{len(self._names)}"
        return self._names[text]

    def assertion_code(self, op: ir.Operation) -> int:
        """A code for a `cf.assert`: one for each message, op that is checked, and Python line."""
        message = text_of(op, "msg")
        source = Source(_checked_op(op), python_line(op.location))
        for known in self.assertions:
            if (known.message, known.source) == (message, source):
                return known.code
        self.assertions.append(Assertion(len(self.assertions) + 1, message, source))
        return len(self.assertions)


def has_kernel(name: str) -> bool:
    """Whether there are kernels of ops of that name."""
    return name in WITH_KERNELS or name.startswith(("linalg.", "tm_tensor."))


def _checked_op(check: ir.Operation) -> str:
    """The op that a `cf.assert` checks: the one it was made for, or else the structured op it is in, or else itself."""
    if CHECKED_OP in check.attributes:
        return text_of(check, CHECKED_OP)
    structured = (each.name for each in ops_around(check) if each.name.startswith(("linalg.", "tm_tensor.")))
    return next(structured, check.name)


def define_support(module: ir.Module) -> None:
    """Defines the functions in the LLVM dialect that kernels call and nobody else brings."""
    define(module, SUPPORT)
