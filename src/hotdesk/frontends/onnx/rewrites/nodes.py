"""A node of an ONNX graph that is about to be written, as rewrites see it."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hotdesk.frontends.onnx.rewrites.values import Array, Held, NotRewritten, OnnxTensor

if TYPE_CHECKING:
    from onnx import NodeProto, TypeProto

    from hotdesk.frontends.onnx.rewrites.graph import Graph


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """A node that is about to be written: what it reads, and what the model says of the types of its results."""

    graph: Graph
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
