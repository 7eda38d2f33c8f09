"""Kernels of `hotdesk` ops are made of what the ops say; what does not go together is refused."""

from __future__ import annotations

import pytest

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import main_function, top_level_ops
from hotdesk.passes.lower.convolution.dispatch import workspace_bytes
from hotdesk.passes.lower.named import convolution_spec
from hotdesk.passes.lower.views import MemrefResolver
from hotdesk.program.symbolic import SymbolicSizes

SPREAD = ", spread = array<i64: 8, 32, 1>"


def spec_of(workspace: int, spread: str) -> int:
    """The bytes of the workspace that a kernel uses."""
    scratch = f"memref<{workspace}xi8>"
    text = f"""
      func.func @main(%x: memref<1x6x5x4xf32>, %w: memref<8x6x2x2xf32>, %y: memref<1x8x10x8xf32>, %s: {scratch}) {{
        "hotdesk.conv"(%x, %w, %y, %s) {{
          accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64, input_dilations = array<i64: 2, 2>,
          pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>{spread}
        }} : (memref<1x6x5x4xf32>, memref<8x6x2x2xf32>, memref<1x8x10x8xf32>, {scratch}) -> ()
        return
      }}
    """
    with make_context():
        module = ir.Module.parse(text)
        function = main_function(module)
        places = MemrefResolver(function, SymbolicSizes(function))
        conv = top_level_ops(function)[0]
        return workspace_bytes(convolution_spec(conv, [places.of(value) for value in conv.operands]))


def test_a_workspace_holds_what_spread_says() -> None:
    assert spec_of(1216, SPREAD) == 8 * (6 + 32) * 4 == 1216
    assert spec_of(1216, SPREAD.replace(", 1>", ", 0>")) == 8 * 32 * 4


@pytest.mark.parametrize(
    ("workspace", "spread", "message"),
    [
        (1215, SPREAD, "expected 1216 bytes or more, got 1215 bytes"),
        (1216, "", "expected none without `spread`"),
        (1216, SPREAD.replace(", 1>", ">"), "`spread` of a convolution: .*, got 2 numbers"),
    ],
)
def test_a_workspace_that_does_not_go_with_it_is_refused(workspace: int, spread: str, message: str) -> None:
    with pytest.raises(LoweringError, match=message):
        spec_of(workspace, spread)
