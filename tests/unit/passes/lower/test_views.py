"""Where memrefs lie: base, offset, sizes and strides through every view op."""

from __future__ import annotations

import pytest
import sympy

from hotdesk.analysis.memrefs.memref_views import row_major
from hotdesk.errors import LoweringError
from hotdesk.ir.walking import entry_block, top_level_ops
from hotdesk.kernels.text import View
from hotdesk.passes.lower.views import MemrefResolver, ResolvedMemref
from hotdesk.program.symbolic import SymbolicSizes
from tests.unit.parsing import function, parse

N = sympy.Symbol("n")
ARGUMENTS = '%x: memref<4x6xf32>, %y: memref<?x6xf32> {hotdesk.shape = ["n", "6"]}, %r: memref<f32>'


def place(*lines: str, base: int = 0) -> ResolvedMemref:
    """The place of the last value, which is a view of argument `base`."""
    module = parse(f"func.func @f({ARGUMENTS}) {{\n" + "\n".join(lines) + "\nreturn\n}")
    found = function(module)
    result = MemrefResolver(found, SymbolicSizes(found)).of(top_level_ops(found)[-2].results[0])
    assert result.base == entry_block(found).arguments[base]
    assert result.element == "f32"
    return result


def layout(*lines: str, base: int = 0) -> tuple[object, ...]:
    found = place(*lines, base=base)
    return found.offset, found.sizes, found.strides


def test_bases_are_contiguous() -> None:
    module = parse(f"""
      memref.global "private" constant @c : memref<2x3xi8> = dense<1>
      func.func @f({ARGUMENTS}) {{
        %a = memref.alloc() : memref<2x5xi64>
        %c = memref.get_global @c : memref<2x3xi8>
        return
      }}""")
    found = function(module)
    places = MemrefResolver(found, SymbolicSizes(found))
    a, c = (op.results[0] for op in top_level_ops(found)[:2])
    assert places.of(a) == ResolvedMemref(a, 0, (2, 5), (5, 1), "i64")
    assert places.of(c) == ResolvedMemref(c, 0, (2, 3), (3, 1), "i8")
    y = entry_block(found).arguments[1]
    assert places.of(y) == ResolvedMemref(y, 0, (N, 6), (6, 1), "f32")
    assert places.of(y) is places.of(y)


def test_a_slice() -> None:
    line = (
        "%v = memref.subview %x[1, 2] [2, 2] [2, 3] : memref<4x6xf32> to memref<2x2xf32, strided<[12, 3], offset: 8>>"
    )
    assert layout(line) == (8, (2, 2), (12, 3))


def test_a_slice_of_lower_rank() -> None:
    line = "%v = memref.subview %x[3, 0] [1, 6] [1, 1] : memref<4x6xf32> to memref<6xf32, strided<[1], offset: 18>>"
    assert layout(line) == (18, (6,), (1,))


def test_a_slice_of_a_slice_adds_up() -> None:
    lines = (
        "%v = memref.subview %x[1, 1] [3, 5] [1, 1] : memref<4x6xf32> to memref<3x5xf32, strided<[6, 1], offset: 7>>",
        (
            "%w = memref.subview %v[1, 2] [2, 1] [1, 1]"
            " : memref<3x5xf32, strided<[6, 1], offset: 7>> to memref<2x1xf32, strided<[6, 1], offset: 15>>"
        ),
    )
    assert layout(*lines) == (15, (2, 1), (6, 1))


def test_offsets_and_sizes_may_be_expressions() -> None:
    lines = (
        "%i = arith.constant 0 : index",
        "%n = memref.dim %y, %i : memref<?x6xf32>",
        "%one = arith.constant 1 : index",
        "%m = arith.subi %n, %one : index",
        "%v = memref.subview %y[%m, 0] [1, %n] [1, 2] : memref<?x6xf32> to memref<1x?xf32, strided<[6, 2], offset: ?>>",
    )
    assert layout(*lines, base=1) == (6 * N - 6, (1, N), (6, 2))
    found = place(*lines, base=1)
    assert found.view() == View("f32", (1, None), (6, 2))
    assert found.unknowns() == [N]


def test_splitting_a_dimension() -> None:
    line = "%v = memref.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 3] : memref<4x6xf32> into memref<4x2x3xf32>"
    assert layout(line) == (0, (4, 2, 3), (6, 3, 1))


def test_splitting_a_dimension_with_gaps() -> None:
    lines = (
        "%v = memref.subview %x[0, 1] [4, 2] [1, 2] : memref<4x6xf32> to memref<4x2xf32, strided<[6, 2], offset: 1>>",
        (
            "%w = memref.expand_shape %v [[0, 1], [2]] output_shape [2, 2, 2]"
            " : memref<4x2xf32, strided<[6, 2], offset: 1>> into memref<2x2x2xf32, strided<[12, 6, 2], offset: 1>>"
        ),
    )
    assert layout(*lines) == (1, (2, 2, 2), (12, 6, 2))


def test_splitting_nothing() -> None:
    line = "%v = memref.expand_shape %r [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>"
    assert layout(line, base=2) == (0, (1, 1), (1, 1))


def test_merging_dimensions() -> None:
    assert layout("%v = memref.collapse_shape %x [[0, 1]] : memref<4x6xf32> into memref<24xf32>") == (0, (24,), (1,))


def test_merging_takes_the_stride_of_the_last_dimension_that_is_not_one() -> None:
    lines = (
        "%v = memref.expand_shape %x [[0], [1, 2]] output_shape [4, 6, 1] : memref<4x6xf32> into memref<4x6x1xf32>",
        (
            "%w = memref.subview %v[0, 0, 0] [4, 3, 1] [1, 2, 1]"
            " : memref<4x6x1xf32> to memref<4x3x1xf32, strided<[6, 2, 1]>>"
        ),
        (
            "%u = memref.collapse_shape %w [[0], [1, 2]]"
            " : memref<4x3x1xf32, strided<[6, 2, 1]>> into memref<4x3xf32, strided<[6, 2]>>"
        ),
    )
    assert layout(*lines) == (0, (4, 3), (6, 2))


def test_a_cast_changes_nothing() -> None:
    assert layout("%v = memref.cast %x : memref<4x6xf32> to memref<?x?xf32>") == (0, (4, 6), (6, 1))


def test_a_reinterpretation_counts_from_the_start_of_the_base() -> None:
    lines = (
        "%v = memref.subview %x[1, 0] [3, 6] [1, 1] : memref<4x6xf32> to memref<3x6xf32, strided<[6, 1], offset: 6>>",
        (
            "%w = memref.reinterpret_cast %v to offset: [2], sizes: [3, 2], strides: [2, 1]"
            " : memref<3x6xf32, strided<[6, 1], offset: 6>> to memref<3x2xf32, strided<[2, 1], offset: 2>>"
        ),
    )
    assert layout(*lines) == (2, (3, 2), (2, 1))


def test_sizes_from_memory_arrange_what_is_contiguous() -> None:
    shape = "%s = memref.alloc() : memref<1xindex>"
    line = "%v = memref.reshape %x(%s) : (memref<4x6xf32>, memref<1xindex>) -> memref<24xf32>"
    assert layout(shape, line) == (0, (24,), (1,))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            """%s = memref.alloc() : memref<1xindex>
            %v = memref.reshape %x(%s) : (memref<4x6xf32>, memref<1xindex>) -> memref<?xf32>""",
            "view `memref.reshape` is not lowered",
        ),
        ("%v = arith.select %c, %x, %x : memref<4x6xf32>", "op `arith.select` makes a memref that is not understood"),
    ],
)
def test_what_is_not_understood_is_named(line: str, message: str) -> None:
    with pytest.raises(LoweringError, match=message):
        place("%c = arith.constant true", line)


def test_a_transposition_turns_strides() -> None:
    line = "%v = memref.transpose %x (i, j) -> (j, i) : memref<4x6xf32> to memref<6x4xf32, strided<[1, 6]>>"
    assert layout(line) == (0, (6, 4), (1, 6))


def test_bytes_that_are_no_whole_elements_are_not_lowered() -> None:
    module = parse("""
    func.func @f(%x: memref<64xi8>, %i: index) {
      %v = memref.view %x[%i][] : memref<64xi8> to memref<4xf32>
      return
    }""")
    found = function(module)
    with pytest.raises(LoweringError, match="view `memref.view` is not lowered"):
        MemrefResolver(found, SymbolicSizes(found)).of(top_level_ops(found)[-2].results[0])


def test_row_major_strides() -> None:
    assert row_major(()) == ()
    assert row_major((2, 3, 4)) == (12, 4, 1)
    assert row_major((2, N, 4)) == (4 * N, 4, 1)
