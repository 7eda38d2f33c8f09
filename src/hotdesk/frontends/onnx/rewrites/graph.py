"""ONNX graphs written anew, node by node: constants are folded, and nodes replaced by others, where a rewrite says so.

    y = ReduceLogSum(x, axes)      ->      s = ReduceSum(x, axes); y = Log(s)

1. A node whose inputs are constants becomes a constant, as ONNX's reference evaluator computes it. So does one that takes sizes
   that are known out of those of a value, of which others are open.
2. A node that has a rewrite (`Rewrites`) is replaced by what that makes, whose nodes go the same way.
3. An op that shall be expanded is replaced by the function with which ONNX defines it.
4. Any other node stays. Types are inferred node by node, and what the model declares fills in what inference leaves open.

What a node reads is known by its type, and by its value where that is a constant, so rewrites can ask for sizes and axes.
"""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hotdesk.frontends.onnx.elements import NARROW, is_narrow
from hotdesk.frontends.onnx.rewrites.folding import LARGEST_FOLDED, NEVER_FOLDED, evaluated
from hotdesk.frontends.onnx.rewrites.nodes import (
    GraphWriter,
    Held,
    Items,
    NotRewritten,
    OnnxNode,
    OnnxTensor,
    Rewrite,
    Rewrites,
    element_count,
    merged,
    stored,
    tensor_of,
    tensors_of,
    typed,
    unknown_type,
)

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TypeProto

_ELEMENTWISE = ("Abs", "Cast", "CastLike", "Exp", "Identity", "Log", "Neg", "Relu", "Sqrt")
_AXES_AS_INPUT = {
    "ReduceSum": 13,
    "Squeeze": 13,
    "Unsqueeze": 13,
    **{f"Reduce{each}": 18 for each in ("Max", "Min", "Prod", "Mean", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")},
}
"""The opset from which on the axes of an op are an input."""
_MOVES = (
    *("Concat", "Constant", "Expand", "Flatten", "Gather", "Identity", "Reshape"),
    *("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
)
"""Ops that move elements, whatever those are."""
_MOVES_OF_SIZES = ("Cast", "Concat", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Unsqueeze")
"""Ops of one result that have sizes in it as they were."""


class Graph(GraphWriter):
    """A graph that is being written.

    Args:
        model: whose nodes are written anew; it stays as it is.
        types: by name, what is known of the types of its values.
        rewrites: see `Rewrites`.
        expanded: ops of ONNX's own that are replaced by the functions that define them.
        first_opset: the version of ONNX's ops that the model was in before it was brought to a newer one, which leaves some ops
            with operands of the old form.
        choices: what `choose` answers, in order; those beyond are True.
        chosen: takes up what it has answered.
    """

    def __init__(
        self,
        model: ModelProto,
        types: Mapping[str, TypeProto],
        rewrites: Rewrites,
        expanded: Collection[str],
        first_opset: int,
        choices: Sequence[bool],
        chosen: list[bool],
    ) -> None:
        self.first_opset = first_opset
        self._choices, self._chosen = choices, chosen
        self.opsets = {"" if each.domain == "ai.onnx" else each.domain: each.version for each in model.opset_import}
        self.opsets.setdefault("", 18)
        self.nodes: list[NodeProto] = []
        self.origins: list[int] = []
        """For each node that is written, the number of the model's node that it is of."""
        self.current = 0
        self.reasons: dict[int, tuple[str, str]] = {}
        """Why a node that is written was not written with others, by its number: what was expected, and what came."""
        self._model, self._types, self._rewrites = model, dict(types), rewrites
        self._expanded = frozenset(expanded)
        self._count = 0
        self._constants: dict[str, Any] = {}
        self._partial: dict[str, tuple[Any, Any]] = {}
        """By name, what integers are, and which of them are known: 1, or 0 where it is not."""
        self._known: dict[str, TypeProto] = {}

    @property
    def opset(self) -> int:
        return self.opsets[""]

    # What rewrites use.

    def value(self, given: Any, like: OnnxTensor | None = None) -> OnnxTensor:
        from onnx import helper

        if isinstance(given, OnnxTensor):
            return given
        array: Any = np.asarray(given)
        if like is not None and array.dtype != (kind := helper.tensor_dtype_to_np_dtype(like.element)):
            array = array.astype(kind)
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        return OnnxTensor(self, self.fresh(), helper.make_tensor_type_proto(element, array.shape), array)

    def op(
        self, kind: str, *inputs: Any, domain: str = "", outputs: int = 1, stays: bool = False, **attributes: Any
    ) -> Any:
        from onnx import helper

        values: list[Held] = [
            each if each is None or isinstance(each, (OnnxTensor, Items)) else self.value(_integers(each))
            for each in inputs
        ]
        while values and values[-1] is None:
            values.pop()
        values, attributes = self._in_the_form_of_its_opset(kind, values, attributes)
        names = ["" if each is None else each.name if isinstance(each, OnnxTensor) else self.fresh() for each in values]
        node = helper.make_node(kind, names, [self.fresh() for _ in range(outputs)], domain=domain, **attributes)
        op = OnnxNode(self, node, tuple(values), (None,) * outputs, {})
        made = self.kept(op) if stays else self._written(op)
        return made[0] if outputs == 1 else tuple(made)

    def fresh(self) -> str:
        self._count += 1
        return f"hotdesk:{self._count}"

    def choose(self) -> bool:
        number = len(self._chosen)
        self._chosen.append(self._choices[number] if number < len(self._choices) else True)
        return self._chosen[-1]

    def _in_the_form_of_its_opset(
        self, kind: str, values: list[Held], attributes: dict[str, Any]
    ) -> tuple[list[Held], dict[str, Any]]:
        """Axes as an attribute in opsets that have them there."""
        since = _AXES_AS_INPUT.get(kind)
        if since is not None and self.opset < since and len(values) > 1:
            axes: Any = cast(OnnxTensor, values[1]).constant
            if axes is None:
                raise NotRewritten("axes that are constant", "others")
            return values[:1], {**attributes, "axes": [int(each) for each in axes]}
        if kind == "Reshape" and self.opset < 14:
            attributes = {name: each for name, each in attributes.items() if name != "allowzero"}
        return values, attributes

    # How nodes are written.

    def write(self) -> tuple[ModelProto, tuple[tuple[str, int | None], ...]]:
        """The model with its graph written anew, and its results in order: the name, and how many tensors it is a list of."""
        from onnx import numpy_helper

        source = self._model.graph
        _propagate_backwards(source.node, self._types)
        scope: dict[str, Held] = {}
        for each in source.initializer:
            array: Any = numpy_helper.to_array(each)
            scope[each.name] = OnnxTensor(self, each.name, typed(array, each.data_type), array)
        for each in source.input:
            if each.name not in scope:
                scope[each.name] = self._argument(each)
        for number, node in enumerate(source.node):
            self.current = number
            try:
                self._into(scope, node)
            except NotRewritten as error:
                error.number = number
                raise
        held = {each.name: scope[each.name] for each in source.output}
        counts = {name: len(each.values) if isinstance(each, Items) else None for name, each in held.items()}
        return self._finished(scope), tuple(counts.items())

    def _argument(self, given: Any) -> Held:
        if given.type.WhichOneof("value") != "tensor_type":
            raise self._no_tensor(given)
        from onnx import helper

        self._known[given.name] = given.type
        value = OnnxTensor(self, given.name, given.type)
        if given.type.tensor_type.HasField("shape") and 0 in value.shape and None not in value.shape:
            kind: Any = helper.tensor_dtype_to_np_dtype(value.element)
            return OnnxTensor(self, given.name, given.type, np.empty(value.sizes, kind))
        return value

    def _no_tensor(self, given: Any) -> NotRewritten:
        """What says that an input is a sequence or an optional, of the first node that reads it."""
        got = given.type.WhichOneof("value").replace("_type", "")
        reader = first_reader(self._model.graph, given.name)
        if reader is None:
            return NotRewritten("a tensor", got, f"input '{given.name}'")
        error = NotRewritten("a tensor", f"{got} for '{given.name}'")
        error.number = reader
        return error

    def _finished(self, scope: Mapping[str, Held]) -> ModelProto:
        from onnx import helper

        source = self._model
        model = type(source)()
        model.CopyFrom(source)
        graph = model.graph
        outputs = list(source.graph.output)
        del graph.node[:], graph.initializer[:], graph.value_info[:], graph.output[:], graph.input[:]
        made = {name for node in self.nodes for name in node.output}
        self.current = len(source.graph.node)
        for each in outputs:
            found = scope.get(each.name)
            for value, name in zip(tensors_of(found), result_names(each.name, found), strict=True):
                if self._chosen and _of_other_rank(each.type, value.type):
                    raise NotRewritten("a result of the declared rank", f"another for '{each.name}'", "the model")
                if value.name != name or name not in made:
                    self._emit(helper.make_node("Identity", [value.name], [name]), (value,))
                graph.output.append(helper.make_value_info(name, self._output_type(each, found, value)))
        held = {each.name for each in source.graph.initializer}
        graph.input.extend(
            helper.make_value_info(each.name, stored(each.type)) for each in source.graph.input if each.name not in held
        )
        if "" not in {each.domain for each in model.opset_import if each.domain != "ai.onnx"} and not any(
            each.domain == "ai.onnx" for each in model.opset_import
        ):
            model.opset_import.append(helper.make_opsetid("", self.opset))
        graph.node.extend(self.nodes)
        graph.initializer.extend(self._constants.values())
        ends = {each.name for each in graph.output}
        graph.value_info.extend(
            helper.make_value_info(name, stored(self._known[name]))
            for node in self.nodes
            for name in node.output
            if name in self._known and name not in ends
        )
        return model

    @staticmethod
    def _output_type(declared: Any, held: Held, value: OnnxTensor) -> TypeProto:
        return stored(merged(value.type, declared.type if isinstance(held, OnnxTensor) else None) or value.type)

    def _into(self, scope: dict[str, Held], node: NodeProto) -> None:
        """Writes a node, and says what its results stand for."""
        inputs = tuple(scope.get(name) if name else None for name in node.input)
        declared = tuple(self._types.get(name) for name in node.output)
        results = self._written(OnnxNode(self, node, inputs, declared, scope))
        scope.update({name: value for name, value in zip(node.output, results, strict=False) if name})

    def _written(self, op: OnnxNode) -> Sequence[Held]:
        node = op.node
        domain = "" if node.domain == "ai.onnx" else node.domain
        folded = self._folded(op) if not domain else None
        if folded is not None:
            return folded
        parts = self._parts(op) if not domain else None
        if parts is not None and parts[1].all():
            return [self._of_type(parts[0], self.types_of(op)[0])]
        rewrite = self._rewrites.get(f"{domain}.{node.op_type}" if domain else node.op_type)
        made, reason = (NotImplemented, None) if rewrite is None else self._tried(rewrite, op)
        if made is not NotImplemented:
            return [made] if made is None or isinstance(made, (OnnxTensor, Items)) else list(made)
        key = f"{domain}.{node.op_type}" if domain else node.op_type
        if key in self._expanded and (body := self._body(op, domain)) is not None:
            return self.call(body, op)
        if reason is not None:
            self.reasons[len(self.origins)] = (reason.expected, reason.got)
        results = self.kept(op)
        if parts is not None and isinstance(results[0], OnnxTensor):
            self._partial[results[0].name] = parts
        return results

    def _tried(self, rewrite: Rewrite, op: OnnxNode) -> tuple[Any, NotRewritten | None]:
        """What a rewrite makes; if it does not go on, what it wrote is taken back."""
        nodes, origins = len(self.nodes), len(self.origins)
        try:
            return rewrite(op), None
        except NotRewritten as error:
            del self.nodes[nodes:], self.origins[origins:]
            return NotImplemented, error

    def _folded(self, op: OnnxNode) -> list[OnnxTensor] | None:
        import ml_dtypes  # as ONNX does

        values = op.inputs
        known = all(each is None or (isinstance(each, OnnxTensor) and each.constant is not None) for each in values)
        has_graph = any(each.HasField("g") for each in op.node.attribute)
        if op.node.op_type in ("Shape", "Size") and isinstance(values[0], OnnxTensor):
            return self._sizes(op)
        if not known or has_graph or op.node.op_type in NEVER_FOLDED:
            return None
        types = self.types_of(op)
        counts = [element_count(each) for each in types]
        if any(count is not None and count > LARGEST_FOLDED for count in counts):
            return None
        arrays = evaluated(
            op.node, [None if each is None else cast(OnnxTensor, each).constant for each in values], self.opsets
        )
        if arrays is None or any(array.size > LARGEST_FOLDED for array in arrays):
            return None
        if any(array.dtype == ml_dtypes.bfloat16 and not np.isfinite(array).all() for array in arrays):
            return None  # those are written as bits, which passes do not read
        return [self._of_type(array, kind) for array, kind in zip(arrays, types, strict=True)]

    def _parts(self, op: OnnxNode) -> tuple[Any, Any] | None:
        """What the sizes of a value are, or what moves some of them, and which of that is known."""
        if op.node.op_type == "Shape" and isinstance(op.inputs[0], OnnxTensor):
            if not op.x.type.tensor_type.HasField("shape"):
                return None
            sizes = op.x.shape[op.attribute("start", 0) : op.attribute("end")]
            return np.array([size or 0 for size in sizes], np.int64), np.array([size is not None for size in sizes])
        if op.node.op_type not in _MOVES_OF_SIZES or not all(isinstance(each, OnnxTensor) for each in op.inputs):
            return None
        held = [op.tensor(number) for number in range(len(op.inputs))]
        moved = held if op.node.op_type == "Concat" else held[:1]
        if not any(each.name in self._partial for each in moved):
            return None
        if any(each.constant is None for each in held if each.name not in self._partial or each not in moved):
            return None
        found = [self._partial.get(each.name) or _all_known(each) for each in held]
        rest = [each.constant for each in held[len(moved) :]]
        values = evaluated(op.node, [*(each for each, _ in found[: len(moved)]), *rest], self.opsets)
        known = evaluated(op.node, [*(each.astype(np.int64) for _, each in found[: len(moved)]), *rest], self.opsets)
        return None if values is None or known is None else (values[0], known[0].astype(np.bool_))

    def _of_type(self, array: Any, kind: TypeProto | None) -> OnnxTensor:
        """A constant that the evaluator has made, whose elements may be others than ONNX says."""
        known = kind is not None and kind.tensor_type.elem_type
        return self.value(array, OnnxTensor(self, "", kind) if known and kind is not None else None)

    def _sizes(self, op: OnnxNode) -> list[OnnxTensor] | None:
        """The sizes of a value whose sizes are known."""
        value = op.x
        if not value.type.tensor_type.HasField("shape"):
            return None
        start, end = op.attribute("start", 0), op.attribute("end")
        sizes = value.shape if op.node.op_type == "Size" else value.shape[start:end]
        if None in sizes:
            return None
        array: Any = np.array(sizes, np.int64)
        return [self.value(array if op.node.op_type == "Shape" else np.prod(array, dtype=np.int64))]

    def types_of(self, op: OnnxNode) -> list[TypeProto | None]:
        import onnx

        domain = "" if op.node.domain == "ai.onnx" else op.node.domain
        named = zip(op.node.input, op.inputs, strict=True)
        tensors = {name: each for name, each in named if isinstance(each, OnnxTensor)}
        inferred: Mapping[str, Any] = {}
        try:
            schema = cast(Any, onnx.defs).get_schema(op.node.op_type, self.opsets.get(domain, 1), domain)
            data = {
                name: onnx.numpy_helper.from_array(each.constant, name)
                for name, each in tensors.items()
                if each.constant is not None and each.constant.size <= LARGEST_FOLDED
            }
            imports = [onnx.helper.make_opsetid(name, version) for name, version in self.opsets.items()]
            inferred = onnx.shape_inference.infer_node_outputs(
                schema, op.node, {name: each.type for name, each in tensors.items()}, data, opset_imports=imports
            )
        except Exception:  # whatever ONNX's inference raises: what is declared remains
            inferred = {}
        found = [
            merged(inferred.get(name), declared) for name, declared in zip(op.node.output, op.declared, strict=True)
        ]
        return [_of_asked_rank(op)] if op.node.op_type == "Reshape" and not _has_rank(found[0]) else found

    def _body(self, op: OnnxNode, domain: str) -> FunctionProto | None:
        """The function that defines an op, for these types."""
        import onnx

        opset = self.opsets[domain]
        schema = cast(Any, onnx.defs).get_schema(op.node.op_type, opset, domain)
        for versions, get in (
            (schema.function_opset_versions, lambda version: schema.get_function_with_opset_version(version)),
            (
                schema.context_dependent_function_opset_versions,
                lambda version: schema.get_context_dependent_function_with_opset_version(
                    version,
                    op.node.SerializeToString(),
                    [each.type.SerializeToString() if isinstance(each, OnnxTensor) else b"" for each in op.inputs],
                ),
            ),
        ):
            fitting = [version for version in versions if version <= opset]
            found = get(max(fitting)) if fitting else b""
            if found:
                return onnx.FunctionProto.FromString(found)
        return None

    def call(self, body: FunctionProto, op: OnnxNode) -> list[Held]:
        """The results of a function in the place of a node."""
        body_domain = "" if op.node.domain == "ai.onnx" else op.node.domain
        given = {each.name: each for each in op.node.attribute} | {
            each.name: each
            for each in (*_defaults(op.node.op_type, self.opsets[body_domain], body_domain), *body.attribute_proto)
            if each.name not in {known.name for known in op.node.attribute}
        }
        scope: dict[str, Held] = dict.fromkeys(body.input)
        scope |= dict(zip(body.input, op.inputs, strict=False))
        for node in body.node:
            self._into(scope, _bound(node, given))
        return [
            scope.get(name) for name in body.output[: len(op.node.output)]
        ]  # one may come of inputs that are left out

    def inline(self, graph: GraphProto, arguments: Sequence[Held], scope: Mapping[str, Held]) -> list[Held]:
        from onnx import numpy_helper

        inner: dict[str, Held] = {**scope, **dict(zip([each.name for each in graph.input], arguments, strict=True))}
        for each in graph.initializer:
            array: Any = numpy_helper.to_array(each)
            inner[each.name] = OnnxTensor(self, self.fresh(), typed(array, each.data_type), array)
        for node in graph.node:
            self._into(inner, node)
        return [inner[each.name] for each in graph.output]

    def body(self, graph: GraphProto, arguments: Sequence[OnnxTensor], scope: Mapping[str, Held]) -> Any:
        return self.written_graph(graph.name, arguments, lambda: self.inline(graph, arguments, scope))

    def written_graph(self, name: str, arguments: Sequence[OnnxTensor], make: Callable[[], Sequence[Held]]) -> Any:
        from onnx import helper

        kept, self.nodes = self.nodes, []
        places = len(self.origins)
        try:
            for each in arguments:
                self._known[each.name] = each.type
            results = [tensor_of(each) for each in make()]
            names = [self.fresh() for _ in results]
            for result, value in zip(names, results, strict=True):
                self._emit(helper.make_node("Identity", [value.name], [result]), (value,))
                self._known[result] = value.type
            return helper.make_graph(
                self.nodes,
                name or "body",
                [helper.make_value_info(each.name, stored(each.type)) for each in arguments],
                [
                    helper.make_value_info(result, stored(each.type))
                    for result, each in zip(names, results, strict=True)
                ],
                value_info=[
                    helper.make_value_info(each, stored(self._known[each]))
                    for node in self.nodes
                    for each in node.output
                    if each in self._known and each not in names
                ],
            )
        finally:
            self.nodes = kept
            del self.origins[places:]

    def kept(self, op: OnnxNode, graphs: Mapping[str, GraphProto] | None = None) -> list[Held]:
        if any(isinstance(each, Items) for each in op.inputs):
            raise NotRewritten("tensors", "a sequence")
        types = self.types_of(op)
        self._refuse_codes(op, types)
        node = type(op.node)()
        node.CopyFrom(op.node)
        del node.input[:]
        node.input.extend("" if each is None else cast(OnnxTensor, each).name for each in op.inputs)
        names = [name and (name if name in self._types else self.fresh()) for name in op.node.output]
        if any(name and (name in self._known or name in self._constants) for name in names):
            names = [name and self.fresh() for name in names]
        del node.output[:]
        node.output.extend(names)
        for each in node.attribute:
            if each.HasField("g") and graphs is not None:
                each.g.CopyFrom(graphs[each.name])
            elif each.HasField("g"):
                self._rename(each.g, op.scope, set())
        self._emit(node, tuple(each for each in op.inputs if isinstance(each, OnnxTensor)))
        for name, kind in zip(names, types, strict=True):
            if name and kind is not None:
                self._known[name] = kind
        return [
            OnnxTensor(self, name, kind if kind is not None else unknown_type()) if name else None
            for name, kind in zip(names, types, strict=True)
        ]

    @staticmethod
    def _refuse_codes(op: OnnxNode, types: Sequence[TypeProto | None]) -> None:
        """Codes of narrow types may be moved, but not computed with."""
        kinds = [each.type for each in op.inputs if isinstance(each, OnnxTensor)] + [
            each for each in types if each is not None
        ]
        elements = [each.tensor_type.elem_type for each in kinds if each.WhichOneof("value") == "tensor_type"]
        found = next((NARROW[each] for each in elements if is_narrow(each)), None)
        if found is not None and op.node.op_type not in _MOVES:
            raise NotRewritten("elements that ops compute with", f"elements {found}")

    def _rename(self, graph: GraphProto, scope: Mapping[str, Held], own: set[str]) -> None:
        """What a graph inside of a node reads from outside, as it is called now."""
        inner = own | {each.name for each in (*graph.input, *graph.initializer)}
        inner |= {name for node in graph.node for name in node.output}
        for node in graph.node:
            for place, name in enumerate(node.input):
                held = scope.get(name) if name and name not in inner else None
                if isinstance(held, OnnxTensor):
                    self._mention(held)
                    node.input[place] = held.name
            for each in node.attribute:
                if each.HasField("g"):
                    self._rename(each.g, scope, inner)

    def _emit(self, node: NodeProto, inputs: Sequence[OnnxTensor]) -> None:
        for each in inputs:
            self._mention(each)
        self.nodes.append(node)
        self.origins.append(self.current)

    def _mention(self, value: OnnxTensor) -> None:
        """Makes an initializer of a constant that a node reads."""
        from onnx import numpy_helper

        if value.constant is None or value.name in self._constants or value.name in self._known:
            return
        array: Any = value.constant
        if is_narrow(value.element):
            array = array.view(np.uint8)
        self._constants[value.name] = numpy_helper.from_array(np.asarray(array), value.name)


def _propagate_backwards(nodes: Sequence[NodeProto], types: dict[str, TypeProto]) -> None:
    """The sizes of what elementwise ops read are those of their results; inference only goes forwards."""
    for node in reversed(nodes):
        known = types.get(node.output[0])
        if node.op_type not in _ELEMENTWISE or known is None or not known.tensor_type.HasField("shape"):
            continue
        found = types.get(node.input[0])
        if found is None or not found.tensor_type.HasField("shape"):
            made = type(known)()
            made.tensor_type.shape.CopyFrom(known.tensor_type.shape)
            made.tensor_type.elem_type = found.tensor_type.elem_type if found is not None else 0
            types[node.input[0]] = made


def _of_other_rank(declared: TypeProto, found: TypeProto) -> bool:
    a, b = declared.tensor_type, found.tensor_type
    return a.HasField("shape") and b.HasField("shape") and len(a.shape.dim) != len(b.shape.dim)


def _has_rank(kind: TypeProto | None) -> bool:
    return kind is not None and kind.HasField("tensor_type") and kind.tensor_type.HasField("shape")


def _of_asked_rank(reshape: OnnxNode) -> TypeProto | None:
    """The type of a reshaped tensor: of as many dims as sizes are asked for, whatever those are."""
    from onnx import helper

    asked = reshape.tensor(1)
    if not _has_rank(asked.type) or len(asked.shape) != 1 or asked.shape[0] is None:
        return None
    return helper.make_tensor_type_proto(reshape.x.element, [None] * asked.shape[0])


def first_reader(graph: GraphProto, name: str) -> int | None:
    """The number of the first node that reads a value."""
    return next((number for number, node in enumerate(graph.node) if name in node.input), None)


def _all_known(tensor: OnnxTensor) -> tuple[Any, Any]:
    """A constant's elements, and that each of them is known."""
    elements = np.asarray(tensor.constant)
    return elements, np.ones(elements.shape)


def result_names(name: str, held: Held) -> list[str]:
    """The names of the tensors that a result of the model consists of."""
    return [f"{name}[{number}]" for number in range(len(held.values))] if isinstance(held, Items) else [name]


def _integers(given: Any) -> Any:
    array: Any = np.asarray(given)
    return array.astype(np.int64) if array.dtype.kind in "iu" or not array.size else array


def _bound(node: NodeProto, given: Mapping[str, Any]) -> NodeProto:
    """A node of a function's with the values of the function's attributes."""
    if not any(each.ref_attr_name or each.HasField("g") for each in node.attribute):
        return node
    made = type(node)()
    made.CopyFrom(node)
    del made.attribute[:]
    for each in node.attribute:
        if each.ref_attr_name and each.ref_attr_name not in given:
            continue
        new = made.attribute.add()
        new.CopyFrom(given[each.ref_attr_name] if each.ref_attr_name else each)
        new.name = each.name
        if each.HasField("g"):
            inner = [_bound(nested, given) for nested in each.g.node]
            del new.g.node[:]
            new.g.node.extend(inner)
    return made


@cache
def _defaults(kind: str, opset: int, domain: str) -> tuple[Any, ...]:
    """The attributes of an op that have a default."""
    import onnx

    schema = cast(Any, onnx.defs).get_schema(kind, opset, domain)
    return tuple(each.default_value for each in schema.attributes.values() if each.default_value.name)
