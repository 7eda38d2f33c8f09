"""Sizes as expressions: index arithmetic, dims through every view, what cannot be followed, and relations."""

from __future__ import annotations

import math
from typing import Any

import pytest
import sympy

from hotdesk.ir.walking import entry_block, top_level_ops
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import expand, product
from hotdesk.sizes.size import Size, is_opaque
from tests.unit.parsing import function, parse

N, M = sympy.symbols("n m")
ARGUMENTS = '%x: tensor<?x?xf32> {hotdesk.shape = ["n", "m"]}, %y: tensor<?x4xf32> {hotdesk.shape = ["n", "4"]}'
HEAD = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?xf32>
"""


def sizes_of(body: str, arguments: str = ARGUMENTS) -> tuple[SymbolicSizes, list]:
    """The sizes of a function, and the last op's operands."""
    module = parse(f"func.func @f({arguments}) {{ {HEAD} {body} }}")
    found = function(module)
    return SymbolicSizes(found), top_level_ops(found)


def index(expression: str) -> Size:
    sizes, ops = sizes_of(f"{expression}\n return")
    return sizes.value(ops[-2].results[0])


def shape(*lines: str) -> tuple[Size, ...]:
    sizes, ops = sizes_of("\n".join([*lines, "return"]))
    return sizes.shape(ops[-2].results[0])


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("arith.addi %n, %m", N + M),
        ("arith.subi %n, %c2", N - 2),
        ("arith.muli %n, %m", N * M),
        ("arith.divsi %n, %c2", sympy.floor(N / 2)),
        ("arith.divui %n, %c2", sympy.floor(N / 2)),
        ("arith.floordivsi %n, %c2", sympy.floor(N / 2)),
        ("arith.ceildivsi %n, %c2", sympy.ceiling(N / 2)),
        ("arith.ceildivui %n, %c2", sympy.ceiling(N / 2)),
        ("arith.remsi %n, %c2", sympy.Mod(N, 2)),
        ("arith.remui %n, %c2", sympy.Mod(N, 2)),
        ("arith.maxsi %n, %m", sympy.Max(N, M)),
        ("arith.maxui %n, %m", sympy.Max(N, M)),
        ("arith.minsi %n, %c1", sympy.Min(N, 1)),
        ("arith.minui %n, %c1", sympy.Min(N, 1)),
        ("arith.addi %c2, %c1", 3),
        ("arith.subi %n, %n", 0),
    ],
)
def test_index_arithmetic(op: str, expected: Size) -> None:
    assert index(f"%r = {op} : index") == expected


@pytest.mark.parametrize("name", ["divsi", "remsi"])
@pytest.mark.parametrize("divisor", [2, 3, -2])
def test_divisions_of_what_may_be_negative_round_toward_zero(name: str, divisor: int) -> None:
    size: Any = index(
        f"%c = arith.constant {divisor} : index\n %s = arith.subi %n, %c2 : index\n %r = arith.{name} %s, %c : index"
    )
    for n in range(7):
        quotient = math.trunc((n - 2) / divisor)
        assert size.subs(N, n) == (quotient if name == "divsi" else n - 2 - quotient * divisor), n


LESS = "%s = arith.subi %n, %c2 : index"


@pytest.mark.parametrize("name", ["divui", "ceildivui", "remui", "maxui", "minui"])
@pytest.mark.parametrize("operands", ["%s, %c2", "%c2, %s"])
def test_what_may_be_negative_is_not_followed_without_a_sign(name: str, operands: str) -> None:
    """Below 0, such a number is more than any size to these ops."""
    assert is_opaque(index(f"{LESS}\n %r = arith.{name} {operands} : index"))


@pytest.mark.parametrize("name", ["divui", "ceildivui", "remui", "maxui", "minui"])
def test_what_is_counted_is_followed_without_a_sign(name: str) -> None:
    more = "%a = arith.muli %n, %m : index\n %s = arith.addi %a, %c2 : index"
    assert not is_opaque(index(f"{more}\n %r = arith.{name} %s, %c2 : index"))


@pytest.mark.parametrize("predicate", ["ult", "ule", "ugt", "uge"])
def test_comparisons_without_a_sign(predicate: str) -> None:
    compared = "%c = arith.cmpi {}, {}, %c2 : index\n %r = arith.select %c, %n, %m : index"
    assert not is_opaque(index(compared.format(predicate, "%n")))
    for left, right in (("%s", "%c2"), ("%c2", "%s"), ("%s", "%t")):
        both = f"{LESS}\n %t = arith.subi %c2, %m : index\n %c = arith.cmpi {predicate}, {left}, {right} : index"
        found: Any = index(f"{both}\n %r = arith.select %c, %n, %m : index")
        for n, m in [(n, m) for n in range(5) for m in range(5)]:
            a, b = ({"%s": n - 2, "%t": 2 - m, "%c2": 2}[each] % 2**64 for each in (left, right))
            holds = {"ult": a < b, "ule": a <= b, "ugt": a > b, "uge": a >= b}[predicate]
            assert found.subs({N: n, M: m}) == (n if holds else m)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("%r = arith.index_cast %b : i8 to index", -1),
        ("%r = arith.index_castui %b : i8 to index", None),
        ("%w = arith.extui %b : i8 to i64\n %r = arith.index_castui %w : i64 to index", None),
        ("%w = arith.extsi %b : i8 to i64\n %r = arith.index_castui %w : i64 to index", -1),
        ("%w = arith.addi %h, %h : i8\n %r = arith.index_cast %w : i8 to index", None),
        ("%r = arith.index_castui %h : i8 to index", 100),
    ],
)
def test_numbers_of_few_bits(number: str, expected: int | None) -> None:
    """Without its sign, a number below 0 becomes another one; a sum of eight bits may overflow."""
    found = index(f"%b = arith.constant -1 : i8\n %h = arith.constant 100 : i8\n {number}")
    assert is_opaque(found) if expected is None else found == expected


def test_casts_are_the_same_number() -> None:
    assert index("%a = arith.index_cast %n : index to i64\n %b = arith.index_cast %a : i64 to index") == N
    assert is_opaque(index("%a = arith.index_cast %n : index to i64\n %b = arith.trunci %a : i64 to i32"))
    assert is_opaque(index("%a = arith.index_cast %n : index to i32\n %b = arith.extsi %a : i32 to i64"))


def test_a_select_is_a_case_distinction() -> None:
    result = index("%c = arith.cmpi sgt, %n, %c2 : index\n %r = arith.select %c, %n, %m : index")
    assert result == sympy.Piecewise((N, N > 2), (M, True))
    assert index("%c = arith.constant true\n %r = arith.select %c, %n, %m : index") == N


@pytest.mark.parametrize(
    ("predicate", "relation"),
    [
        *(("eq", sympy.Eq(N, M)), ("ne", sympy.Ne(N, M))),
        *(("slt", sympy.Lt(N, M)), ("sle", sympy.Le(N, M)), ("sgt", sympy.Gt(N, M)), ("sge", sympy.Ge(N, M))),
        *(("ult", sympy.Lt(N, M)), ("ule", sympy.Le(N, M)), ("ugt", sympy.Gt(N, M)), ("uge", sympy.Ge(N, M))),
    ],
)
def test_comparisons_are_relations(predicate: str, relation: object) -> None:
    sizes, ops = sizes_of(f"%r = arith.cmpi {predicate}, %n, %m : index\n return")
    assert sizes.condition(ops[-2].results[0]) == relation


def test_what_is_no_comparison_of_sizes_has_no_relation() -> None:
    sizes, ops = sizes_of("%t = arith.constant true\n %r = arith.xori %b, %t : i1\n return", "%b: i1, " + ARGUMENTS)
    assert sizes.condition(ops[-2].results[0]) is None
    assert sizes.condition(ops[-2].operands[0]) is None
    assert sizes.condition(ops[-3].results[0]) == sympy.true


VIEWS = {
    "empty": (["%r = tensor.empty(%m) : tensor<?x3xf32>"], (M, 3)),
    "cast": (["%r = tensor.cast %y : tensor<?x4xf32> to tensor<?x?xf32>"], (N, 4)),
    "collapse": (["%r = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>"], (N * M,)),
    "expand": (
        ["%r = tensor.expand_shape %y [[0], [1, 2]] output_shape [%n, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>"],
        (N, 2, 2),
    ),
    "slice": (["%r = tensor.extract_slice %x[0, 0] [%m, 2] [1, 1] : tensor<?x?xf32> to tensor<?x2xf32>"], (M, 2)),
    "slice at an offset": (
        ["%r = tensor.extract_slice %x[%m, %n] [%n, %m] [%c1, %c2] : tensor<?x?xf32> to tensor<?x?xf32>"],
        (N, M),
    ),
    "slice of lower rank": (
        ["%r = tensor.extract_slice %x[0, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>"],
        (M,),
    ),
    "insertion": (
        ["%r = tensor.insert_slice %y into %x[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x?xf32>"],
        (N, M),
    ),
    "padding": (
        [
            "%z = arith.constant 0.0 : f32",
            (
                "%r = tensor.pad %x low[1, %n] high[2, 0] {\n^bb0(%i: index, %j: index):\n tensor.yield %z : f32\n}"
                " : tensor<?x?xf32> to tensor<?x?xf32>"
            ),
        ],
        (N + 3, N + M),
    ),
    "named op": (
        [
            "%e = tensor.empty(%m, %n) : tensor<?x?xf32>",
            "%r = linalg.transpose ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]",
        ],
        (M, N),
    ),
    "alloc": (["%r = memref.alloc(%n) : memref<2x?xf32>"], (2, N)),
    "memref cast": (
        ["%a = memref.alloc(%n) : memref<2x?xf32>", "%r = memref.cast %a : memref<2x?xf32> to memref<?x?xf32>"],
        (2, N),
    ),
    "subview": (
        [
            "%a = memref.alloc(%n) : memref<2x?xf32>",
            "%r = memref.subview %a[0, %m] [1, %m] [1, 2] : memref<2x?xf32> to memref<?xf32, strided<[2], offset: ?>>",
        ],
        (M,),
    ),
    "reinterpreted": (
        [
            "%a = memref.alloc(%n) : memref<2x?xf32>",
            (
                "%r = memref.reinterpret_cast %a to offset: [%m], sizes: [%m, 2], strides: [2, 1]"
                " : memref<2x?xf32> to memref<?x2xf32, strided<[2, 1], offset: ?>>"
            ),
        ],
        (M, 2),
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_dims_through_views(name: str) -> None:
    lines, expected = VIEWS[name]
    assert shape(*lines) == expected


def test_a_dim_of_a_view_is_a_size_of_its_source() -> None:
    assert index("%e = tensor.empty(%m) : tensor<?xf32>\n %r = tensor.dim %e, %c0 : tensor<?xf32>") == M


def test_each_result_has_the_sizes_of_its_own_init() -> None:
    body = """
      %a = tensor.empty(%n) : tensor<?xf32>
      %b = tensor.empty() : tensor<4xi32>
      %z = tensor.cast %b : tensor<4xi32> to tensor<?xi32>
      %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
                             iterator_types = ["parallel", "parallel"]} outs(%a, %z : tensor<?xf32>, tensor<?xi32>) {
      ^bb0(%p: f32, %q: i32):
        linalg.yield %p, %q : f32, i32
      } -> (tensor<?xf32>, tensor<?xi32>)
      return"""
    sizes, ops = sizes_of(body)
    assert [sizes.shape(result) for result in ops[-2].results] == [(N,), (4,)]


# What cannot be followed


def test_an_index_from_a_tensor_is_opaque_and_equal_to_nothing_else() -> None:
    body = "%a = tensor.extract %i[%c0] : tensor<4xindex>\n %b = tensor.extract %i[%c0] : tensor<4xindex>\n return"
    sizes, ops = sizes_of(body, "%i: tensor<4xindex>, " + ARGUMENTS)
    a, b = (sizes.value(op.results[0]) for op in ops[-3:-1])
    assert is_opaque(a)
    assert a != b
    assert sizes.value(ops[-3].results[0]) == a


@pytest.mark.parametrize(
    "op", ["arith.divsi %n, %c0", "arith.remsi %n, %c0", "arith.xori %n, %m", "arith.shli %n, %c1"]
)
def test_arithmetic_without_a_form_is_opaque(op: str) -> None:
    assert is_opaque(index(f"%r = {op} : index"))


def test_arguments_of_which_nothing_is_said_have_sizes_of_their_own() -> None:
    module = parse("func.func @f(%x: tensor<?xf32>, %y: tensor<?x2xf32>) { return }")
    x, y = entry_block(function(module)).arguments
    sizes = SymbolicSizes(function(module))
    assert is_opaque(sizes.shape(x)[0])
    assert sizes.shape(y)[1] == 2
    assert sizes.shape(x)[0] != sizes.shape(y)[0]
    assert not is_opaque(N + 1)
    assert not is_opaque(3)


def test_a_new_opaque_size_differs_from_those_that_arguments_came_with() -> None:
    module = parse('func.func @f(%x: tensor<?xf32> {hotdesk.shape = ["opaque1"]}, %y: tensor<?xf32>) { return }')
    x, y = entry_block(function(module)).arguments
    sizes = SymbolicSizes(function(module))
    assert str(sizes.shape(x)[0]) == "opaque1"
    assert is_opaque(sizes.shape(y)[0])
    assert sizes.shape(x) != sizes.shape(y)


@pytest.mark.parametrize("name", ["N", "S", "E", "I", "Q", "beta", "gamma", "lambda_", "batch", "s0"])
def test_any_name_is_a_symbol_whatever_sympy_means_by_it(name: str) -> None:
    module = parse(f'func.func @f(%x: tensor<?x?xf32> {{hotdesk.shape = ["{name}", "2*{name} + 1"]}}) {{ return }}')
    sizes = SymbolicSizes(function(module)).shape(entry_block(function(module)).arguments[0])
    assert sizes == (sympy.Symbol(name), 2 * sympy.Symbol(name) + 1)


@pytest.mark.parametrize(
    "size", [N + M, sympy.floor(N / 2), sympy.Max(N, 1), sympy.Mod(N, 2), sympy.Piecewise((N, N > 2), (M, True))]
)
def test_a_printed_size_is_read_back(size: sympy.Expr) -> None:
    module = parse(f'func.func @f(%x: tensor<?xf32> {{hotdesk.shape = ["{size}"]}}) {{ return }}')
    assert SymbolicSizes(function(module)).shape(entry_block(function(module)).arguments[0]) == (size,)


@pytest.mark.parametrize("number", [-1, 1, 4])
def test_a_dimension_that_is_not_there_has_a_size_of_its_own(number: int) -> None:
    module = parse(f"""func.func @f(%x: tensor<?xf32>) -> index {{
      %c = arith.constant {number} : index
      %d = tensor.dim %x, %c : tensor<?xf32>
      return %d : index
    }}""")
    block = entry_block(function(module))
    sizes = SymbolicSizes(function(module))
    size = sizes.value(list(block.operations)[1].operation.results[0])
    assert is_opaque(size)
    assert size != sizes.shape(block.arguments[0])[0]


# Arithmetic of sizes


def test_products_and_sums_have_one_form() -> None:
    assert product([]) == 1
    assert product([2, 3]) == 6
    assert product([N + 1, N]) == N**2 + N
    assert expand((N + 1) * (N - 1) + 1 - N**2) == 0
    assert isinstance(expand(N - N + 2), int)
