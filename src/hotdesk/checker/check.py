"""The memory checker: runs a program on memrefs and tells everything it does wrong with memory.

    report = check_module(module, "main", [x, y])

It walks the IR and trusts no analysis: each allocation is a buffer of its own, each byte knows whether somebody has written it,
and each view is held against the buffer that it is cut out of. docs/checker.md lists what is told, and what is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hotdesk._bindings import PassManager, ir
from hotdesk.checker.arguments import drawn, empty, passed, slots_of
from hotdesk.checker.buffers import MemRef
from hotdesk.checker.dialects import DIALECTS
from hotdesk.checker.expansions import Expansions, expanded
from hotdesk.checker.findings import StopError
from hotdesk.checker.interpreter import Interpreter, Settings, deep
from hotdesk.checker.parameters import parameters, refuse_unknown
from hotdesk.checker.report import CheckReport, FaultKind, Result
from hotdesk.checker.values import Unwritten, Value, plain
from hotdesk.errors import OptionError, PassError
from hotdesk.explain import Source
from hotdesk.ir.context import entered
from hotdesk.ir.locations import placed
from hotdesk.ir.walking import is_function, nested_ops, symbol_name


def check_module(
    module: ir.Module,
    function: str | None = None,
    arguments: Sequence[Any] | None = None,
    *,
    result_shapes: Mapping[int, Sequence[int]] | None = None,
    sizes: Sequence[int] = (),
    seed: int = 0,
    read_only: bool = False,
    settings: Settings | None = None,
) -> CheckReport:
    """Runs a function of a module on memrefs under the checker. The module is left as it is.

    Args:
        module: IR on memrefs.
        function: which function to call; `main` when left out, or the only one that is not private.
        arguments: an array for each memref and a NumPy scalar for each scalar, without the arguments that are results or arenas.
            Drawn at random from `seed` when left out; `sizes` are then the dynamic sizes and the scalar integers, in order.
        result_shapes: sizes of the results that are arguments, by number, where their types leave them open; of those that lie in
            the memory of an argument, if they are not that argument's.
        read_only: whether arguments that do not say otherwise may only be read.
        settings: see `Settings`.

    Raises:
        OptionError: the module has no such function, or several and no `main`.
        CallError: the arguments are not those of the function.
        LoweringError: the program uses an op that the checker does not know, or the function takes what cannot be given.
        ExecutionError: the program does not end.
    """
    with entered(module.operation):
        interpreter, entry = interpreter_for(module, function, settings)
        found = parameters(entry, read_only)
        refuse_unknown(entry, found)
        with placed(entry.location):
            values = (
                drawn(entry, found, sizes, seed) if arguments is None else empty(found, arguments, result_shapes or {})
            )
        given = passed(interpreter, entry, found, values)
        return run(interpreter, symbol_name(entry), given, slots_of(found, given, result_shapes or {}))


def interpreter_for(
    module: ir.Module, function: str | None, settings: Settings | None = None
) -> tuple[Interpreter, ir.Operation]:
    """An interpreter for a module, and the function to call in what it runs. Raises OptionError if there is no such function."""
    prepared, expansions = _prepared(module)
    return Interpreter(prepared, DIALECTS, expansions, settings or Settings()), _function(prepared, function)


def run(interpreter: Interpreter, function: str, given: Sequence[Value], slots: Mapping[int, MemRef]) -> CheckReport:
    """Calls a function and looks at what it leaves behind; `slots` are the results that are memory of the caller's."""
    results: tuple[Result, ...] = ()
    stopped = False
    with np.errstate(all="ignore"), deep():
        try:
            returned = interpreter.call(function, given)
            results = _results(interpreter, returned, slots)
            _find_leaks(interpreter, returned)
        except StopError:
            stopped = True
    return CheckReport(interpreter.findings.faults, results, stopped, interpreter.memory.traffic)


def _prepared(module: ir.Module) -> tuple[ir.Operation, Expansions]:
    """The module without `affine`, and what its structured ops are expanded to."""
    root, ops = module.operation, list(nested_ops(module.operation))
    if any(op.name.startswith("affine.") for op in ops):
        root = module.operation.clone()
        try:
            PassManager.parse("builtin.module(lower-affine)").run(root)
        except ir.MLIRError as error:
            raise PassError("preparing a module for the memory checker", got=str(error)) from error
        ops = list(nested_ops(root))
    return root, expanded(ops)


def _function(module: ir.Operation, name: str | None) -> ir.Operation:
    ops = [op.operation for op in module.regions[0].blocks[0].operations]
    found = {symbol_name(op): op for op in ops if is_function(op) and len(op.regions[0].blocks)}
    if not found:
        raise OptionError("the module", expected="a function with a body", got="none")
    if name is None:
        public = [each for each, op in found.items() if "sym_visibility" not in op.attributes] or list(found)
        if len(public) > 1 and "main" not in found:
            hint = "Name it: `--function` of `hotdesk check`."
            raise OptionError("the function to check", expected=f"one of {', '.join(public)}", got="none", hint=hint)
        name = public[0] if len(public) == 1 else "main"
    if name not in found:
        raise OptionError(f"function '{name}'", expected=f"one of {', '.join(found)}", got="no such function")
    return found[name]


def _results(interpreter: Interpreter, returned: Sequence[Value], slots: Mapping[int, MemRef]) -> tuple[Result, ...]:
    """The results in order: those in memory of the caller's by their number, and between them what was returned."""
    at, rest = interpreter.returned, list(returned)
    if interpreter.settings.deallocated:
        _check_owners(interpreter, returned, at)
    for number in sorted(slots):
        rest.insert(number, slots[number])
    found: list[Result] = []
    for number, value in enumerate(rest):
        if isinstance(value, MemRef):
            value = interpreter.memory.read(value, at)
        if type(value) is Unwritten and interpreter.settings.undefined == "refuse":
            missing = int(np.sum(value.where))
            message = f"result {number} has {missing} element{'' if missing == 1 else 's'} that nobody wrote"
            interpreter.findings.add(FaultKind.UNWRITTEN, at, message, value.buffer)
        values = np.array(plain(value))
        where = value.where if type(value) is Unwritten else np.False_
        found.append(Result(values, ~np.broadcast_to(where, values.shape)))
    return tuple(found)


def _check_owners(interpreter: Interpreter, returned: Sequence[Value], at: Source) -> None:
    """Whoever calls a function owns each memref that it returns: an allocation that nobody else owns."""
    seen: set[int] = set()
    for number, view in enumerate(returned):
        if not isinstance(view, MemRef) or view.buffer.death() is not None:
            continue
        buffer = view.buffer
        if buffer.kind != "heap":
            message = f"result {number} is memory of {buffer.name}, which the caller of a function does not get to free"
            interpreter.findings.add(FaultKind.OWNERSHIP, at, message, buffer)
        elif buffer.number in seen:
            message = f"result {number} is in the same allocation as another result"
            interpreter.findings.add(FaultKind.OWNERSHIP, at, message, buffer)
        seen.add(buffer.number)


def _find_leaks(interpreter: Interpreter, returned: Sequence[Value]) -> None:
    if not interpreter.settings.deallocated:
        return
    kept = {view.buffer.number for view in returned if isinstance(view, MemRef)}
    for buffer in interpreter.memory.live():
        if buffer.number not in kept:
            message = f"{buffer.name} is never freed"
            interpreter.findings.add(FaultKind.LEAK, buffer.made, message, buffer)
