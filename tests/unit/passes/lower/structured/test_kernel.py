"""Loop kernels: one pointer per memref, scalars cloned in, checks that store a code, and which sums may be reordered."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from torch_mlir import ir

from hotdesk.errors import ExecutionError, LoweringError
from hotdesk.passes.lower.structured.kernel import disjoint
from hotdesk.passes.lower.views import ResolvedMemref
from tests.harness import Compiled, buffers_alone, check_module
from tests.unit.parsing import function, parse
from tests.unit.passes.lower.structured.loop_kernels import kernel

ID = "affine_map<(i) -> (i)>"
M = "memref<8xf32>"


def generic(inputs: list[str], init: str, body: str, kind: str = M, reduced: bool = False) -> str:
    maps = ", ".join([*[ID] * len(inputs), "affine_map<(i) -> ()>" if reduced else ID])
    arguments = "".join(f"%a{i}: f32, " for i in range(len(inputs)))
    result = "memref<f32>" if reduced else kind
    return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = ["{"reduction" if reduced else "parallel"}"]}}
      ins({", ".join(inputs)} : {", ".join([kind] * len(inputs))}) outs({init} : {result}) {{
    ^bb0({arguments}%o: f32):
      {body}
      linalg.yield %t : f32
    }}"""


# Pointers


def test_a_memref_is_one_pointer_however_often_it_is_used() -> None:
    made, text = kernel(f"%x: {M}, %y: {M}", generic(["%x", "%x", "%y"], "%y", "%t = arith.addf %a0, %a1 : f32"))
    assert len(made.memrefs) == 2
    assert "func.func @KERNEL(%arg0: memref<f32> {llvm.noalias}, %arg1: memref<f32> {llvm.noalias})" in text


def test_two_views_of_one_buffer_may_overlap() -> None:
    view = f"%v = memref.subview %x[0] [8] [1] : {M} to memref<8xf32, strided<[1]>>"
    body = generic(["%x"], "%y", "%t = math.exp %a0 : f32").replace(
        f"outs(%y : {M})", "outs(%v : memref<8xf32, strided<[1]>>)"
    )
    _, text = kernel(f"%x: {M}", f"{view}\n{body}")
    assert "llvm.noalias" not in text


def test_noalias_needs_another_base_or_no_write() -> None:
    module = parse(f"func.func @f(%x: {M}, %y: {M}) {{\nreturn\n}}")
    x, y = function(module).regions[0].blocks[0].arguments

    def at(base: ir.Value) -> ResolvedMemref:
        return ResolvedMemref(base, 0, (8,), (1,), "f32")

    assert disjoint([at(x), at(y)], [False, True]) == (True, True)
    assert disjoint([at(x), at(x)], [False, True]) == (False, False)
    assert disjoint([at(x), at(x)], [False, False]) == (True, True)
    assert disjoint([at(x), at(x), at(y)], [False, False, True]) == (True, True, True)


def test_unknown_sizes_come_with_the_call() -> None:
    kind = "memref<?xf32>"
    made, text = kernel(f'%x: {kind} {{hotdesk.shape = ["n"]}}', generic(["%x"], "%x", "%t = math.exp %a0 : f32", kind))
    assert made.scalars == [sympy.Symbol("n")]
    assert "%arg1: index" in text


# Scalars


def test_captured_scalars_are_computed_in_the_kernel() -> None:
    scalar = f"%i = arith.constant 2 : index\n%s = memref.load %y[%i] : {M}\n%u = arith.mulf %s, %s : f32"
    made, text = kernel(f"%x: {M}, %y: {M}", f"{scalar}\n" + generic(["%x"], "%x", "%t = arith.addf %a0, %u : f32"))
    assert len(made.memrefs) == 2
    assert made.scalars == []
    assert text.index("memref.load") < text.index("arith.mulf") < text.index("linalg.generic")


def test_captured_scalars_have_the_values_of_their_place_in_the_program() -> None:
    check_module(
        f"""
        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32> {{hotdesk.donated}}) -> tensor<4xf32> {{
          %i = arith.constant 2 : index
          %s = tensor.extract %y[%i] : tensor<4xf32>
          %u = arith.mulf %s, %s : f32
          %e = tensor.empty() : tensor<4xf32>
          %a = linalg.generic {{indexing_maps = [{ID}, {ID}], iterator_types = ["parallel"]}}
              ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {{
          ^bb0(%p: f32, %o: f32):
            %t = arith.addf %p, %s : f32
            linalg.yield %t : f32
          }} -> tensor<4xf32>
          %r = linalg.generic {{indexing_maps = [{ID}, {ID}], iterator_types = ["parallel"]}}
              ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {{
          ^bb0(%p: f32, %o: f32):
            %t = arith.addf %p, %u : f32
            linalg.yield %t : f32
          }} -> tensor<4xf32>
          return %r : tensor<4xf32>
        }}""",
        np.arange(4, dtype=np.float32),
        np.arange(4, dtype=np.float32) + 3,
    )


def test_captured_sizes_are_arguments() -> None:
    kind = "memref<?xf32>"
    size = f"%i = arith.constant 0 : index\n%n = memref.dim %x, %i : {kind}"
    body = "%k = arith.index_cast %n : index to i64\n%f = arith.sitofp %k : i64 to f32\n%t = arith.divf %a0, %f : f32"
    made, text = kernel(f'%x: {kind} {{hotdesk.shape = ["n"]}}', f"{size}\n" + generic(["%x"], "%x", body, kind))
    assert made.scalars == [sympy.Symbol("n")] * 2
    assert "memref.dim" not in text


def test_a_scalar_argument_is_passed_on() -> None:
    made, text = kernel(f"%x: {M}, %s: f32", generic(["%x"], "%x", "%t = arith.addf %a0, %s : f32"))
    assert [str(value.type) for value in made.passed] == ["f32"]
    assert re.search(r"@KERNEL\(%\w+: memref<f32>[^,]*, (%\w+): f32\)", text)


def test_an_index_out_of_a_tensor_is_refused_and_located() -> None:
    scalar = "%i = arith.constant 0 : index\n%n = memref.load %y[%i] : memref<4xindex>"
    body = "%t = memref.load %x[%n] : memref<8xf32>"
    with pytest.raises(LoweringError, match=r"an index depends on the values of a tensor.*\(-:"):
        kernel(f"%x: {M}, %y: memref<4xindex>, %z: {M}", f"{scalar}\n" + generic(["%z"], "%z", body))


# Checks

LOOKUP = f"""
  func.func @main(%table: tensor<4xf32>, %at: tensor<3xi64>) -> tensor<3xf32> {{
    %e = tensor.empty() : tensor<3xf32>
    %zero = arith.constant 0 : i64
    %four = arith.constant 4 : i64
    %r = linalg.generic {{indexing_maps = [{ID}, {ID}], iterator_types = ["parallel"]}}
        ins(%at : tensor<3xi64>) outs(%e : tensor<3xf32>) {{
    ^bb0(%a: i64, %o: f32):
      %low = arith.cmpi sge, %a, %zero : i64
      cf.assert %low, "index must not be negative"
      %high = arith.cmpi slt, %a, %four : i64
      cf.assert %high, "index must be smaller than the table"
      %i = arith.index_cast %a : i64 to index
      %t = tensor.extract %table[%i] : tensor<4xf32>
      linalg.yield %t : f32
    }} -> tensor<3xf32>
    return %r : tensor<3xf32>
  }}"""
TABLE = np.arange(4, dtype=np.float32) + 1


@pytest.fixture(scope="module")
def lookup() -> Compiled:
    return Compiled(LOOKUP, buffers_alone)


def test_a_check_that_holds(lookup: Compiled) -> None:
    (result,) = lookup(TABLE, np.array([3, 0, 2]))
    assert result.tolist() == [4, 1, 3]


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (-1, "index must not be negative"),
        (4, "index must be smaller than the table"),
        (2**40, "index must be smaller than the table"),  # far outside: an unguarded load would end the process
        (-(2**40), "index must not be negative"),
    ],
)
def test_a_check_that_fails_is_an_error_of_the_call(lookup: Compiled, index: int, message: str) -> None:
    with pytest.raises(ExecutionError, match=message):
        lookup(TABLE, np.array([3, index, 2]))


def test_the_next_call_starts_without_a_failure(lookup: Compiled) -> None:
    with pytest.raises(ExecutionError):
        lookup(TABLE, np.array([9, 9, 9]))
    (result,) = lookup(TABLE, np.array([1, 1, 1]))
    assert result.tolist() == [2, 2, 2]


CHECKED = '%c = arith.cmpf oge, %a0, %zero : f32\ncf.assert %c, "no"\n%i = arith.fptosi %a0 : f32 to i64\n'
CHECKED += "%j = arith.index_cast %i : i64 to index\n%t = memref.load %y[%j] : memref<8xf32>"


GUARDED = CHECKED.replace("oge, %a0", "oge, %o")  # what is written is checked, which loops in front could not


def test_a_check_becomes_loops_in_front_of_those_that_read() -> None:
    made, text = kernel(f"%x: {M}, %y: {M}", "%zero = arith.constant 0.0 : f32\n" + generic(["%x"], "%x", CHECKED))
    assert made.needs_status
    assert "cf.assert" not in text
    checks, loops = text.split("scf.if")
    assert '["reduction"]' in checks
    assert "memref.load %0" not in checks
    assert "arith.minui" in loops
    assert "memref.load" in loops
    assert "arith.cmpf" in checks


def test_a_check_becomes_a_store_and_a_guard() -> None:
    made, text = kernel(f"%x: {M}, %y: {M}", "%zero = arith.constant 0.0 : f32\n" + generic(["%x"], "%x", GUARDED))
    assert made.needs_status
    assert "cf.assert" not in text
    assert "%arg2: memref<i32> {llvm.noalias}" in text
    lines = [line.strip() for line in text.splitlines()]
    assert "%c7_i32 = arith.constant 7 : i32" in lines
    guard = next(i for i, line in enumerate(lines) if "scf.if" in line and "-> (f32)" in line)
    assert "memref.load" in lines[guard + 1]
    assert lines[guard + 3] == "} else {"


CHAINED = f"""
  func.func @main(%first: tensor<3xi64>, %second: tensor<?xi64> {{hotdesk.shape = ["n"]}},
                  %table: tensor<?xf32> {{hotdesk.shape = ["m"]}}) -> tensor<3xf32> {{
    %e = tensor.empty() : tensor<3xf32>
    %zero = arith.constant 0 : index
    %n = tensor.dim %second, %zero : tensor<?xi64>
    %m = tensor.dim %table, %zero : tensor<?xf32>
    %r = linalg.generic {{indexing_maps = [{ID}, {ID}], iterator_types = ["parallel"]}}
        ins(%first : tensor<3xi64>) outs(%e : tensor<3xf32>) {{
    ^bb0(%a: i64, %o: f32):
      %i = arith.index_cast %a : i64 to index
      %inside = arith.cmpi ult, %i, %n : index
      cf.assert %inside, "first"
      %b = tensor.extract %second[%i] : tensor<?xi64>
      %j = arith.index_cast %b : i64 to index
      %held = arith.cmpi ult, %j, %m : index
      cf.assert %held, "second"
      %t = tensor.extract %table[%j] : tensor<?xf32>
      linalg.yield %t : f32
    }} -> tensor<3xf32>
    return %r : tensor<3xf32>
  }}"""


def test_a_check_of_what_another_check_reads_by() -> None:
    """Whatever of the two has no element."""
    chained = Compiled(CHAINED, buffers_alone)
    none, places = np.zeros(0, np.int64), np.array([2, 0, 1])
    (result,) = chained(places, places, TABLE)
    assert result.tolist() == [2, 3, 1]
    for first, second, table, message in (
        (places, none, TABLE, "first"),
        (places, none, TABLE[:0], "first"),
        (places, places, TABLE[:0], "second"),
        (places, places + 2, TABLE, "second"),
        (places + 1, places, TABLE, "first"),
    ):
        with pytest.raises(ExecutionError, match=message):
            chained(first, second, table)


def test_an_op_that_checks_alone_leaves_nothing() -> None:
    head = f'linalg.generic {{indexing_maps = [{ID}], iterator_types = ["reduction"]}} ins(%x : {M})'
    alone = head + ' {\n^bb0(%a: f32):\n%c = arith.cmpf oge, %a, %zero : f32\ncf.assert %c, "no"\nlinalg.yield\n}'
    made, text = kernel(f"%x: {M}", f"%zero = arith.constant 0.0 : f32\n{alone}")
    assert made.needs_status
    assert text.count("linalg.generic") == 1


def test_places_that_are_long_sums_of_numbers_of_loops() -> None:
    """Each is used twice by the next: whoever follows every use of a value has more of them than there is time."""
    sums = "".join(f"%s{i + 1} = arith.addi %s{i}, %s{i} : index\n" for i in range(60))
    chain = f"%s0 = linalg.index 0 : index\n{sums}%t = memref.load %y[%s60] : memref<8xf32>"
    body = '%c = arith.cmpf oge, %a0, %zero : f32\ncf.assert %c, "no"\n' + chain
    _, text = kernel(f"%x: {M}, %y: {M}", "%zero = arith.constant 0.0 : f32\n" + generic(["%x"], "%x", body))
    assert "arith.minui" not in text


def test_a_load_in_front_of_the_check_is_not_guarded() -> None:
    body = GUARDED.replace(
        "%c = arith", "%k = arith.constant 0 : index\n%u = memref.load %y[%k] : memref<8xf32>\n%c = arith", 1
    )
    _, text = kernel(f"%x: {M}, %y: {M}", "%zero = arith.constant 0.0 : f32\n" + generic(["%x"], "%x", body))
    assert text.count("-> (f32)") == 1
    assert text.index("memref.load") < text.index("scf.if")


def test_a_kernel_without_checks_needs_no_status() -> None:
    made, text = kernel(f"%x: {M}", generic(["%x"], "%x", "%t = math.exp %a0 : f32"))
    assert not made.needs_status
    assert "i32" not in text


# Order of sums


def test_a_sum_may_be_reordered() -> None:
    _, text = kernel(f"%x: {M}, %y: memref<f32>", generic(["%x"], "%y", "%t = arith.addf %o, %a0 : f32", reduced=True))
    assert "fastmath<reassoc>" in text


def test_arithmetic_on_elements_may_not() -> None:
    body = "%u = arith.mulf %a0, %a0 : f32\n%t = arith.addf %u, %a0 : f32"
    _, text = kernel(f"%x: {M}", generic(["%x"], "%x", body))
    assert "fastmath" not in text
