"""Ops of StableHLO that a library computes are called in the midst of the program: NumPy's Fourier transforms, SciPy's LAPACK.

    %y = stablehlo.fft %x   ->   %e = tensor.empty(); %y = "hotdesk.foreign"(%x, %e) {callee = "hotdesk_foreign_0", …}

1. `stablehlo.fft`, `cholesky` and `triangular_solve`, and calls of LAPACK that JAX lowers `jax.numpy.linalg` to (`lapack_*_ffi`),
   those of `libraries.FUNCTIONS`.
2. Operands and results are f32, f64 or complex numbers of these, and integers of 32 bits; sizes are known.

What is of another kind stays, and is refused by its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import prod
from typing import Any, cast

import numpy as np

from hotdesk._bindings import ir
from hotdesk.errors import MissingExtraError, UnsupportedOpError
from hotdesk.frontends.mlir.libraries import FUNCTIONS, LEFT, LETTERS, LOWER, NO_TRANSPOSE, UNIT, LibraryKernel
from hotdesk.frontends.mlir.stablehlo_writing import is_known, take_away
from hotdesk.ir.building import create
from hotdesk.ir.dialect import MOST_OPERANDS, MOST_RESULTS
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import attributes_of, flag_of, nested_ops, text_of
from hotdesk.models.hotdesk import FOREIGN
from hotdesk.runtime.code.foreign import ForeignCall

_DTYPES = {
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    "i32": "int32",
}
"""NumPy's names of element types."""
_CALL = re.compile(r"lapack_([sdcz])(\w+)_ffi")
_OF_COMPLEX = {"ungqr": "orgqr", "heevd": "syevd", "geev": "geev of complex"}
"""Functions that have another name, or other results, for complex numbers."""


@dataclass(frozen=True, slots=True)
class _LibraryCall:
    """What computes an op: its name, and what it is told."""

    function: str
    told: tuple[tuple[str, Any], ...]


def call_libraries(module: ir.Module, *, allowed: bool) -> tuple[ForeignCall, ...]:
    """Has the program call a library for each of these ops.

    Raises:
        UnsupportedOpError: there is one, and calls are not `allowed`.
        MissingExtraError: there is one of linear algebra, and no SciPy.
    """
    made = list[ForeignCall]()
    for op in list(nested_ops(module.operation)):
        found = _call_of(op)
        if found is None:
            continue
        call = _made(op, found, len(made))
        if not allowed:
            expected, got = "ops that are compiled, as `Options(foreign=False)` says", f"a call of {_library(found)}'s"
            raise UnsupportedOpError(
                f"op `{call.op}` has no lowering", expected=expected, got=got, where=call.location or None
            )
        if find_spec("scipy") is None and _library(found) == "SciPy":
            raise MissingExtraError.of(f"linear algebra in JAX functions (`{call.op}`)", "jax", "scipy")
        _replace(op, call)
        made.append(call)
    return tuple(made)


def those_left(calls: Sequence[ForeignCall], module: ir.Module) -> tuple[ForeignCall, ...]:
    """The calls that a module has, as lowering erases what nobody reads."""
    named = {text_of(op, "callee") for op in nested_ops(module.operation) if op.name == FOREIGN}
    return tuple(call for call in calls if call.symbol in named)


def _library(call: _LibraryCall) -> str:
    return "NumPy" if call.function == "fft" else "SciPy"


def _call_of(op: ir.Operation) -> _LibraryCall | None:
    """What computes an op; None for one that is of another kind."""
    found = _READ[op.name](op) if op.name in _READ else None
    if found is None or not all(map(is_known, (*op.operands, *op.results))):
        return None
    function = FUNCTIONS[found.function]
    ranks = (function.arguments, op.operands), (function.results, op.results)
    if any(len(wanted) != len(values) for wanted, values in ranks):
        return None
    first = len(shape_of(op.operands[0].type)) - function.arguments[0]
    for wanted, values in ranks:
        for rank, value in zip(wanted, values, strict=True):
            if element_of(value.type) not in _DTYPES or (
                function.batched and len(shape_of(value.type)) - rank != first
            ):
                return None
    return found


def _fft(op: ir.Operation) -> _LibraryCall | None:
    how = re.search(r"\b(I?R?FFT)\b", str(attributes_of(op)["fft_type"]))
    lengths: Any = attributes_of(op)["fft_length"]
    return (
        None
        if how is None
        else _LibraryCall("fft", (("how", how[1]), ("length", tuple(int(each) for each in lengths))))
    )


def _cholesky(op: ir.Operation) -> _LibraryCall:
    return _LibraryCall("cholesky", (("lower", "lower" in op.attributes and flag_of(op, "lower")),))


def _triangular(op: ir.Operation) -> _LibraryCall | None:
    how = re.search(r"\b(NO_TRANSPOSE|TRANSPOSE|ADJOINT)\b", str(attributes_of(op)["transpose_a"]))
    if how is None:
        return None
    told = {
        "side": LEFT if flag_of(op, "left_side") else ord("R"),
        "uplo": LOWER if flag_of(op, "lower") else ord("U"),
        "trans_x": {"NO_TRANSPOSE": NO_TRANSPOSE, "TRANSPOSE": ord("T"), "ADJOINT": ord("C")}[how[1]],
        "diag": UNIT if flag_of(op, "unit_diagonal") else ord("N"),
    }
    return _LibraryCall("trsm", tuple(told.items()))


def _lapack(op: ir.Operation) -> _LibraryCall | None:
    """The function that a call names, if its operands are of the type that the name says."""
    named = _CALL.fullmatch(text_of(op, "call_target_name"))
    if named is None or LETTERS.get(_DTYPES.get(element_of(op.operands[0].type), "")) != named[1]:
        return None
    name = _OF_COMPLEX.get(named[2], named[2]) if named[1] in "cz" else named[2]
    if name not in FUNCTIONS:
        return None
    told, settings = FUNCTIONS[name].told, _settings(op)
    return (
        None
        if any(each not in settings for each in told)
        else _LibraryCall(name, tuple((each, settings[each]) for each in told))
    )


def _settings(op: ir.Operation) -> dict[str, int]:
    """The numbers that a call is told."""
    found: Any = attributes_of(op).get("mhlo.backend_config", attributes_of(op).get("backend_config"))
    if not isinstance(cast(object, found), ir.DictAttr):
        return {}
    numbers: Any = {each.name: each.attr for each in found}
    return {name: int(each.value) for name, each in numbers.items() if isinstance(each, ir.IntegerAttr)}


_READ = {
    "stablehlo.fft": _fft,
    "stablehlo.cholesky": _cholesky,
    "stablehlo.triangular_solve": _triangular,
    "stablehlo.custom_call": _lapack,
}


def _made(op: ir.Operation, call: _LibraryCall, number: int) -> ForeignCall:
    operands, results = (
        [(_DTYPES[element_of(v.type)], shape_of(v.type)) for v in each] for each in (op.operands, op.results)
    )
    kernel = LibraryKernel(call.function, call.told, tuple(d for d, _ in operands), tuple(d for d, _ in results))
    return ForeignCall(
        f"hotdesk_foreign_{number}",
        text_of(op, "call_target_name") if op.name == "stablehlo.custom_call" else op.name,
        python_line(op.location),
        tuple(len(sizes) for _, sizes in operands),
        0,
        tuple(len(sizes) for _, sizes in results),
        sum(prod(int(n or 0) for n in sizes) * np.dtype(dtype).itemsize for dtype, sizes in results),
        kernel,
    )


def _replace(op: ir.Operation, call: ForeignCall) -> None:
    kinds = [each.type for each in op.results]
    places = [create("tensor.empty", [], [kind], before=op).results[0] for kind in kinds]
    operands = [*op.operands, *places]
    attributes: dict[str, ir.Attribute] = {
        "callee": ir.StringAttr.get(call.symbol),
        "op": ir.StringAttr.get(call.op),
        "groups": ir.DenseI64ArrayAttr.get([len(op.operands), 0, len(places)]),
        "operandSegmentSizes": _filled(len(operands), MOST_OPERANDS),
        "resultSegmentSizes": _filled(len(places), MOST_RESULTS),
    }
    take_away(op, list(create(FOREIGN, operands, kinds, attributes, before=op).results))


def _filled(count: int, most: int) -> ir.Attribute:
    return ir.DenseI32ArrayAttr.get([int(i < count) for i in range(most)])
