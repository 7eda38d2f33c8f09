"""What a rewrite of an ONNX node works on: the node, the tensors it reads, their types, and the graph that is being written."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from hotdesk.frontends.onnx.elements import FLOATS, I64, U8, is_narrow

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TypeProto

Array: TypeAlias = Any
"""An array of NumPy's."""


class NotRewritten(Exception):
    """A node that cannot be rewritten, and has no lowering as it is: the message says what was expected, and what came."""

    def __init__(self, expected: str, got: str, what: str | None = None) -> None:
        """`what` is said if it is no node."""
        super().__init__(f"expected {expected}, got {got}")
        self.expected, self.got, self.what = expected, got, what
        self.number = 0  # of the node of the model


class GraphWriter(ABC):
    """What rewrites ask of the graph that is being written.

    `first_opset` is the version of ONNX's ops that the model was in before it was brought to a newer one, which leaves some ops
    with operands of the old form.
    """

    first_opset: int

    @property
    @abstractmethod
    def opset(self) -> int:
        """The version of ONNX's ops that is written."""

    @abstractmethod
    def fresh(self) -> str:
        """A name that nothing has."""

    @abstractmethod
    def choose(self) -> bool:
        """Which of two ways a node is written where only one can be, such as an `If` whose branches differ in rank: the first, or
        else the other. When the rest of the graph does not go together with it, the graph is written anew with the other one."""

    @abstractmethod
    def value(self, given: Any, like: OnnxTensor | None = None) -> OnnxTensor:
        """A value as it is, or a number or array as a constant: of the type of another one, or else of NumPy's."""

    @abstractmethod
    def op(
        self, kind: str, *inputs: Any, domain: str = "", outputs: int = 1, stays: bool = False, **attributes: Any
    ) -> Any:
        """The result of an op, or a tuple of several. Lists of integers are constants, None is an input left out.

        A node that `stays` is not rewritten.
        """

    @abstractmethod
    def types_of(self, op: OnnxNode) -> list[TypeProto | None]:
        """The types of the results of a node, as ONNX infers them, and as the model declares what is open then."""

    @abstractmethod
    def inline(self, graph: GraphProto, arguments: Sequence[Held], scope: Mapping[str, Held]) -> list[Held]:
        """The results of a graph that a node has as an attribute, written in the place of the node."""

    @abstractmethod
    def body(self, graph: GraphProto, arguments: Sequence[OnnxTensor], scope: Mapping[str, Held]) -> Any:
        """A graph that a node has as an attribute, written anew as one; its inputs are `arguments`."""

    @abstractmethod
    def written_graph(self, name: str, arguments: Sequence[OnnxTensor], make: Callable[[], Sequence[Held]]) -> Any:
        """A graph that a node may have as an attribute: of what `make` writes, with `arguments` as inputs, those that `make`
        adds to them too, and what it returns as results."""

    @abstractmethod
    def kept(self, op: OnnxNode, graphs: Mapping[str, GraphProto] | None = None) -> list[Held]:
        """The node as it is, on what its inputs stand for now. `graphs` take the place of some that it has as attributes."""

    def floats(self, given: Any) -> OnnxTensor:
        """A constant of 32-bit floats."""
        return self.value(np.asarray(given, np.float32))

    def concat(self, values: Sequence[OnnxTensor], axis: int) -> OnnxTensor:
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=axis)

    def arange(self, count: int, like: int = I64) -> OnnxTensor:
        """0, 1, … of an element type."""
        from onnx import helper

        return self.value(np.arange(count).astype(helper.tensor_dtype_to_np_dtype(like)))

    def checked(self, value: OnnxTensor, holds: OnnxTensor) -> OnnxTensor:
        """A value of integers, which a call may use only if a scalar holds: else it ends with an error.

        A check is an index into a table of two elements, outside of it unless the condition holds: one into a single element
        is taken to be 0.
        """
        if holds.constant is not None:
            if not bool(holds.constant.all()):
                raise NotRewritten("sizes as the model declares them", "a constant that says others")
            return value
        zero = self.value(np.arange(2)).gather(holds.where(np.int64(0), self.value(np.int64(2))))
        return value + zero.cast(value.element)


@dataclass(frozen=True, slots=True, eq=False)
class OnnxTensor:
    """A tensor of the graph that is written. `constant` is what it holds, if that is known; `type` is ONNX's."""

    graph: GraphWriter = field(repr=False)
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


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """A node that is about to be written: what it reads, and what the model says of the types of its results."""

    graph: GraphWriter
    node: NodeProto
    inputs: tuple[Held, ...]
    declared: tuple[TypeProto | None, ...]
    scope: Mapping[str, Held]

    @property
    def x(self) -> OnnxTensor:
        """The first input, a tensor."""
        return self.tensor(0)

    def tensor(self, number: int) -> OnnxTensor:
        value = self.inputs[number]
        if not isinstance(value, OnnxTensor):
            raise NotRewritten("a tensor", "a sequence or nothing")
        return value

    def optional(self, number: int) -> OnnxTensor | None:
        """An input that may be left out."""
        return self.tensor(number) if number < len(self.inputs) and self.inputs[number] is not None else None

    def constant(self, number: int) -> Array | None:
        """What an input holds; None if it is left out or not known."""
        value = self.optional(number)
        return None if value is None else value.constant

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute: a number, a text, a list, a graph or an array."""
        from onnx import TensorProto, helper, numpy_helper

        found = next((each for each in self.node.attribute if each.name == name), None)
        if found is None:
            return default
        value: Any = helper.get_attribute_value(found)
        if isinstance(value, TensorProto):
            return numpy_helper.to_array(value)
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, list) and value and isinstance(value[0], bytes):
            return [cast(bytes, each).decode() for each in cast("list[Any]", value)]
        return value

    def result(self, number: int = 0) -> TypeProto | None:
        """The type of a result, as far as it is inferred or declared."""
        return self.graph.types_of(self)[number]

    def result_sizes(self, number: int = 0) -> tuple[int, ...]:
        """The sizes of a result as numbers. Raises NotRewritten if they are not all known."""
        found = self.result(number)
        if found is None:
            raise NotRewritten("a result of known sizes", "no type that ONNX infers")
        return OnnxTensor(self.graph, self.node.output[number], found).sizes

    def like(self, *inputs: Any, **changed: Any) -> Any:
        """The same op on other inputs, its attributes changed; None takes one away."""
        return self.graph.op(self.node.op_type, *inputs, **self._form(changed))

    def as_is(self, *inputs: Any, **changed: Any) -> Any:
        """As `like`, but as a node that stays: no rewrite takes it up."""
        return self.graph.op(self.node.op_type, *inputs, stays=True, **self._form(changed))

    def _form(self, changed: Mapping[str, Any]) -> dict[str, Any]:
        """The domain, the number of results, and the attributes of the op."""
        attributes = {each.name: self._given(each) for each in self.node.attribute} | dict(changed)
        kept = {name: value for name, value in attributes.items() if value is not None}
        return {"domain": self.node.domain, "outputs": len(self.node.output), **kept}

    @staticmethod
    def _given(attribute: Any) -> Any:
        from onnx import helper

        return helper.get_attribute_value(attribute)


Rewrite: TypeAlias = "Callable[[OnnxNode], Held | Sequence[Held]]"
"""Makes the results of a node; `NotImplemented` leaves it as it is."""
Rewrites: TypeAlias = "Mapping[str, Rewrite]"
"""By op; one of another domain has that in front, and a dot."""


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
    made.tensor_type.elem_type = U8
    return made


def _zero(sizes: Sequence[int]) -> int:
    return int(0 in sizes)
