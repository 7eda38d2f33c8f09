"""Elementary functions on f32 against f64, in units in the last place; special values as the C library has them."""

# PyTorch and NumPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportCallIssue=false, reportAssignmentType=false

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from hotdesk.ir.context import make_context
from hotdesk.kernels.elementary import COMPOSED, ELEMENTARY, use_elementary_functions
from hotdesk.passes.lower.to_llvm import kernels_to_llvm

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

_MOST_ULPS = 4.0
_ALL = 1 << 32
_ALL_OPS = (*ELEMENTARY, *COMPOSED, "rsqrt")
_CHUNK = 1 << 22

_REFERENCES: dict[str, Callable[..., Doubles]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "erf": lambda x: torch.erf(torch.from_numpy(x)).numpy(),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
    "powf": np.power,
    "remf": np.fmod,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-np.abs(x))),
    "gelu": lambda x: x * 0.5 * torch.erfc(torch.from_numpy(x) * -(0.5**0.5)).numpy(),
}
_LINES = {
    "rsqrt": ["math.rsqrt %x"],
    "sigmoid": ["arith.negf %x", "math.exp %z0", "arith.addf %z1, %one", "arith.divf %one, %z2"],
    "gelu": [
        "arith.mulf %x, %root",
        "math.erf %z0",
        "arith.addf %z1, %one",
        "arith.mulf %x, %half",
        "arith.mulf %z3, %z2",
    ],
}
"""Functions of several ops, each with the number of its line, or of one that is in the processor."""
_OF_TWO = ("powf", "remf")
_SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 2, -2, 3, -3, -3.5, 1e10, -1e10, 16777217, 1e-45, -1e-45],
    "f4",
)


def _loop(op: str, lanes: int) -> str:
    inputs = "%x, %y" if op in _OF_TWO else "%x"
    load, store, kind = (
        ("vector.load", "vector.store", f"vector<{lanes}xf32>") if lanes else ("memref.load", "memref.store", "f32")
    )
    of = f", {kind}" if lanes else ""
    lines = _LINES.get(op, [f"{'arith' if op == 'remf' else 'math'}.{op} {inputs}"])
    body = "\n    ".join(f"%z{number} = {line} : {kind}" for number, line in enumerate(lines))
    numbers = {"one": 1, "half": 0.5, "root": 0.5**0.5}
    constants = "\n  ".join(
        f"%{name} = arith.constant {f'dense<{number:e}>' if lanes else f'{number:e}'} : {kind}"
        for name, number in numbers.items()
    )
    return f"""
func.func @run(%a: memref<f32>, %b: memref<f32>, %c: memref<f32> {{llvm.noalias}}, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant {lanes or 1} : index
  %A = memref.reinterpret_cast %a to offset: [0], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32>
  %B = memref.reinterpret_cast %b to offset: [0], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32>
  %C = memref.reinterpret_cast %c to offset: [0], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32>
  {constants}
  scf.for %i = %c0 to %n step %c1 {{
    %x = {load} %A[%i] : memref<?xf32>{of}
    %y = {load} %B[%i] : memref<?xf32>{of}
    {body}
    {store} %z{len(lines) - 1}, %C[%i] : memref<?xf32>{of}
  }}
  return
}}"""


class _Compiled:
    def __init__(self, op: str, lanes: int = 0) -> None:
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(_loop(op, lanes))
            kernels_to_llvm(module)
            self.text = str(module)
            self._engine = ExecutionEngine(module, opt_level=3)
        self._entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._engine.raw_lookup("run"))

    def __call__(self, x: Floats, y: Floats) -> Floats:
        result = np.empty_like(x)
        values = (ctypes.c_int64 * 4)(x.ctypes.data, y.ctypes.data, result.ctypes.data, x.size)
        packed = (ctypes.c_void_p * 4)(*(ctypes.addressof(values) + 8 * i for i in range(4)))
        self._entry(ctypes.addressof(packed))
        return result


_compiled = cache(_Compiled)


def _reference(op: str, x: Floats, y: Floats) -> Doubles:
    with np.errstate(all="ignore"):
        wide = [x.astype("f8"), y.astype("f8")]
        return _REFERENCES[op](*wide[: 2 if op in _OF_TWO else 1])


def _check(op: str, x: Floats, y: Floats) -> None:
    got, want = _compiled(op)(x, y), _reference(op, x, y)
    with np.errstate(all="ignore"):
        rounded = want.astype("f4")
        differs = got.view(np.int32) != rounded.view(np.int32)  # of few: the rest of this takes most of the time
        x, y, got, want, rounded = (each[differs] for each in (x, y, got, want, rounded))
        exact = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        unit = np.maximum(np.spacing(np.abs(rounded)).astype("f8"), 2.0**-149)
        error = np.where(exact, 0.0, np.abs(got.astype("f8") - want) / unit)
    far = ~(error <= _MOST_ULPS)  # NaN where only one is infinite or NaN
    assert not far.any(), f"{op}({x[far][0]!r}, {y[far][0]!r}) is {got[far][0]!r}, expected {want[far][0]!r}"
    zero = (got == 0) & (rounded == 0)
    assert np.array_equal(np.signbit(got[zero]), np.signbit(rounded[zero])), f"{op}: the sign of a zero"


def _floats(start: int, stop: int, step: int) -> Floats:
    return np.arange(start, stop, step, dtype=np.uint64).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize("op", _ALL_OPS)
def test_floats_of_all_magnitudes(op: str) -> None:
    x = _floats(0, _ALL, 4099)
    y = np.random.default_rng(0).permutation(x)
    _check(op, x, y)


@pytest.mark.parametrize("op", _ALL_OPS)
def test_special_values(op: str) -> None:
    x, y = (each.ravel().copy() for each in np.meshgrid(_SPECIAL, _SPECIAL))
    _check(op, x, y)


@pytest.mark.parametrize("op", _ALL_OPS)
def test_vectors_have_the_same_functions(op: str) -> None:
    x = np.concatenate([np.resize(_SPECIAL, 64), _floats(0, _ALL, 65537)])
    x = x[: x.size // 16 * 16]
    y = np.random.default_rng(0).permutation(x)
    np.testing.assert_array_equal(_compiled(op, 16)(x, y), _compiled(op)(x, y))


@pytest.mark.parametrize("op", ["exp", "exp2"])
def test_powers_that_vanish_do_not_underflow(op: str) -> None:
    """Processors take long for a product that does."""
    flags, underflow = ctypes.CDLL(None), 0x10
    x = np.array([-np.inf, -1e9, -1000, -151, 0], "f4")
    _check(op, x, x)
    flags.feclearexcept(underflow)
    _compiled(op)(x, x)
    assert not flags.fetestexcept(underflow)


def test_powers_of_moderate_size() -> None:
    random = np.random.default_rng(0)
    x = np.exp(random.uniform(-10, 10, 1 << 20)).astype("f4")
    _check("powf", x, random.uniform(-12, 12, x.size).astype("f4"))


def test_remainders_are_exact() -> None:
    """Of quotients of all sizes: next to whole numbers, with divisors that are not normal, and as large as floats have them."""
    random = np.random.default_rng(0)
    y = random.integers(1, 0x7F800000, 1 << 18, dtype=np.int32).view(np.float32)
    with np.errstate(over="ignore"):
        whole = np.floor(np.exp2(random.uniform(0, 40, y.size))).astype("f4") * y
    x = np.concatenate([whole, np.nextafter(whole, np.float32(0)), np.nextafter(whole, np.float32(np.inf)), y])
    x = np.concatenate([x, _floats(0, 0x7F800000, 8191)[: y.size]])
    y = np.concatenate([*[y] * 4, np.resize(_floats(1, 1 << 24, 65521), x.size - 4 * y.size)])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(_compiled("remf")(x, y), np.fmod(x, y))


@pytest.mark.parametrize("op", [*ELEMENTARY, *COMPOSED])
def test_the_c_library_is_not_called(op: str) -> None:
    text = _compiled(op).text
    assert f"llvm.call @hotdesk_{op}(" in text
    called = [line.split("llvm.call @")[1].split("(")[0] for line in text.splitlines() if "llvm.call @" in line]
    assert set(called) == {f"hotdesk_{op}"}


def _power(op: str, exponent: str, kinds: str) -> str:
    """What becomes of a power with that exponent."""
    source = f"""
func.func @run(%x: {kinds.split(", ")[0]}) -> {kinds.split(", ")[0]} {{
  %e = arith.constant {exponent} : {kinds.split(", ")[-1]}
  %y = math.{op} %x, %e : {kinds}
  return %y : {kinds.split(", ")[0]}
}}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        use_elementary_functions(module)
        assert module.operation.verify()
        return str(module)


@pytest.mark.parametrize(("exponent", "products"), [(2, 1), (3, 2)])
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_small_powers_are_products(element: str, exponent: int, products: int) -> None:
    for op, written, kinds in (("powf", f"{exponent}.0", element), ("fpowi", str(exponent), f"{element}, i64")):
        text = _power(op, written, kinds)
        assert text.count("arith.mulf") == products
        assert "pow" not in text


@pytest.mark.parametrize("exponent", [-3, 0, 1, 5, 1 << 24])
def test_whole_exponents_are_floats(exponent: int) -> None:
    text = _power("fpowi", str(exponent), "f32, i64")
    assert "call @hotdesk_powf(" in text
    assert "fpowi" not in text


@pytest.mark.parametrize(("exponent", "kinds"), [((1 << 24) + 1, "f32, i64"), (5, "f64, i64")])
def test_other_whole_exponents_stay(exponent: int, kinds: str) -> None:
    assert "math.fpowi" in _power("fpowi", str(exponent), kinds)


@pytest.mark.parametrize(
    ("scaled", "product", "is_one"),
    [
        ("arith.divf %x, %r2", ["arith.mulf %s, %half", "arith.mulf %p0, %x"], True),
        ("arith.mulf %r, %x", ["arith.mulf %x, %s", "arith.mulf %half, %p0"], True),
        ("arith.mulf %x, %r", ["arith.divf %x, %two", "arith.mulf %s, %p0"], True),
        ("arith.mulf %x, %half", ["arith.mulf %s, %half", "arith.mulf %p0, %x"], False),
        ("arith.divf %r2, %x", ["arith.mulf %s, %half", "arith.mulf %p0, %x"], False),
        ("arith.mulf %x, %r", ["arith.mulf %s, %x", "arith.mulf %p0, %x"], False),
        ("arith.mulf %x, %r", ["arith.mulf %s, %y", "arith.mulf %p0, %half", "arith.mulf %p1, %x"], False),
        ("arith.mulf %x, %r", ["arith.mulf %s, %half", "arith.mulf %p0, %y", "arith.mulf %p1, %x"], False),
        ("arith.mulf %x, %r", ["arith.mulf %s, %half", "arith.mulf %p0, %x", "arith.addf %p1, %p0"], False),
    ],
)
def test_which_products_are_gelu(scaled: str, product: list[str], is_one: bool) -> None:
    lines = "\n  ".join(f"%p{number} = {line} : f32" for number, line in enumerate(product))
    source = f"""
func.func @run(%x: f32, %y: f32) -> f32 {{
  %r = arith.constant 0.707106769 : f32
  %r2 = arith.constant 1.41421354 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %half = arith.constant 0.5 : f32
  %u = {scaled} : f32
  %e = math.erf %u : f32
  %s = arith.addf %one, %e : f32
  {lines}
  return %p{len(product) - 1} : f32
}}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        use_elementary_functions(module)
        assert module.operation.verify()
        assert ("call @hotdesk_gelu(%arg0)" in str(module)) == is_one


def test_functions_of_one_another() -> None:
    source = """
func.func @run(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %r = arith.constant 0.707106769 : f32
  %n = arith.negf %x : f32
  %e = math.exp %n : f32
  %d = arith.addf %e, %one : f32
  %s = arith.divf %one, %d : f32
  %u = arith.mulf %s, %r : f32
  %f = math.erf %u : f32
  %g = arith.addf %f, %one : f32
  %h = arith.mulf %s, %half : f32
  %k = arith.mulf %h, %g : f32
  %v = arith.mulf %k, %r : f32
  %w = math.erf %v : f32
  %y = arith.addf %w, %one : f32
  %z = arith.mulf %y, %half : f32
  %t = arith.mulf %z, %k : f32
  return %t : f32
}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        use_elementary_functions(module)
        assert module.operation.verify()
        body = str(module).partition("}")[0]
    called = [line.partition("call @hotdesk_")[2].partition("(")[0] for line in body.splitlines() if "call @" in line]
    assert called == ["sigmoid", "gelu", "gelu"]


def test_other_types_stay() -> None:
    source = "func.func @run(%x: f64) -> f64 {\n  %y = math.exp %x : f64\n  return %y : f64\n}"
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(source)
        use_elementary_functions(module)
        assert "math.exp %arg0 : f64" in str(module)


@pytest.mark.slow
@pytest.mark.parametrize("op", [op for op in _ALL_OPS if op not in _OF_TWO])
def test_every_float(op: str) -> None:
    for start in range(0, _ALL, _CHUNK):
        x = _floats(start, start + _CHUNK, 1)
        _check(op, x, x)
