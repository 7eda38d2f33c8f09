"""Nodes of ONNX whose inputs are constants, computed as ONNX's reference evaluator does."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hotdesk.frontends.onnx.rewrites.nodes import Array

if TYPE_CHECKING:
    from onnx import NodeProto

LARGEST_FOLDED = 1 << 14
"""Elements of a constant that is folded; larger ones are computed when the program is prepared."""
_RANDOM = (
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
)
_NOT_NUMBERS = ("SequenceEmpty", "SequenceConstruct", "Optional")
NEVER_FOLDED = (*_RANDOM, *_NOT_NUMBERS)
"""Ops that are no constant whatever they read: random numbers, and what is no tensor."""


def evaluated(node: NodeProto, inputs: Sequence[Array | None], opsets: Mapping[str, int]) -> list[Array] | None:
    """What ONNX's reference evaluator makes of constants; None if it cannot, or says something other than numbers."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    names = [name for name in dict.fromkeys(node.input) if name]
    graph = helper.make_graph(
        [node],
        "constants",
        [helper.make_empty_tensor_value_info(name) for name in names],
        [helper.make_empty_tensor_value_info(name) for name in node.output if name],
    )
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    given = {name: array for name, array in zip(node.input, inputs, strict=True) if name}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Any = ReferenceEvaluator(helper.make_model(graph, opset_imports=imports)).run(None, given)
    except Exception:  # whatever the evaluator raises: the node is computed at run time instead
        return None
    arrays: list[Any] = [np.asarray(each) for each in found]
    if len(arrays) != len(node.output) or any(each.dtype.kind in "OUS" for each in arrays):
        return None
    return arrays
