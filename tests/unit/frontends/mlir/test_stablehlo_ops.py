"""Sorts and scatters of StableHLO that JAX does not write: comparisons of floats in part, windows, index vectors anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import UnsupportedOpError


def sorted_by(comparison: str) -> str:
    return f"""
func.func @f(%x: tensor<7xf32>, %y: tensor<7xi32>) -> (tensor<7xf32>, tensor<7xi32>) {{
  %r:2 = "stablehlo.sort"(%x, %y) <{{dimension = -1 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    {comparison}
    stablehlo.return %p : tensor<i1>
  }}) : (tensor<7xf32>, tensor<7xi32>) -> (tensor<7xf32>, tensor<7xi32>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi32>
}}"""


X: Any = np.array([3, -0.0, -2, 0.0, 7, -2, 1], np.float32)
Y: Any = np.array([5, 4, 3, 2, 1, 0, -1], np.int32)


@pytest.mark.parametrize(
    ("comparison", "order"),
    [
        ("%p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>", [2, 5, 1, 3, 6, 0, 4]),
        ("%p = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>", [4, 0, 6, 1, 3, 2, 5]),
        ("%p = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>", [6, 5, 4, 3, 2, 1, 0]),
        (
            """%e = stablehlo.abs %a : tensor<f32>
            %g = stablehlo.abs %b : tensor<f32>
            %p = stablehlo.compare LT, %e, %g : (tensor<f32>, tensor<f32>) -> tensor<i1>""",
            [1, 3, 6, 2, 5, 0, 4],
        ),
    ],
)
def test_sorts(comparison: str, order: list[int]) -> None:
    got: Any = hotdesk.compile(sorted_by(comparison))(X, Y)
    np.testing.assert_array_equal(np.signbit(got[0]), np.signbit(X[order]))
    np.testing.assert_array_equal(got[0], X[order])
    np.testing.assert_array_equal(got[1], Y[order])


@pytest.mark.parametrize(
    "comparison",
    [
        "%p = stablehlo.compare LE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        "%p = stablehlo.compare LT, %b, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        """%e = stablehlo.abs %a : tensor<f32>
        %p = stablehlo.compare LT, %e, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>""",
        """%q = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %e = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %l = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %t = stablehlo.and %e, %l : tensor<i1>
        %p = stablehlo.or %q, %t : tensor<i1>""",
    ],
)
def test_other_comparisons_are_refused(comparison: str) -> None:
    with pytest.raises(UnsupportedOpError, match="stablehlo.sort"):
        hotdesk.compile(sorted_by(comparison))


def scattered(dims: str, operand: str, indices: str, updates: str, body: str) -> str:
    return f"""
func.func @f(%x: tensor<{operand}xf32>, %i: tensor<{indices}xi32>, %u: tensor<{updates}xf32>) -> tensor<{operand}xf32> {{
  %r = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{dims}>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    {body}
  }}) : (tensor<{operand}xf32>, tensor<{indices}xi32>, tensor<{updates}xf32>) -> tensor<{operand}xf32>
  return %r : tensor<{operand}xf32>
}}"""


ADD = "%s = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %s : tensor<f32>"


def floats(*sizes: int) -> Any:
    return np.random.default_rng(0).standard_normal(sizes).astype(np.float32)


def test_windows_that_are_not_wholly_inside_are_left_out() -> None:
    dims = "update_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 0"
    x, u = floats(6, 7), floats(4, 2, 3)
    i: Any = np.array([[0, 4, 5, 2], [1, 4, 0, -1]], np.int32)
    got: Any = hotdesk.compile(scattered(dims, "6x7", "2x4", "4x2x3", ADD))(x, i, u)
    expected = x.copy()
    for number, (column, row) in enumerate(i.T):
        if 0 <= row <= 6 - 2 and 0 <= column <= 7 - 3:
            expected[row : row + 2, column : column + 3] += u[number]
    assert (expected != x).any()
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_batches_behind_an_index_vector() -> None:
    dims = (
        "update_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [1], "
        "scatter_dims_to_operand_dims = [2], inserted_window_dims = [2], index_vector_dim = 0"
    )
    x, u, i = floats(2, 3, 5), floats(2, 3), np.array([[4, 0, 5]], np.int32)
    got: Any = hotdesk.compile(scattered(dims, "2x3x5", "1x3", "2x3", ADD))(x, i, u)
    expected = x.copy()
    for batch, place in enumerate(i[0]):
        if place < 5:
            expected[:, batch, place] += u[:, batch]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_places_without_a_sign() -> None:
    dims = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    x, u, i = floats(256), floats(3), np.array([[200], [255], [3]], np.uint8)
    got: Any = hotdesk.compile(scattered(dims, "256", "3x1", "3", ADD).replace("3x1xi32", "3x1xui8"))(x, i, u)
    expected = x.copy()
    expected[i[:, 0]] += u
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_one_window_without_places() -> None:
    dims = "update_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0"
    x, u = floats(6), floats(2)
    for place in (0, 4, 5, -1):
        got: Any = hotdesk.compile(scattered(dims, "6", "1", "2", "stablehlo.return %b : tensor<f32>"))(
            x, np.array([place], np.int32), u
        )
        expected = x.copy()
        if 0 <= place <= 4:
            expected[place : place + 2] = u
        np.testing.assert_array_equal(got, expected)


def test_another_update_is_computed_in_turn() -> None:
    dims = "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    body = """%s = stablehlo.add %a, %b : tensor<f32>
    %t = stablehlo.multiply %s, %a : tensor<f32>
    stablehlo.return %t : tensor<f32>"""
    x, u, i = floats(6), floats(4), np.array([[4], [0], [4], [6]], np.int32)
    got: Any = hotdesk.compile(scattered(dims, "6", "4x1", "4", body))(x, i, u)
    expected = x.copy()
    for (place,), update in zip(i, u, strict=True):
        if place < 6:
            expected[place] = (expected[place] + update) * expected[place]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_a_scatter_of_several_operands_is_refused() -> None:
    text = """
func.func @f(%x: tensor<6xf32>, %y: tensor<6xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %r:2 = "stablehlo.scatter"(%x, %y, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %c, %d : tensor<f32>, tensor<f32>
  }) : (tensor<6xf32>, tensor<6xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  return %r#0, %r#1 : tensor<6xf32>, tensor<6xf32>
}"""
    with pytest.raises(UnsupportedOpError, match=r"stablehlo\.scatter.*:3:"):
        hotdesk.compile(text)


def best_by(comparison: str, settings: str = "reduction_dim = 1 : i64", target: str = "ApproxTopK") -> str:
    return f"""
func.func @before(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {{
  {comparison}
  return %p : tensor<i1>
}}
func.func @main(%x: tensor<2x5xf32>, %i: tensor<2x5xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {{
  %v = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<-1> : tensor<i32>
  %r:2 = stablehlo.custom_call @{target}(%x, %i, %v, %n) {{called_computations = [@before],
      mhlo.backend_config = {{{settings}}}}}
      : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>
}}"""


LESS = "%p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>"


def test_the_first_of_a_call_that_sorts() -> None:
    x: Any = np.array([[3, 1, 2, 1, 0], [5, 4, -np.inf, 2, 4]], np.float32)
    places: Any = np.array([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], np.int32)
    got: Any = hotdesk.compile(best_by(LESS), entry="main")(x, places)
    np.testing.assert_array_equal(got[0], [[0, 1, 1], [-np.inf, 2, 4]])
    np.testing.assert_array_equal(got[1], [[4, 1, 3], [7, 8, 6]])


@pytest.mark.parametrize(
    "text",
    [
        best_by(LESS.replace("LT", "LE")),
        best_by(LESS.replace("%a, %b", "%b, %a")),
        best_by("%p = stablehlo.constant dense<true> : tensor<i1>"),
        best_by(LESS, "top_k = 3 : i64"),
        best_by(LESS, target="Another"),
    ],
)
def test_calls_are_refused_by_their_name(text: str) -> None:
    name = "Another" if "@Another" in text else "ApproxTopK"
    with pytest.raises(UnsupportedOpError, match=rf"stablehlo\.custom_call`? of @{name}"):
        hotdesk.compile(text, entry="main")


@pytest.mark.parametrize(
    ("kind", "place", "begins"),
    [("ui8", 250, 250), ("i8", 100, 100), ("i8", -3, 0), ("ui16", 65000, 65000), ("i16", 9, 9), ("i32", 70001, 69998)],
)
def test_slices_begin_anywhere_in_what_they_update(kind: str, place: int, begins: int) -> None:
    """Their last place is beyond what integers of 8 and 16 bits count to."""
    text = f"""
    func.func @f(%x: tensor<70000xf32>, %y: tensor<2xf32>, %i: tensor<{kind}>) -> tensor<70000xf32> {{
      %r = stablehlo.dynamic_update_slice %x, %y, %i
          : (tensor<70000xf32>, tensor<2xf32>, tensor<{kind}>) -> tensor<70000xf32>
      return %r : tensor<70000xf32>
    }}"""
    at = np.array(place, kind.replace("i", "int"))
    expected: Any = np.zeros(70000, np.float32)
    expected[begins : begins + 2] = 1
    got = hotdesk.compile(text)(np.zeros(70000, np.float32), np.ones(2, np.float32), at)
    np.testing.assert_array_equal(got, expected)
