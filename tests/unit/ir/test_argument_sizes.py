"""What a function says of the sizes of its arguments: expressions of names and whole numbers, or a diagnostic."""

from __future__ import annotations

from typing import Any

import pytest

from hotdesk.errors import InvalidIRError
from hotdesk.ir.argument_sizes import argument_shapes
from hotdesk.ir.context import entered
from hotdesk.ir.walking import defined_functions
from hotdesk.sizes.size import Size
from tests.unit.parsing import parse


def _stated(attribute: str, kind: str = "tensor<?x4xf32>") -> tuple[Size, ...]:
    module = parse(f"func.func @main(%a: {kind} {{hotdesk.shape = {attribute}}}) {{ return }}")
    with entered(module.operation):
        return argument_shapes(defined_functions(module)[0])[0]


@pytest.mark.parametrize("first", ["7", "s0", "floor(s0/2) + 1", "Max(4, s0 - 1)", "lambda1*s0**2", "Mod(s0, 3)", "E"])
@pytest.mark.parametrize("kind", ["tensor<?x4xf32>", "memref<?x4xf32>"])
def test_sizes(first: str, kind: str) -> None:
    size, second = _stated(f'["{first}", "4"]', kind)
    assert (str(size), second) == (first, 4)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("%arg2", {"%arg2"}),
        ("2*dim 0 of %arg0 + s0", {"dim 0 of %arg0", "s0"}),
        ("%arg1*dim 10 of %arg2", {"%arg1", "dim 10 of %arg2"}),
        ("Max(4, %arg1)", {"%arg1"}),
        ("s0 % s1", {"s0", "s1"}),
    ],
)
def test_sizes_named_after_arguments(text: str, names: set[str]) -> None:
    size: Any = _stated(f'["{text}", "4"]')[0]
    assert {str(symbol) for symbol in size.free_symbols} == names
    assert _stated(f'["{size}", "4"]')[0] == size


def test_an_argument_after_whose_dims_sizes_are_named_has_them() -> None:
    text = (
        'func.func @main(%arg0: tensor<?x4xf32>, %arg1: tensor<?xf32> {hotdesk.shape = ["2*dim 0 of %arg0"]}, '
        "%arg2: tensor<?xf32>) { return }"
    )
    module = parse(text)
    with entered(module.operation):
        found = argument_shapes(defined_functions(module)[0])
    assert {number: tuple(map(str, shape)) for number, shape in found.items()} == {
        0: ("dim 0 of %arg0", "4"),
        1: ("2*dim 0 of %arg0",),
    }


@pytest.mark.parametrize(
    "attribute",
    [
        *("3", '"s0"', "[@s0]", "[7, 4]", '["?", "4"]', '["", "4"]', '["s0 +", "4"]', '["-1", "4"]', '["5/2", "4"]'),
        *(
            '["2.5", "4"]',
            '["True", "4"]',
            '["floor()", "4"]',
            '["print(s0)", "4"]',
            '["s0.args", "4"]',
            '["[s0]", "4"]',
        ),
    ],
)
def test_no_sizes(attribute: str) -> None:
    with pytest.raises(InvalidIRError, match="a size in quotes for each dim"):
        _stated(attribute)


@pytest.mark.parametrize("attribute", ["[]", '["s0"]', '["s0", "4", "1"]', '["s0", "5"]'])
def test_sizes_of_another_type(attribute: str) -> None:
    with pytest.raises(InvalidIRError, match=r"the sizes of a tensor<\?x4xf32>"):
        _stated(attribute)
