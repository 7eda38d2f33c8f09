"""What names of an ONNX graph that is being written stand for: tensors, sequences of these, and what is known of their types."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hotdesk.frontends.onnx.elements import FLOATS, is_narrow

if TYPE_CHECKING:
    from onnx import TypeProto

    from hotdesk.frontends.onnx.rewrites.graph import Graph

Array: TypeAlias = Any
"""An array of NumPy's."""
_CODES = 2  # UINT8


class NotRewritten(Exception):
    """A node that cannot be rewritten, and has no lowering as it is: the message says what was expected, and what came."""

    def __init__(self, expected: str, got: str, what: str | None = None) -> None:
        """`what` is said if it is no node."""
        super().__init__(f"expected {expected}, got {got}")
        self.expected, self.got, self.what = expected, got, what
        self.number = 0  # of the node of the model


@dataclass(frozen=True, slots=True, eq=False)
class OnnxTensor:
    """A tensor of the graph that is written. `constant` is what it holds, if that is known; `type` is ONNX's."""

    graph: Graph = field(repr=False)
    name: str
    type: TypeProto
    constant: Array | None = None

    @property
    def element(self) -> int:
        """The element type, by ONNX's number."""
        return int(self.type.tensor_type.elem_type)

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes; None where one is not a number. Raises NotRewritten if the rank is not known."""
        if not self.type.tensor_type.HasField("shape"):
            raise NotRewritten("a tensor of known rank", f"no rank that ONNX infers for '{self.name}'")
        return tuple(
            int(dim.dim_value) if dim.HasField("dim_value") else None for dim in self.type.tensor_type.shape.dim
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes as numbers. Raises NotRewritten if one is open."""
        if None in self.shape:
            raise NotRewritten("sizes that are numbers", f"an open one for '{self.name}'")
        return cast("tuple[int, ...]", self.shape)

    @property
    def rank(self) -> int:
        return len(self.shape)

    def cast(self, element: int) -> OnnxTensor:
        return self if element == self.element else self.graph.op("Cast", self, to=element)

    def reshape(self, *sizes: int) -> OnnxTensor:
        """As ONNX's `Reshape` with `allowzero`: a size may be -1."""
        return self if self.shape == sizes else self.graph.op("Reshape", self, list(sizes), allowzero=_zero(sizes))

    def transpose(self, *order: int) -> OnnxTensor:
        return self if order == tuple(range(len(order))) else self.graph.op("Transpose", self, perm=list(order))

    def move(self, source: int, target: int) -> OnnxTensor:
        """One dimension moved to another place."""
        order = [each for each in range(self.rank) if each != source % self.rank]
        order.insert(target % self.rank, source % self.rank)
        return self.transpose(*order)

    def unsqueeze(self, *axes: int) -> OnnxTensor:
        return self.graph.op("Unsqueeze", self, list(axes)) if axes else self

    def squeeze(self, *axes: int) -> OnnxTensor:
        return self.graph.op("Squeeze", self, list(axes)) if axes else self

    def expand(self, *sizes: int) -> OnnxTensor:
        return self if self.shape == sizes else self.graph.op("Expand", self, list(sizes))

    def gather(self, indices: OnnxTensor | Sequence[int] | int, axis: int = 0) -> OnnxTensor:
        return self.graph.op("Gather", self, indices, axis=axis)

    def slice(self, axis: int, start: int, end: int | None = None, step: int = 1) -> OnnxTensor:
        far = (1 << 31) - 1 if step > 0 else -(1 << 31)
        return self.graph.op("Slice", self, [start], [far if end is None else end], [axis], [step])

    def reduce(self, kind: str, axes: Sequence[int], keepdims: bool = False) -> OnnxTensor:
        """`kind` is such as "Sum"."""
        if not axes:
            return self
        return self.graph.op(f"Reduce{kind}", self, list(axes), keepdims=int(keepdims))

    def where(self, yes: Any, no: Any) -> OnnxTensor:
        """`yes` where this holds, else `no`; numbers take the type of the other one."""
        like = yes if isinstance(yes, OnnxTensor) else no
        return self.graph.op("Where", self, self.graph.value(yes, like), self.graph.value(no, like))

    def clip(self, low: Any, high: Any) -> OnnxTensor:
        return self.graph.op("Min", self.graph.op("Max", self, self._like(low)), self._like(high))

    def _like(self, other: Any) -> OnnxTensor:
        return self.graph.value(other, self)

    def __add__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Add", self, self._like(other))

    def __radd__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Add", self._like(other), self)

    def __sub__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Sub", self, self._like(other))

    def __rsub__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Sub", self._like(other), self)

    def __mul__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Mul", self, self._like(other))

    def __rmul__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Mul", self._like(other), self)

    def __truediv__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Div", self, self._like(other))

    def __mod__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Mod", self, self._like(other))

    def __matmul__(self, other: OnnxTensor) -> OnnxTensor:
        return self.graph.op("MatMul", self, other)

    def __neg__(self) -> OnnxTensor:
        return self.graph.op("Neg", self)

    def __lt__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Less", self, self._like(other))

    def __gt__(self, other: Any) -> OnnxTensor:
        return self.graph.op("Greater", self, self._like(other))

    def __le__(self, other: Any) -> OnnxTensor:
        return self.graph.op("LessOrEqual", self, self._like(other))

    def __ge__(self, other: Any) -> OnnxTensor:
        return self.graph.op("GreaterOrEqual", self, self._like(other))

    def equals(self, other: Any) -> OnnxTensor:
        return self.graph.op("Equal", self, self._like(other))

    def __and__(self, other: OnnxTensor) -> OnnxTensor:
        return self.graph.op("And", self, other)

    def __or__(self, other: OnnxTensor) -> OnnxTensor:
        return self.graph.op("Or", self, other)

    def __invert__(self) -> OnnxTensor:
        return self.graph.op("Not", self)


@dataclass(frozen=True, slots=True)
class Items:
    """A sequence whose tensors are known one by one; an optional is one of at most one."""

    values: tuple[OnnxTensor, ...]


Held: TypeAlias = "OnnxTensor | Items | None"
"""What a name stands for: a tensor, a sequence, or nothing."""


def tensors_of(held: Held) -> tuple[OnnxTensor, ...]:
    if held is None:
        raise NotRewritten("a tensor as a result", "nothing", "the model")
    return held.values if isinstance(held, Items) else (held,)


def tensor_of(held: Held) -> OnnxTensor:
    if not isinstance(held, OnnxTensor):
        raise NotRewritten("a tensor", "nothing" if held is None else "a sequence")
    return held


def typed(array: Any, element: int) -> TypeProto:
    from onnx import helper

    return helper.make_tensor_type_proto(element, array.shape)


def unknown_type() -> TypeProto:
    from onnx import TypeProto

    return TypeProto()


def element_count(kind: TypeProto | None) -> int | None:
    """The number of elements of a type; None if it is not known."""
    if kind is None or kind.WhichOneof("value") != "tensor_type" or not kind.tensor_type.HasField("shape"):
        return None
    if not all(dim.HasField("dim_value") for dim in kind.tensor_type.shape.dim):
        return None
    return prod(dim.dim_value for dim in kind.tensor_type.shape.dim)


def merged(inferred: TypeProto | None, declared: TypeProto | None) -> TypeProto | None:
    """A type with what another one knows beyond it."""
    if inferred is None or inferred.WhichOneof("value") is None:
        has_elements = declared is not None and (not declared.HasField("tensor_type") or declared.tensor_type.elem_type)
        return declared if has_elements else None
    if declared is None or not inferred.HasField("tensor_type") or not declared.HasField("tensor_type"):
        return inferred
    known, other = inferred.tensor_type, declared.tensor_type
    if not other.HasField("shape") or (known.HasField("shape") and len(known.shape.dim) != len(other.shape.dim)):
        return inferred
    made = type(inferred)()
    made.CopyFrom(inferred)
    if not known.HasField("shape"):
        made.tensor_type.shape.CopyFrom(other.shape)
        return made
    for dim, more in zip(made.tensor_type.shape.dim, other.shape.dim, strict=True):
        if not dim.HasField("dim_value") and (more.HasField("dim_value") or not dim.dim_param):
            dim.CopyFrom(more)
    return made


def stored(kind: TypeProto) -> TypeProto:
    """The type in which the values of a type are kept: narrow ones as codes of eight bits."""
    if kind.WhichOneof("value") != "tensor_type" or not is_narrow(kind.tensor_type.elem_type):
        return kind
    made = type(kind)()
    made.CopyFrom(kind)
    made.tensor_type.elem_type = _CODES
    return made


def _zero(sizes: Sequence[int]) -> int:
    return int(0 in sizes)
