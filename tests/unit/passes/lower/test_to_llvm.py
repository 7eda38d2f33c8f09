"""Every scalar operation a kernel may hold, lowered and run against PyTorch in f64."""

from __future__ import annotations

import pytest
import torch

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.kernels.text import KernelText, View
from hotdesk.passes.lower.to_llvm import kernels_to_llvm
from tests.unit.passes.lower.running import DTYPES, Kernel

FLOATS = ["f32", "f64", "f16", "bf16"]
INTEGERS = ["i8", "i32", "i64"]
POINTS = [0.375, 0.75, 0.9375, 0.5]  # exact in every float type and inside every domain below
UNARY = {
    "tanh": torch.tanh,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "cbrt": lambda x: x ** (1 / 3),
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "asin": torch.asin,
    "acos": torch.acos,
    "atan": torch.atan,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "asinh": torch.asinh,
    "acosh": lambda x: torch.acosh(x + 1),
    "atanh": torch.atanh,
    "ceil": torch.ceil,
    "floor": torch.floor,
    "round": lambda x: torch.floor(x + 0.5),
    "roundeven": torch.round,
    "trunc": torch.trunc,
    "absf": torch.abs,
}


def unary(operations: list[list[str]], source: str, result: str) -> Kernel:
    """A kernel that turns one loaded value `%x` into one result `%r` an operation."""
    total = 4 * len(operations)
    cast = "memref.reinterpret_cast"
    target = f"memref<{total}x{result}>"
    lines = [
        f"func.func @KERNEL(%p0: memref<{source}>, %p1: memref<{result}>) {{",
        f"  %from = {cast} %p0 to offset: [0], sizes: [4], strides: [1] : memref<{source}> to memref<4x{source}>",
        f"  %to = {cast} %p1 to offset: [0], sizes: [{total}], strides: [1] : memref<{result}> to {target}",
    ]
    lines += [
        "  %c0 = arith.constant 0 : index",
        "  %c1 = arith.constant 1 : index",
        "  %c4 = arith.constant 4 : index",
    ]
    lines += ["  scf.for %i = %c0 to %c4 step %c1 {", f"    %x = memref.load %from[%i] : memref<4x{source}>"]
    for number, operation in enumerate(operations):
        lines += [f"    {line.replace('%', f'%n{number}_').replace(f'%n{number}_x', '%x')}" for line in operation]
        lines.append(f"    %base{number} = arith.constant {4 * number} : index")
        lines.append(f"    %at{number} = arith.addi %base{number}, %i : index")
        lines.append(f"    memref.store %n{number}_r, %to[%at{number}] : {target}")
    lines += ["  }", "  return", "}"]
    views = [View(source, (4,), (1,)), View(result, (total,), (1,))]
    return Kernel(KernelText("\n".join(lines) + "\n", ()), views)


def run(operations: list[list[str]], x: torch.Tensor, source: str, result: str) -> torch.Tensor:
    y = torch.zeros(4 * len(operations), dtype=DTYPES[result])
    unary(operations, source, result)(x, y)
    return y.view(len(operations), 4)


@pytest.mark.parametrize("element", FLOATS)
def test_functions(element: str) -> None:
    x = torch.tensor(POINTS, dtype=DTYPES[element])
    operations = [[f"%r = math.{name} %x : {element}"] for name in UNARY]
    place = list(UNARY).index("acosh")
    operations[place] = [
        f"%one = arith.constant 1.0 : {element}",
        f"%y = arith.addf %x, %one : {element}",
        f"%r = math.acosh %y : {element}",
    ]
    actual = run(operations, x, element, element)
    tolerance = {"f64": 1e-14, "f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}[element]
    for name, values in zip(UNARY, actual, strict=True):
        exact = UNARY[name](x.to(torch.float64))
        torch.testing.assert_close(values.to(torch.float64), exact, rtol=tolerance, atol=tolerance, msg=name)


@pytest.mark.parametrize("element", FLOATS)
def test_arithmetic_of_floats(element: str) -> None:
    x = torch.tensor([2.5, -1.25, float("nan"), 0.5], dtype=DTYPES[element])
    other = f"%c = arith.constant 1.5 : {element}"
    operations = [
        [other, f"%r = arith.{name} %x, %c : {element}"]
        for name in ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf")
    ]
    operations += [
        [f"%r = arith.negf %x : {element}"],
        [other, f"%y = arith.cmpf ogt, %x, %c : {element}", f"%r = arith.select %y, %x, %c : {element}"],
        ["%c = arith.constant 3 : i32", f"%r = math.fpowi %x, %c : {element}, i32"],
        [f"%a = math.absf %x : {element}", f"%r = math.powf %a, %x : {element}"],
        [other, f"%r = math.atan2 %x, %c : {element}"],
        [other, f"%r = math.copysign %c, %x : {element}"],
    ]
    exact = x.to(torch.float64)
    c = torch.full_like(exact, 1.5)
    expected = [exact + c, exact - c, exact * c, exact / c, torch.fmod(exact, c), torch.maximum(exact, c)]
    expected += [torch.minimum(exact, c), torch.fmax(exact, c), torch.fmin(exact, c), -exact]
    expected += [torch.where(exact > c, exact, c), exact**3, exact.abs() ** exact, torch.atan2(exact, c)]
    expected += [torch.copysign(c, exact)]
    tolerance = {"f64": 1e-14, "f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}[element]
    for number, (values, wanted) in enumerate(zip(run(operations, x, element, element), expected, strict=True)):
        torch.testing.assert_close(
            values.to(torch.float64),
            wanted,
            rtol=tolerance,
            atol=tolerance,
            equal_nan=True,
            msg=str(operations[number]),
        )


def test_rounding_to_bf16() -> None:
    """Numbers of every sign, exponent and upper half, below, on and above the middle between two of bf16."""
    upper = torch.arange(1 << 16, dtype=torch.int64)[:, None] << 16
    bits = (upper | torch.tensor([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF])).flatten()
    x = (bits - ((bits >> 31) << 32)).to(torch.int32).view(torch.float32)
    lines = [
        "func.func @KERNEL(%p0: memref<f32>, %p1: memref<bf16>) {",
        *(
            f"  %m{i} = memref.reinterpret_cast %p{i} to offset: [0], sizes: [{len(x)}], strides: [1]"
            f" : memref<{kind}> to memref<{len(x)}x{kind}>"
            for i, kind in enumerate(("f32", "bf16"))
        ),
        "  %c0 = arith.constant 0 : index",
        "  %c1 = arith.constant 1 : index",
        f"  %n = arith.constant {len(x)} : index",
        "  scf.for %i = %c0 to %n step %c1 {",
        f"    %x = memref.load %m0[%i] : memref<{len(x)}xf32>",
        "    %r = arith.truncf %x : f32 to bf16",
        f"    memref.store %r, %m1[%i] : memref<{len(x)}xbf16>",
        "  }",
        "  return",
        "}",
    ]
    views = [View(kind, (len(x),), (1,)) for kind in ("f32", "bf16")]
    kernel = Kernel(KernelText("\n".join(lines) + "\n", ()), views)
    y = torch.zeros(len(x), dtype=torch.bfloat16)
    kernel(x, y)
    assert torch.equal(y.isnan(), x.isnan())
    known = ~x.isnan()
    assert torch.equal(y.view(torch.int16)[known], x.bfloat16().view(torch.int16)[known])
    assert bool((y.view(torch.int16)[~known] == 0x7FC0).all())


def test_rounding_to_bf16_chooses_before_it_rounds() -> None:
    """LLVM would make a choice of results one among values of bf16, element by element."""
    module = """
        func.func @KERNEL(%p0: memref<f32>, %p1: memref<bf16>) {
          %x = memref.load %p0[] : memref<f32>
          %r = arith.truncf %x : f32 to bf16
          memref.store %r, %p1[] : memref<bf16>
          return
        }"""
    with make_context(), ir.Location.unknown():
        made = ir.Module.parse(module)
        kernels_to_llvm(made)
        text = str(made)
    assert text.index("llvm.select") < text.index("llvm.lshr")


_ONE_BF16 = ("exp", "log", "tanh", "erf", "sin", "cos", "sqrt", "rsqrt", "absf")
_TWO_BF16 = ("addf", "subf", "mulf", "divf", "maximumf", "minimumf")


def test_what_is_not_a_number_stays_so_in_bf16() -> None:
    """Every one of 16 bits, with either sign, alone and beside a number; and what numbers make that is none."""
    every = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    x = torch.cat(
        [every[every.isnan()], torch.tensor([torch.inf, -torch.inf, 0.0, 1.0, 2.0, -3.0], dtype=torch.bfloat16)]
    )
    infinite = "%c = arith.constant 0x7F80 : bf16"
    operations = [[f"%r = math.{name} %x : bf16"] for name in _ONE_BF16]
    operations += [[infinite, f"%r = arith.{name} %x, %c : bf16"] for name in _TWO_BF16]
    operations += [[infinite, f"%r = arith.{name} %c, %x : bf16"] for name in _TWO_BF16]
    wide = x.float()
    expected = [getattr(torch, {"absf": "abs"}.get(name, name))(wide) for name in _ONE_BF16]
    for one, other in ((wide, torch.full_like(wide, torch.inf)), (torch.full_like(wide, torch.inf), wide)):
        expected += [one + other, one - other, one * other, one / other]
        expected += [torch.maximum(one, other), torch.minimum(one, other)]
    assert len(x) % 4 == 0
    kernel, parts = unary(operations, "bf16", "bf16"), list[torch.Tensor]()
    for some in x.split(4):
        y = torch.zeros(len(operations), 4, dtype=torch.bfloat16)
        kernel(some.clone(), y.view(-1))
        parts.append(y)
    for values, wanted, lines in zip(torch.cat(parts, 1), expected, operations, strict=True):
        assert torch.equal(values.isnan(), wanted.isnan()), lines


@pytest.mark.parametrize(
    ("line", "rounds", "chooses"),
    [
        ("%r = arith.maximumf %x, %c : bf16", False, False),
        ("%r = arith.negf %x : bf16", False, False),
        ("%r = arith.mulf %x, %c : bf16", True, False),
        ("%w = arith.sitofp %i : i32 to f32\n%r = arith.truncf %w : f32 to bf16", True, True),
    ],
)
def test_bf16_are_rounded_where_there_is_something_to_round(line: str, rounds: bool, chooses: bool) -> None:
    module = f"""
        func.func @KERNEL(%p0: memref<bf16>, %p1: memref<bf16>, %p2: memref<i32>) {{
          %x = memref.load %p0[] : memref<bf16>
          %i = memref.load %p2[] : memref<i32>
          %c = arith.constant 3.0 : bf16
          {line}
          memref.store %r, %p1[] : memref<bf16>
          return
        }}"""
    with make_context(), ir.Location.unknown():
        made = ir.Module.parse(module)
        kernels_to_llvm(made)
        text = str(made)
    assert ("32767" in text, "2143289344" in text) == (rounds, chooses)


@pytest.mark.parametrize("element", INTEGERS)
def test_arithmetic_of_integers(element: str) -> None:
    x = torch.tensor([7, -7, 100, -128], dtype=DTYPES[element])
    other = f"%c = arith.constant 3 : {element}"
    names = ("addi", "muli", "divsi", "remsi", "floordivsi", "ceildivsi", "maxsi", "minsi", "andi", "shli", "shrsi")
    operations = [[other, f"%r = arith.{name} %x, %c : {element}"] for name in names]
    operations += [[f"%r = math.{name} %x : {element}"] for name in ("absi", "ctpop", "ctlz", "cttz")]
    operations += [[f"%c = arith.constant 2 : {element}", f"%r = math.ipowi %x, %c : {element}"]]
    c = torch.full_like(x, 3)
    bits = {"i8": 8, "i32": 32, "i64": 64}[element]
    words = [format(int(value) % 2**bits, f"0{bits}b") for value in x]
    divide = torch.div
    expected = [x + c, x * c, divide(x, c, rounding_mode="trunc"), torch.fmod(x, c)]
    expected += [divide(x, c, rounding_mode="floor"), -divide(-x.long(), c.long(), rounding_mode="floor")]
    expected += [torch.maximum(x, c), torch.minimum(x, c), x & c, x << c, x >> c, x.abs()]
    expected += [torch.tensor([word.count("1") for word in words])]
    expected += [torch.tensor([len(word) - len(word.lstrip("0")) for word in words])]
    expected += [torch.tensor([len(word) - len(word.rstrip("0")) for word in words]), x * x]
    for number, (values, wanted) in enumerate(zip(run(operations, x, element, element), expected, strict=True)):
        assert torch.equal(values, wanted.to(x.dtype)), operations[number]


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("result", ["f32", "f64", "f16", "bf16", "i8", "i32", "i64"])
def test_conversions(source: str, result: str) -> None:
    x = torch.tensor([2.5, -1.25, 0.0, 100.0], dtype=DTYPES[source])
    sizes = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16}
    if result not in sizes:
        lines = [f"%r = arith.fptosi %x : {source} to {result}"]
        back = [f"%r = arith.sitofp %x : {result} to {source}"]
        whole = x.to(DTYPES[result])
        assert torch.equal(run([back], whole, result, source)[0], whole.to(x.dtype))
    elif source == result:
        lines = [f"%zero = arith.constant -0.0 : {source}", f"%r = arith.addf %x, %zero : {source}"]
    elif sizes[source] == sizes[result]:
        lines = [f"%y = arith.extf %x : {source} to f32", f"%r = arith.truncf %y : f32 to {result}"]
    elif sizes[source] < sizes[result]:
        lines = [f"%r = arith.extf %x : {source} to {result}"]
    elif source == "f64" and sizes[result] == 16:
        lines = ["%y = arith.truncf %x : f64 to f32", f"%r = arith.truncf %y : f32 to {result}"]
    else:
        lines = [f"%r = arith.truncf %x : {source} to {result}"]
    assert torch.equal(run([lines], x, source, result)[0], x.to(DTYPES[result]))


def test_truth_becomes_a_number() -> None:
    x = torch.tensor([True, False, True, True])
    assert run([["%r = arith.uitofp %x : i1 to bf16"]], x, "i1", "bf16")[0].tolist() == [1, 0, 1, 1]
    assert run([["%r = arith.extui %x : i1 to i64"]], x, "i1", "i64")[0].tolist() == [1, 0, 1, 1]


def test_linalg_on_memrefs_becomes_loops() -> None:
    text = """
    func.func @KERNEL(%p0: memref<f32>, %p1: memref<f32>) {
      %x = memref.reinterpret_cast %p0 to offset: [0], sizes: [4], strides: [1] : memref<f32> to memref<4xf32>
      %y = memref.reinterpret_cast %p1 to offset: [0], sizes: [4], strides: [1] : memref<f32> to memref<4xf32>
      linalg.generic {
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]
      } ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %a : f32
        linalg.yield %s : f32
      }
      return
    }
    """
    x, y = torch.arange(4.0), torch.zeros(4)
    Kernel(KernelText(text, ()), [View("f32", (4,), (1,))] * 2)(x, y)
    assert y.tolist() == [0, 2, 4, 6]


NEST = """
func.func @KERNEL(%p0: memref<f32>, %n: index) {{
  %from = memref.reinterpret_cast %p0 to offset: [0], sizes: [9999], strides: [1] : memref<f32> to memref<9999xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %length = arith.constant {length} : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c5 step %c1 {{
    scf.for %j = %c0 to %n step %c1 {{
      scf.for %k = %c0 to {bound} step %c1 {{
        %sum = arith.addi %j, %k : index
        memref.store %x, %from[%sum] : memref<9999xf32>
      }}
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("length", "bound", "kept"), [(64, "%length", 2), (32, "%length", 2), (31, "%length", 0), (64, "%n", 0)]
)
def test_loops_around_long_ones_are_not_written_out(length: int, bound: str, kept: int) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(NEST.format(length=length, bound=bound))
        kernels_to_llvm(module)
        text = str(module)
    assert text.count("{loop_annotation = #loop_annotation}") == kept
    assert "llvm.loop_annotation =" not in text
    assert ("disable = true" in text) == bool(kept)


def test_truths_are_bytes_and_loops_use_whole_registers() -> None:
    """LLVM makes no vectors of single bits, and by itself takes half of a register of 64 bytes."""
    text = """func.func @chosen(%c: memref<i1>, %x: memref<f32>) {
      %t = memref.load %c[] : memref<i1>
      %a = memref.load %x[] : memref<f32>
      %n = arith.negf %a : f32
      %r = arith.select %t, %a, %n : f32
      memref.store %r, %x[] : memref<f32>
      %p = arith.cmpf ogt, %r, %a : f32
      memref.store %p, %c[] : memref<i1>
      return
    }"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        kernels_to_llvm(module)
        lowered = str(module)
    assert "-> i1" not in lowered
    assert "!llvm.ptr -> i8" in lowered
    assert 'llvm.icmp "ne"' in lowered  # any byte but 0 is true
    assert "llvm.zext" in lowered
    assert "i8, !llvm.ptr" in lowered
    assert '["prefer-vector-width", "512"]' in lowered
