"""Bufferizations to hold a program against, and the check that one makes of it what the reference does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from torch_mlir import ir

from hotdesk.errors import HotdeskError
from hotdesk.ir.context import make_context
from hotdesk.ir.types import is_tensor
from hotdesk.passes.textual import parse_pipeline
from tests import reference
from tests.harness import POISONS, assert_same
from tests.reference import Expected
from tests.running.apart import run_apart
from tests.running.executable import DONATED, RESULT, Executable, Run, arguments_of, main_of


@dataclass(frozen=True)
class Subject:
    """A bufferization, as a pipeline text."""

    name: str
    pipeline: str
    frees: bool = False
    """Whether it frees all that it allocates."""
    may_refuse: bool = False
    """Whether there are programs that it need not take."""
    apart: bool = False
    """Whether it is MLIR's: runs in another process, and is told of each argument that it may not write it."""


_ONE_SHOT = "one-shot-bufferize{bufferize-function-boundaries allow-return-allocs-from-loops}"
MLIR = Subject(
    "MLIR's",
    f"builtin.module({_ONE_SHOT},canonicalize,cse,buffer-deallocation-pipeline,convert-bufferization-to-memref)",
    frees=True,
    may_refuse=True,
    apart=True,
)
_IDENTITY = _ONE_SHOT.replace("}", " function-boundary-type-conversion=identity-layout-map}")
_CALLERS = (
    "buffer-results-to-out-params{add-result-attr modify-public-functions hoist-static-allocs hoist-dynamic-allocs}"
)
_FREED = "canonicalize,cse,buffer-deallocation-pipeline,convert-bufferization-to-memref"
MLIR_AT_CALLERS = replace(
    MLIR,
    name="MLIR's, results at the caller's",
    pipeline=f"builtin.module({_IDENTITY},drop-equivalent-buffer-results,{_CALLERS},{_FREED})",
)
"""What functions take is contiguous, and results are memory of the caller's, as with ours."""
MLIR_UNFREED = replace(MLIR, name="MLIR's unfreed", pipeline=f"builtin.module({_ONE_SHOT})", frees=False)
"""It takes loops of branches, which MLIR's deallocation refuses."""
OURS = Subject("Hotdesk's", "builtin.module(hotdesk-one-shot-bufferize)")


class RefusedError(Exception):
    """A subject does not take a program."""


def compiled(text: str, subject: Subject) -> Executable:
    """A program that a subject bufferized.

    Raises:
        RefusedError: the subject does not take it.
    """
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        if subject.apart:
            mark_arguments(main_of(module))
            took, made = run_apart(str(module), subject.pipeline)
            if not took:
                raise RefusedError(f"{subject.name} bufferization does not take\n{text}\n{made}")
            bufferized = ir.Module.parse(made)
            number_results(main_of(bufferized), main_of(module))
            executable = Executable(bufferized)
            executable.is_ours = False
            return executable
    try:
        parse_pipeline(subject.pipeline).run(module)
    except HotdeskError as error:
        raise RefusedError(f"{subject.name} bufferization does not take\n{text}\n{error}") from error
    return Executable(module)


def mark_arguments(main: Any) -> None:
    """Says of each tensor that is not donated that it may not be written, as MLIR wants to hear it."""
    entries: list[ir.Attribute] = []
    for argument, given in arguments_of(main):
        entry = {attribute.name: attribute.attr for attribute in given}
        if isinstance(argument.type, ir.RankedTensorType) and DONATED not in entry:
            entry["bufferization.writable"] = ir.BoolAttr.get(False)
        entries.append(ir.DictAttr.get(entry))
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)


def number_results(bufferized: Any, main: Any) -> None:
    """Says of each argument that is a result which one of `main`'s, on tensors, it is; MLIR only says that it is one."""
    results = iter([i for i, t in enumerate(main.attributes["function_type"].value.results) if is_tensor(t)])
    entries: list[ir.Attribute] = []
    for _, given in arguments_of(bufferized):
        entry = {attribute.name: attribute.attr for attribute in given}
        if isinstance(entry.get(RESULT), ir.UnitAttr):
            entry[RESULT] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), next(results))
        entries.append(ir.DictAttr.get(entry))
    bufferized.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)


def wanted(text: str, inputs: Sequence[Any]) -> list[Expected]:
    """What the reference makes of a program's `@main`; it is not asked twice."""
    return list(_wanted(text, tuple(_contents(each) for each in inputs)))


def _contents(value: Any) -> tuple[bool, np.dtype[Any], tuple[int, ...], bytes]:
    """An array, or a number if it is none, so that what was computed of it is found again."""
    array = np.asarray(value)
    return isinstance(value, np.ndarray), array.dtype, array.shape, array.tobytes()


@lru_cache(maxsize=512)
def _wanted(text: str, inputs: Sequence[tuple[bool, np.dtype[Any], tuple[int, ...], bytes]]) -> Sequence[Expected]:
    arrays = [np.ndarray(shape, dtype, bytearray(data)) for _, dtype, shape, data in inputs]
    given = [array if is_array else array[()] for array, (is_array, *_) in zip(arrays, inputs, strict=True)]
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        return reference.expected(main_of(module), given)


def check(text: str, inputs: Sequence[Any], subject: Subject, expected: Sequence[Expected] | None = None) -> Run:
    """Fails if a subject makes anything else of a program than the reference, in memory that shows mistakes; what it took.

    Raises:
        RefusedError: the subject does not take the program.
    """
    expected = wanted(text, inputs) if expected is None else expected
    return agree(compiled(text, subject), inputs, expected, frees=subject.frees)


def agree(executable: Executable, inputs: Sequence[Any], expected: Sequence[Expected], *, frees: bool = False) -> Run:
    """Fails if a run gives other results than expected, for each poison, or does not free all although it should."""
    runs = [executable(inputs, [e.values.shape for e in expected], poison) for poison in POISONS]
    for run in runs:
        for number, (result, want) in enumerate(zip(run.results, expected, strict=True)):
            assert result.shape == want.values.shape, f"result {number} is {result.shape}, not {want.values.shape}"
            assert result.dtype == want.values.dtype, f"result {number} is of {result.dtype}, not {want.values.dtype}"
            assert_same(result, want, f"result {number}")
        assert not frees or not run.leaks, f"{run.leaks} allocations are never freed"
    return runs[0]


def assert_no_more(ours: Run, theirs: Run) -> None:
    """Fails if a run copies more bytes, or takes more memory in all, than another one of the same program."""
    assert ours.copies.bytes <= theirs.copies.bytes, f"copies {ours.copies}, the other {theirs.copies}"
    assert ours.allocations.bytes <= theirs.allocations.bytes, (
        f"allocates {ours.allocations}, the other {theirs.allocations}"
    )
