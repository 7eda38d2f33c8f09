"""What is returned is not written over a donated argument that is overwritten unread, where that spares a copy."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from torch_mlir import ir

from hotdesk.analysis.in_place import premise_trials, search
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import defined_functions

_EXP = "linalg.exp ins(%x : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>"
_ADDED = """linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : tensor<8xf32>) {
  ^bb0(%o: f32):
    %s = arith.addf %o, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>"""


def _analysed(made: str, returned: str) -> tuple[list[bool], int]:
    """Whether each op writes in place, and how many analyses that took."""
    text = f"""func.func @main(%x: tensor<8xf32>, %a: tensor<8xf32> {{hotdesk.donated}}) -> tensor<8xf32> {{
      %e = tensor.empty() : tensor<8xf32>
      %y = {made}
      %z = linalg.abs ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      return {returned} : tensor<8xf32>
    }}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        (function,) = defined_functions(module)
        with patch.object(premise_trials, "analyse_again", wraps=premise_trials.analyse_again) as again:
            analysis = search.search_in_place(read_function(function), apart=True)
    return [decision.in_place for decision in analysis.decisions], 1 + again.call_count


@pytest.mark.parametrize(
    ("made", "returned", "in_place", "analyses"),
    [
        (_EXP, "%y", [False, True], 2),
        (_EXP, "%z", [True, True], 1),  # the argument's memory costs nothing
        (_ADDED, "%y", [True, True], 1),  # its contents would have to be copied
        (_EXP, "%a", [False, True], 1),  # the argument itself
    ],
    ids=["returned", "read", "contents", "argument"],
)
def test_results_apart(made: str, returned: str, in_place: list[bool], analyses: int) -> None:
    assert _analysed(made, returned) == (in_place, analyses)
