"""Programs that were compiled wrongly once, or not at all, each as small as it could be made."""

from __future__ import annotations

import numpy as np
import pytest

from tests.harness import PIPELINES, Compiled, check, check_module
from tests.reference import Array

_MAPS = """
#p = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
"""


def _numbers(*sizes: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(sum(sizes)).integers(-4, 5, sizes).astype(dtype)


def _check(text: str, *inputs: Array) -> None:
    check_module(_MAPS + text, *inputs)


def _generic(name: str, ins: str, out: str, shape: str, body: str) -> str:
    """`%name = linalg.generic`, elementwise in one dimension; `body` computes `%y` from `%a`, and `%o` is the old element."""
    return f"""
    %{name} = linalg.generic {{indexing_maps = [#p, #p], iterator_types = ["parallel"]}}
        ins({ins} : tensor<{shape}xf32>) outs({out} : tensor<{shape}xf32>) {{
    ^bb0(%a: f32, %o: f32):
      {body}
      linalg.yield %y : f32
    }} -> tensor<{shape}xf32>"""


def test_a_scalar_is_read_before_its_tensor_is_overwritten() -> None:
    """Its kernel loads the element when it runs, so it counts as a read there, not where the program extracts it."""
    twice = "%y = arith.addf %a, %a : f32"
    _check(
        f"""func.func @main(%x: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
          %one = arith.constant 1 : index
          %e = tensor.empty() : tensor<4xf32>
          {_generic("r", "%x", "%e", "4", twice)}
          %s = tensor.extract %r[%one] : tensor<4xf32>
          {_generic("over", "%x", "%r", "4", "%y = arith.addf %a, %o : f32")}
          {_generic("last", "%z", "%e", "4", "%y = arith.addf %a, %s : f32")}
          return %over, %last : tensor<4xf32>, tensor<4xf32>
        }}""",
        _numbers(4),
        _numbers(4) + 1,
    )


def test_a_buffer_lives_while_a_scalar_of_it_is_needed() -> None:
    """Between the extraction and the use, buffers of the same size are made and die."""
    steps = "".join(
        f"%e{i} = tensor.empty() : tensor<64xf32>" + _generic(f"t{i}", before, f"%e{i}", "64", body)
        for i, (before, body) in enumerate(
            [("%z", "%y = arith.addf %a, %a : f32"), ("%t0", "%y = arith.mulf %a, %a : f32")]
        )
    )
    _check(
        f"""func.func @main(%x: tensor<64xf32>, %z: tensor<64xf32>) -> tensor<64xf32> {{
          %one = arith.constant 1 : index
          %e = tensor.empty() : tensor<64xf32>
          {_generic("r", "%x", "%e", "64", "%y = arith.addf %a, %a : f32")}
          %s = tensor.extract %r[%one] : tensor<64xf32>
          {steps}
          %f = tensor.empty() : tensor<64xf32>
          {_generic("last", "%t1", "%f", "64", "%y = arith.addf %a, %s : f32")}
          return %last : tensor<64xf32>
        }}""",
        _numbers(64),
        _numbers(64) + 1,
    )


def test_a_summed_dimension_that_both_operands_repeat() -> None:
    """Folding both broadcasts would lose how often the product is added."""
    _check(
        """func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
          %zero = arith.constant 0.0 : f32
          %e = tensor.empty() : tensor<2x4xf32>
          %l = linalg.broadcast ins(%a : tensor<2xf32>) outs(%e : tensor<2x4xf32>) dimensions = [1]
          %g = tensor.empty() : tensor<4x3xf32>
          %r = linalg.broadcast ins(%b : tensor<3xf32>) outs(%g : tensor<4x3xf32>) dimensions = [0]
          %h = tensor.empty() : tensor<2x3xf32>
          %f = linalg.fill ins(%zero : f32) outs(%h : tensor<2x3xf32>) -> tensor<2x3xf32>
          %m = linalg.matmul ins(%l, %r : tensor<2x4xf32>, tensor<4x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
          return %m : tensor<2x3xf32>
        }""",
        _numbers(2) + 1,
        _numbers(3) + 1,
    )


@pytest.mark.parametrize("size", [17, 24, 31, 45, 59, 700])
def test_sizes_are_divided_as_integers(size: int) -> None:
    """floor((31 - 3) / 14) is 2; (1 / 14) * 31 - 3 / 14 is less than 2 in floats."""
    _check(
        f"""func.func @main(%x: tensor<?xf32> {{hotdesk.shape = ["s0"]}}) -> tensor<?xf32> {{
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %three = arith.constant 3 : index
          %step = arith.constant 14 : index
          %d = tensor.dim %x, %zero : tensor<?xf32>
          %left = arith.subi %d, %three : index
          %steps = arith.floordivsi %left, %step : index
          %n = arith.addi %steps, %one : index
          %s = tensor.extract_slice %x[0][%n][14] : tensor<?xf32> to tensor<?xf32>
          %e = tensor.empty(%n) : tensor<?xf32>
          {_generic("r", "%s", "%e", "?", "%y = arith.addf %a, %a : f32")}
          return %r : tensor<?xf32>
        }}""",
        _numbers(size),
    )


@pytest.mark.parametrize(
    "results", [("%r", "%r"), ("%c", "%r", "%r"), ("%r", "%k", "%c", "%r"), ("%x", "%x"), ("%s", "%s")]
)
def test_a_value_is_returned_twice(results: tuple[str, ...]) -> None:
    types = {"%r": "2x3", "%c": "6", "%k": "?x3", "%x": "2x3", "%s": "2"}
    returned = ", ".join(f"tensor<{types[name]}xf32>" for name in results)
    _check(
        f"""func.func @main(%x: tensor<2x3xf32>) -> ({returned}) {{
          %e = tensor.empty() : tensor<2x3xf32>
          %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
              ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {{
          ^bb0(%a: f32, %o: f32):
            %y = arith.addf %a, %a : f32
            linalg.yield %y : f32
          }} -> tensor<2x3xf32>
          %c = tensor.collapse_shape %r [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
          %k = tensor.cast %r : tensor<2x3xf32> to tensor<?x3xf32>
          %s = tensor.extract_slice %r[0, 1][2, 1][1, 1] : tensor<2x3xf32> to tensor<2xf32>
          return {", ".join(results)} : {returned}
        }}""",
        _numbers(2, 3),
    )


def test_an_operand_whose_type_hides_its_size_is_not_overwritten() -> None:
    _check(
        f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
          %e = tensor.empty() : tensor<4xf32>
          {_generic("r", "%x", "%e", "4", "%y = arith.addf %a, %a : f32")}
          %k = tensor.cast %r : tensor<4xf32> to tensor<?xf32>
          %g = tensor.empty() : tensor<4xf32>
          %q = linalg.generic {{indexing_maps = [#p, #p], iterator_types = ["parallel"]}}
              ins(%k : tensor<?xf32>) outs(%g : tensor<4xf32>) {{
          ^bb0(%a: f32, %o: f32):
            %y = arith.mulf %a, %a : f32
            linalg.yield %y : f32
          }} -> tensor<4xf32>
          return %q : tensor<4xf32>
        }}""",
        _numbers(4),
    )


def test_a_fill_with_a_number_computed_from_a_size() -> None:
    """As a mean over a dynamic dimension has it."""
    _check(
        """func.func @main(%x: tensor<?xf32> {hotdesk.shape = ["s0"]}) -> tensor<3xf32> {
          %zero = arith.constant 0 : index
          %d = tensor.dim %x, %zero : tensor<?xf32>
          %i = arith.index_cast %d : index to i64
          %n = arith.sitofp %i : i64 to f32
          %e = tensor.empty() : tensor<3xf32>
          %f = linalg.fill ins(%n : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
          return %f : tensor<3xf32>
        }""",
        _numbers(5),
    )


def test_one_element_of_a_slice_gets_dimensions() -> None:
    _check(
        """func.func @main(%x: tensor<5xf32>) -> tensor<1x1xf32> {
          %s = tensor.extract_slice %x[3][1][1] : tensor<5xf32> to tensor<f32>
          %r = tensor.expand_shape %s [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
          return %r : tensor<1x1xf32>
        }""",
        _numbers(5),
    )


def test_a_slice_without_elements_is_reshaped() -> None:
    _check(
        """func.func @main(%x: tensor<?x?x5xi32> {hotdesk.shape = ["s1", "s0", "5"]}) -> (tensor<1x0x0xi32>, tensor<0x0xi32>) {
          %s = tensor.extract_slice %x[2, 1, 1][0, 0, 1][2, 1, 2] : tensor<?x?x5xi32> to tensor<0x0xi32>
          %r = tensor.expand_shape %s [[0, 1], [2]] output_shape [1, 0, 0] : tensor<0x0xi32> into tensor<1x0x0xi32>
          return %r, %s : tensor<1x0x0xi32>, tensor<0x0xi32>
        }""",
        _numbers(4, 3, 5, dtype="int32"),
    )


@pytest.mark.parametrize("order", [("%x", "%n"), ("%n", "%x"), ("%n", "%n")])
def test_concatenation_with_nothing(order: tuple[str, str]) -> None:
    """MLIR refuses an insertion at the end of a tensor even of nothing."""
    sizes = {"%x": 3, "%n": 0}
    types = ", ".join(f"tensor<{sizes[name]}x2xf32>" for name in order)
    rows = sum(sizes[name] for name in order)
    _check(
        f"""func.func @main(%x: tensor<3x2xf32>, %n: tensor<0x2xf32>) -> tensor<{rows}x2xf32> {{
          %c = tensor.concat dim(0) {order[0]}, {order[1]} : ({types}) -> tensor<{rows}x2xf32>
          return %c : tensor<{rows}x2xf32>
        }}""",
        _numbers(3, 2),
        _numbers(0, 2),
    )


def test_a_size_of_a_tensor_that_nothing_writes() -> None:
    _check(
        f"""func.func @main(%x: tensor<?xf32> {{hotdesk.shape = ["s0"]}}) -> tensor<?xf32> {{
          %zero = arith.constant 0 : index
          %d = tensor.dim %x, %zero : tensor<?xf32>
          %e = tensor.empty(%d) : tensor<?xf32>
          %w = tensor.cast %e : tensor<?xf32> to tensor<?xf32>
          %n = tensor.dim %w, %zero : tensor<?xf32>
          %g = tensor.empty(%n) : tensor<?xf32>
          {_generic("r", "%x", "%g", "?", "%y = arith.addf %a, %a : f32")}
          return %r : tensor<?xf32>
        }}""",
        _numbers(4),
    )


def test_a_region_reads_a_tensor_that_nothing_wrote() -> None:
    """What it reads is undefined; that it compiles and the defined part is right is not."""
    _check(
        """func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
          %one = arith.constant 1 : index
          %u = tensor.empty() : tensor<4xf32>
          %e = tensor.empty() : tensor<4xf32>
          %r:2 = linalg.generic {indexing_maps = [#p, #p, #p], iterator_types = ["parallel"]}
              ins(%x : tensor<4xf32>) outs(%e, %e : tensor<4xf32>, tensor<4xf32>) {
          ^bb0(%a: f32, %o: f32, %q: f32):
            %s = tensor.extract %u[%one] : tensor<4xf32>
            %y = arith.addf %a, %s : f32
            linalg.yield %y, %a : f32, f32
          } -> (tensor<4xf32>, tensor<4xf32>)
          return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
        }""",
        _numbers(4),
    )


def test_constants_are_prepared_without_argument_attributes() -> None:
    _check(
        """func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
          %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
          %zero = arith.constant 0.0 : f32
          %e = tensor.empty() : tensor<2x2xf32>
          %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
          %r = linalg.matmul ins(%w, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
          %q = linalg.matmul ins(%x, %r : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
          return %q : tensor<2x2xf32>
        }""",
        _numbers(2, 2),
    )


def test_symbols_may_have_names_that_sympy_knows() -> None:
    _check(
        """func.func @main(%x: tensor<?x?xf32> {hotdesk.shape = ["N", "E"]}) -> tensor<?xf32> {
          %r = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
          return %r : tensor<?xf32>
        }""",
        _numbers(2, 3),
    )


def test_sizes_that_mlir_writes_as_affine_maps() -> None:
    """Its fold of the size of a padded tensor is one."""
    _check(
        """func.func @main(%x: tensor<?xi32> {hotdesk.shape = ["s0"]}) -> tensor<?xi32> {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : i32
          %p = tensor.pad %x low[1] high[0] {
          ^bb0(%i: index):
            tensor.yield %one : i32
          } : tensor<?xi32> to tensor<?xi32>
          %d = tensor.dim %p, %zero : tensor<?xi32>
          %e = tensor.empty(%d) : tensor<?xi32>
          %f = linalg.fill ins(%one : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
          %r = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel"]}
              ins(%p : tensor<?xi32>) outs(%f : tensor<?xi32>) {
          ^bb0(%a: i32, %o: i32):
            %y = arith.addi %a, %o : i32
            linalg.yield %y : i32
          } -> tensor<?xi32>
          return %r : tensor<?xi32>
        }""",
        _numbers(4, dtype="int32"),
    )


def test_the_largest_of_integers_that_are_almost_the_least() -> None:
    """A fill with the least i64 plus one is no neutral element, though as a float it is."""
    _check(
        """func.func @main(%x: tensor<1x1x2xi64>) -> tensor<1x1x1xi64> {
          %least = arith.constant -9223372036854775807 : i64
          %w = tensor.empty() : tensor<2xi64>
          %e = tensor.empty() : tensor<1x1x1xi64>
          %f = linalg.fill ins(%least : i64) outs(%e : tensor<1x1x1xi64>) -> tensor<1x1x1xi64>
          %r = linalg.pooling_ncw_max {strides = dense<1> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
              ins(%x, %w : tensor<1x1x2xi64>, tensor<2xi64>) outs(%f : tensor<1x1x1xi64>) -> tensor<1x1x1xi64>
          return %r : tensor<1x1x1xi64>
        }""",
        np.full((1, 1, 2), -(2**63), np.int64),
    )


def test_runs_of_one_program_with_other_sizes_in_between() -> None:
    text = f"""func.func @main(%x: tensor<?xf32> {{hotdesk.shape = ["s0"]}}) -> (tensor<?xf32>, tensor<?xf32>) {{
      %zero = arith.constant 0 : index
      %d = tensor.dim %x, %zero : tensor<?xf32>
      %e = tensor.empty(%d) : tensor<?xf32>
      {_generic("r", "%x", "%e", "?", "%y = arith.addf %a, %a : f32")}
      %n = arith.addi %d, %d : index
      %c = tensor.concat dim(0) %r, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %c, %r : tensor<?xf32>, tensor<?xf32>
    }}"""
    for name in PIPELINES:
        compiled = Compiled(_MAPS + text, PIPELINES[name])
        for size in (3, 100, 1, 0, 3):
            check(compiled, [_numbers(size)], name)


@pytest.mark.parametrize("init", ["%x", "%e"])
def test_an_op_that_reads_its_init_is_fused(init: str) -> None:
    """MLIR would write and read one element again and again where the second op reads one element of the first's result."""
    _check(
        f"""#first = affine_map<(d0, d1) -> (0, 0)>
        func.func @main(%x: tensor<1x2xi64>) -> tensor<1x2xi64> {{
          %e = tensor.empty() : tensor<1x2xi64>
          %p = linalg.generic {{indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel"]}}
              ins(%x : tensor<1x2xi64>) outs(%x : tensor<1x2xi64>) {{
          ^bb0(%a: i64, %o: i64):
            %y = arith.muli %a, %o : i64
            linalg.yield %y : i64
          }} -> tensor<1x2xi64>
          %c = linalg.generic {{indexing_maps = [#first, #id], iterator_types = ["parallel", "parallel"]}}
              ins(%p : tensor<1x2xi64>) outs({init} : tensor<1x2xi64>) {{
          ^bb0(%a: i64, %o: i64):
            %y = arith.addi %a, %a : i64
            linalg.yield %y : i64
          }} -> tensor<1x2xi64>
          return %c : tensor<1x2xi64>
        }}""",
        np.array([[2, 4]]),
    )


@pytest.mark.parametrize("source", ["%whole", "%other"])
def test_a_part_of_memory_without_contents_is_written_where_it_is(source: str) -> None:
    """An insertion into a slice of what has no contents went to new memory, and what inserted it took it to be in place."""
    _check(
        f"""func.func @main(%x: tensor<3xf32>) -> tensor<5xf32> {{
          %other = tensor.empty() : tensor<5xf32>
          %whole = tensor.empty() : tensor<5xf32>
          %s = tensor.extract_slice {source}[1] [4] [1] : tensor<5xf32> to tensor<4xf32>
          %i = tensor.insert_slice %x into %s[0] [3] [1] : tensor<3xf32> into tensor<4xf32>
          %j = tensor.insert_slice %i into %whole[1] [4] [1] : tensor<4xf32> into tensor<5xf32>
          return %j : tensor<5xf32>
        }}""",
        _numbers(3),
    )


def test_insertions_of_insertions_into_memory_without_contents() -> None:
    _check(
        """func.func @main(%x: tensor<3xf32> {hotdesk.donated}) -> tensor<?xf32> {
          %zero = arith.constant 0 : index
          %four = arith.constant 4 : index
          %five = arith.constant 5 : index
          %e = tensor.empty(%four) : tensor<?xf32>
          %i = tensor.insert_slice %x into %e[%zero] [3] [1] : tensor<3xf32> into tensor<?xf32>
          %j = tensor.insert_slice %i into %e[%zero] [%four] [1] : tensor<?xf32> into tensor<?xf32>
          %whole = tensor.empty(%five) : tensor<?xf32>
          %k = tensor.insert_slice %j into %whole[%zero] [%four] [1] : tensor<?xf32> into tensor<?xf32>
          return %k : tensor<?xf32>
        }""",
        _numbers(3),
    )
