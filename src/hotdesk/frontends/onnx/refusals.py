"""Nodes without a lowering, and those that torch-mlir lowers to something else than ONNX says: both are refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeAlias

from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.onnx.elements import SIGNED
from hotdesk.frontends.onnx.reading import OnnxModel
from hotdesk.frontends.onnx.rewrites.control import is_counted, is_while
from hotdesk.frontends.onnx.rewrites.recurrent import LENGTHS, PEEPHOLES


class Unlowered(Exception):
    """A node has no lowering that is right. `op` is the name of its op, "" outside of ONNX's own domain."""

    def __init__(self, model: OnnxModel, number: int, expected: str, got: str) -> None:
        node = model.proto.graph.node[number]
        expected, got = model.reasons.get(number, (expected, got))
        self.op = str(node.op_type) if node.domain in ("", "ai.onnx") else ""
        self.refusal = UnsupportedOpError(model.nodes[number], expected=expected, got=got, where=model.where)
        super().__init__(str(self.refusal))


Values: TypeAlias = "Mapping[str, tuple[int, int, bool]]"
"""The element type, by ONNX's number, the rank, and whether a size is open, of values by name."""


def refuse_untrusted(model: OnnxModel) -> None:
    """Raises Unlowered for the first node whose lowering gives wrong results."""
    graph = model.proto.graph
    kinds = {each.name: each.type.tensor_type for each in (*graph.input, *graph.value_info, *graph.output)}
    values = {
        name: (int(kind.elem_type), len(kind.shape.dim), any(not dim.HasField("dim_value") for dim in kind.shape.dim))
        for name, kind in kinds.items()
    }
    arguments = {each.name for each in graph.input}
    true = {each.name for each in graph.initializer if _is_true(each)}
    values |= {each.name: (int(each.data_type), len(each.dims), False) for each in graph.initializer}
    for number, node in enumerate(graph.node):
        if any(_passes_condition_over(each, true) for each in _nested(node)):
            raise Unlowered(model, number, "a loop without stacked results, or of trips that are known", "another")
        is_plain = not model.is_rewritten or number in model.reasons
        if node.domain not in ("", "ai.onnx"):
            continue
        is_wrong = (UNTRUSTED | UNWRITTEN if is_plain else UNTRUSTED).get(node.op_type)
        by_argument = is_plain and node.op_type in NO_ARGUMENT and node.input[NO_ARGUMENT[node.op_type]] in arguments
        if by_argument or (is_wrong is not None and is_wrong(node, values)):
            raise Unlowered(model, number, "a lowering that does what ONNX says", "one of torch-mlir's that does not")


def _nested(node: Any) -> Iterator[Any]:
    """A node, and those in it."""
    yield node
    for each in node.attribute:
        for inner in each.g.node:
            yield from _nested(inner)


def _is_true(initializer: Any) -> bool:
    from onnx import TensorProto, numpy_helper

    return initializer.data_type == TensorProto.BOOL and bool(numpy_helper.to_array(initializer).all())


def _passes_condition_over(node: Any, true: Collection[str]) -> bool:
    """Whether a node is a loop with a condition that the lowering does not look at."""
    if node.op_type != "Loop" or node.domain not in ("", "ai.onnx") or is_while(node):
        return False
    return not is_counted(node) or (bool(node.input[1]) and node.input[1] not in true)


def _always(_node: Any, _values: Values) -> bool:
    return True


def _on_signed(node: Any, values: Values) -> bool:
    """Signed numbers may be shifted by a negative one."""
    return values[node.input[0]][0] in SIGNED


def _by_axis(node: Any, values: Values) -> bool:
    """Scales lie along the last axis, whichever is said."""
    return values[node.input[1]][1] > 0


def _with_weights(node: Any, _values: Values) -> bool:
    """What the mean is divided by leaves the weights out."""
    return len(node.input) > 2 and bool(node.input[2])


def _beyond_gates(node: Any, _values: Values) -> bool:
    """Lengths of sequences, peepholes, clipping and coupled gates are passed over."""
    given = [bool(each) for each in node.input] + [False] * 8
    attributes = {
        each.name for each in node.attribute if each.name == "clip" or (each.name == "input_forget" and each.i)
    }
    return given[LENGTHS] or given[PEEPHOLES] or bool(attributes)


def _set(name: str, value: bytes) -> Callable[[Any, Values], bool]:
    """Whether an attribute has a value, which the lowering passes over."""

    def is_set(node: Any, _values: Values) -> bool:
        return any(each.name == name and each.s == value for each in node.attribute)

    return is_set


def _of_open_size(node: Any, values: Values) -> bool:
    """Results are made as long as one element, or places looked for in an image of no size, where a size is open."""
    return any(values[each][2] for each in node.input if each in values)


def _around_open_sizes(node: Any, values: Values) -> bool:
    """Pads are computed of sizes that count as -1 where they are open, as are uneven ones of a greatest element."""
    attributes = {each.name: each for each in node.attribute}
    pads = list(attributes["pads"].ints) if "pads" in attributes else []
    is_uneven = node.op_type == "MaxPool" and pads[: len(pads) // 2] != pads[len(pads) // 2 :]
    is_same = "auto_pad" in attributes and attributes["auto_pad"].s.startswith(b"SAME")
    return (is_same or is_uneven) and _of_open_size(node, values)


def _of_opset_10(node: Any, _values: Values) -> bool:
    """A node of scales alone has other coordinates than later ones."""
    return len(node.input) == 2


def _with_own_functions(node: Any, _values: Values) -> bool:
    """Some other activation is computed than is named."""
    named = [each.strings for each in node.attribute if each.name == "activations"]
    return any([text.decode().lower() for text in each] != ["sigmoid", "tanh", "tanh"] for each in named)


def _with_places(node: Any, _values: Values) -> bool:
    """Places are counted in the plane of a channel, with uneven pads in that and the pads."""
    return len(node.output) > 1 and bool(node.output[1])


def _by_score(node: Any, _values: Values) -> bool:
    """Boxes that the threshold leaves out end the call."""
    return len(node.input) > 4 and bool(node.input[4])


UNTRUSTED: dict[str, Callable[[Any, Values], bool]] = {
    "BitShift": _on_signed,
    "DequantizeLinear": _by_axis,
    "GRU": _beyond_gates,
    "Gelu": _set("approximate", b"tanh"),
    "GridSample": _set("mode", b"nearest"),
    "LSTM": _beyond_gates,
    "LpNormalization": _always,
    "NonMaxSuppression": _by_score,
    "QLinearMatMul": _always,
    "RNN": _beyond_gates,
    "SoftmaxCrossEntropyLoss": _with_weights,
    "SpaceToDepth": _set("mode", b"CRD"),
}
"""Whether the lowering of a node is wrong, by the name of its op."""
UNWRITTEN: dict[str, Callable[[Any, Values], bool]] = {
    "AveragePool": _around_open_sizes,
    "GridSample": _of_open_size,
    "Hardmax": _always,
    "InstanceNormalization": _of_open_size,
    "LSTM": _with_own_functions,
    "MaxPool": lambda node, values: _with_places(node, values) or _around_open_sizes(node, values),
    "Resize": _of_opset_10,
    "Scan": _of_open_size,
    "Upsample": _set("mode", b"linear"),
}
"""The same for nodes that were not written with others, by ops that are right as part of what is written."""
NO_ARGUMENT: dict[str, int] = {"Expand": 1}
"""By op, the operand that may not be an argument of the model, where a node was not rewritten: its lowering wants to know it."""
