"""What programs in MLIR say of arguments and their sizes: refused where nothing would read it, or not as it was meant."""

from __future__ import annotations

import re

import pytest

import hotdesk
from hotdesk.errors import InvalidIRError, OptionError

STRIDED = "memref<?xf32, strided<[?], offset: ?>>"


def program(argument: str = "", function: str = "", result: str = "", op: str = "", more: str = "") -> str:
    """Attributes of a tensor `%x`, of the function in line 3, its result and its op, and other arguments."""
    return f"""
    // a comment
    func.func @f(%x: tensor<?xf32> {{{argument}}}{more}) -> (tensor<?xf32> {{{result}}}) attributes {{{function}}} {{
      %0 = linalg.exp {{{op}}} ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }}"""


REFUSED = {
    "a size that no argument has": (
        program('hotdesk.shape = ["n"]', "hotdesk.bounds = {m = [1, 8]}"),
        "attribute 'hotdesk.bounds': expected ranges of sizes of arguments: 'n', got 'm' (-:3:5). [HD301]",
    ),
    "a size that is misspelled": (
        program('hotdesk.shape = ["batch"]', "hotdesk.bounds = {bacth = [1, 8]}"),
        "expected ranges of sizes of arguments: 'batch', got 'bacth' (-:3:5). Did you mean 'batch'? [HD301]",
    ),
    "a size that nobody named": (
        program("", "hotdesk.bounds = {n = [1, 8]}"),
        "expected ranges of sizes of arguments: 'dim 0 of %x', got 'n' (-:3:5). [HD301]",
    ),
    "a size where all are fixed": (
        (
            "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hotdesk.bounds = {n = [1]}} "
            "{ return %x : tensor<4xf32> }"
        ),
        "attribute 'hotdesk.bounds': expected none: all sizes are fixed, got 'n' (-:1:1). [HD301]",
    ),
    "a number that is donated": (
        program(more=", %a: f32 {hotdesk.donated}"),
        "attribute 'hotdesk.donated' of argument '%a': expected a tensor or a memref, got f32 (-:3:40). [HD301]",
    ),
    "what is not donated": (
        program("hotdesk.donated = false"),
        (
            "argument '%x': expected hotdesk.donated without a value, got hotdesk.donated = false (-:3:18). "
            "Leave it out where the argument is not donated. [HD301]"
        ),
    ),
    "memory with gaps that is donated": (
        f"func.func @f(%x: {STRIDED} {{hotdesk.donated}}) {{ return }}",
        f"attribute 'hotdesk.donated' of argument '%x': expected a tensor, or a memref that is contiguous, got {STRIDED}",
    ),
    "a rank that differs": (
        program('hotdesk.shape = ["n", "m"]'),
        """attribute 'hotdesk.shape': expected the sizes of a tensor<?xf32>, got ["n", "m"] (-:3:5). [HD301]""",
    ),
    "a rank that differs in a function that is called": (
        program().replace("@f", "private @g").replace("{}", '{hotdesk.shape = ["n", "m"]}', 1)
        + """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
          %0 = call @g(%x) : (tensor<?xf32>) -> tensor<?xf32>
          return %0 : tensor<?xf32>
        }""",
        """attribute 'hotdesk.shape': expected the sizes of a tensor<?xf32>, got ["n", "m"] (-:3:5). [HD301]""",
    ),
    "a name of a size that is fixed": (
        'func.func @f(%x: memref<4x?xf32> {hotdesk.shape = ["n", "m"]}) { return }',
        """attribute 'hotdesk.shape': expected the sizes of a memref<4x?xf32>, got ["n", "m"] (-:1:1). [HD301]""",
    ),
    "a name of a size that a cast fixes": (
        """func.func @f(%x: tensor<*xf32> {hotdesk.shape = ["n"]}) -> tensor<4xf32> {
          %y = tensor.cast %x : tensor<*xf32> to tensor<4xf32>
          return %y : tensor<4xf32>
        }""",
        """attribute 'hotdesk.shape': expected the sizes of a tensor<4xf32>, got ["n"] (-:1:1). [HD301]""",
    ),
    "the size of a number": (
        program(more=', %n: index {hotdesk.shape = ["n"]}'),
        "attribute 'hotdesk.shape' of argument '%n': expected a tensor or a memref, got index",
    ),
    "the sizes of a result": (
        program(result='hotdesk.shape = ["n"]'),
        "attributes of result 0: expected none: their sizes follow from those of the arguments, got hotdesk.shape (-:3:5).",
    ),
    "another name of an argument's": (
        program("hotdesk.donate"),
        (
            "attributes of argument '%x': expected hotdesk.shape or hotdesk.donated, got hotdesk.donate (-:3:18). "
            "Did you mean 'hotdesk.donated'? [HD301]"
        ),
    ),
    "another name of a function's": (
        program("", "hotdesk.bound = {n = [1]}"),
        (
            "attributes of a function: expected hotdesk.bounds or hotdesk.roll_back, got hotdesk.bound (-:3:5). "
            "Did you mean 'hotdesk.bounds'?"
        ),
    ),
    "a number that says whether calls are put back": (
        program("", "hotdesk.roll_back = 0 : i32"),
        "attribute 'hotdesk.roll_back': expected true or false, got 0 : i32 (-:3:5). [HD301]",
    ),
    "no value that says whether calls are put back": (
        program("", "hotdesk.roll_back"),
        "attribute 'hotdesk.roll_back': expected true or false, got unit (-:3:5). [HD301]",
    ),
    "what is put back, of an argument": (
        program("hotdesk.roll_back = false"),
        "attributes of argument '%x': expected hotdesk.shape or hotdesk.donated, got hotdesk.roll_back (-:3:18).",
    ),
    "what is put back, of an op": (
        program(op="hotdesk.roll_back = false"),
        "attributes of `linalg.exp`: expected none, got hotdesk.roll_back (-:4:12). [HD301]",
    ),
    "what is put back, of a function that is called": (
        program("", "hotdesk.roll_back = false").replace("@f", "private @g")
        + """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
          %0 = call @g(%x) : (tensor<?xf32>) -> tensor<?xf32>
          return %0 : tensor<?xf32>
        }""",
        "attribute 'hotdesk.roll_back': expected on a function that calls can run, got on @g, which others call (-:3:5).",
    ),
    "another name of an op's": (
        program(op="hotdesk.inplace"),
        "attributes of `linalg.exp`: expected none, got hotdesk.inplace (-:4:12). [HD301]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(InvalidIRError, match=re.escape(message)):
        hotdesk.compile(text)


def test_ranges_of_sizes_that_arguments_have() -> None:
    compiled = hotdesk.compile(
        program(
            'hotdesk.shape = ["2*n"]',
            'hotdesk.bounds = {n = [1, 8], "dim 0 of %y" = [2], "%k" = [0, 4]}',
            more=", %y: tensor<?xf32>, %k: index",
        )
    )
    assert compiled.memory({"dim 0 of %y": (2, 4)}).memory.outputs == 4 * 2 * 8


def test_numbers_are_not_donated() -> None:
    text = program(more=", %a: f32, %n: index")
    assert [spec.donated for spec in hotdesk.compile(text, donate=True).inputs] == [True, False, False]
    for name in ("a", "%n", 2):
        with pytest.raises(OptionError, match="expected a parameter with tensors in it, got"):
            hotdesk.compile(text, donate=name)
    with pytest.raises(OptionError, match="expected a parameter that is contiguous, got 'x'"):
        hotdesk.compile(f"func.func @f(%x: {STRIDED}) {{ return }}", donate="x")
