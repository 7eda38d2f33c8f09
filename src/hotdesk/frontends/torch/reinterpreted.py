"""Tensors seen as another element type of as many bits: torch-mlir has nothing for it, so it is put in when the rest is lowered.

view(%a, int32)     ->     linalg.generic ins(%a) outs(tensor.empty) { yield arith.bitcast }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch

from hotdesk._bindings import ir
from hotdesk.frontends.torch.cutting import CutSite
from hotdesk.ir.building import create, structured

_BITS = (torch.float32, torch.float64, torch.int32, torch.int64)


def is_reinterpretation(node: torch.fx.Node) -> bool:
    """Whether a node sees a tensor as another type, both of 32 or of 64 bits."""
    if node.target is not torch.ops.aten.view.dtype:
        return False
    types = [each.meta["val"].dtype for each in (node.all_input_nodes[0], node)]
    return all(each in _BITS for each in types) and types[0].itemsize == types[1].itemsize and types[0] != types[1]


@dataclass(frozen=True, slots=True)
class Reinterpreted:
    """What is put in for such a node."""

    inputs: tuple[torch.fx.Node, ...]

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        ((number, (kind, _)),) = site.results.items()
        empty = create("tensor.empty", site.dynamic_sizes(number), [kind], before=site.before).results[0]
        op, end = structured(site.inputs, [empty], site.before)
        element = cast(Any, kind).element_type
        end.operands[0] = create(
            "arith.bitcast", [op.regions[0].blocks[0].arguments[0]], [element], before=end
        ).results[0]
        return {number: op.results[0]}
