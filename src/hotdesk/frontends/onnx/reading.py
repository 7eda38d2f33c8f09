"""ONNX models read from a file or taken as a `ModelProto`: checked, shapes inferred, and the weights beside the graph.

    initializer W: f32[1024, 1024], in the file or in its external data   ->   graph input W, and an array of that memory

1. An initializer, or a `Constant` node of the graph, of at most `_SMALL` elements stays in the graph: shapes, axes, scales.
2. Any other one becomes an input of the graph; its values are the bytes that were read, or external data mapped from its file.
3. Values of a symbolic size that the caller fixes are put in before shapes are inferred.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from hotdesk.errors import InvalidIRError, MissingExtraError, OptionError, UnsupportedOpError
from hotdesk.file_errors import found_instead
from hotdesk.frontends.captured import HeldArray
from hotdesk.frontends.onnx.elements import PLAIN
from hotdesk.frontends.onnx.rewrites import REWRITES, Graph, NotRewritten, first_reader
from hotdesk.ir.locations import scope

if TYPE_CHECKING:
    import onnx

Ranges: TypeAlias = "Mapping[str, int | tuple[int, int | None]]"
"""Sizes by the names that the model gives them: a number fixes one, a pair is the least and the greatest (None: unbounded)."""

_SMALL = 32
_LINE = 64  # bytes of a line of the cache
_SCOPES = "pkg.torch.onnx.name_scopes"
_QUOTED = re.compile(r"'([^']*)'")
_REWRITTEN = 12
"""The opset from which on nodes are written with others; a model of an older one is brought to a newer one if need be."""
_CHOICES = 16
"""How often a graph is written, each time with other branches of an `If` of which one alone can be."""
_UNSAID = ("", "?", "-1", "None")
"""Names of sizes that are none: what is called so twice is not of one size."""
_NEWEST = 18
"""The opset of a model of other domains alone."""
_IR_VERSION = 4
"""From which on initializers are no inputs, as those that were `Constant` nodes are none."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A model as the importer takes it.

    Attributes:
        proto: with shapes inferred, nodes named `node:0` and so on; its inputs are `inputs` and then `weights`.
        inputs: the names of what a call gives.
        weights: the values of the inputs behind those, by name.
        results: of what a call returns, in order, the name, and how many tensors of the graph it is a list of; None: one tensor.
        elements: the element types of inputs and results as a call has them, by name.
        nodes: what the nodes are called in messages, by their number.
        places: the name and the submodule of the node of the model behind each node, by number; "" where there is none.
        is_rewritten: whether nodes were written with others, where there is a rewrite.
        reasons: why a node was not written with others, by its number: what was expected, and what came.
        where: the file, if there is one.
    """

    proto: onnx.ModelProto
    inputs: tuple[str, ...]
    weights: Mapping[str, HeldArray]
    results: tuple[tuple[str, int | None], ...]
    elements: Mapping[str, int]
    nodes: tuple[str, ...]
    places: tuple[tuple[str, str], ...]
    is_rewritten: bool
    reasons: Mapping[int, tuple[str, str]]
    where: str | None


def is_onnx(model: object) -> bool:
    """Whether a model is the name of a file `.onnx`, or a `ModelProto`; `onnx` is not imported."""
    if isinstance(model, str):
        return model.endswith(".onnx") and "\n" not in model
    if isinstance(model, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", model)).endswith(".onnx")
    return type(model).__name__ == "ModelProto" and type(model).__module__.partition(".")[0] == "onnx"


@dataclass(frozen=True, slots=True)
class OnnxSource:
    """A model as it was read and checked, with `weights` as inputs of its graph. `where` is the file, if there is one."""

    proto: onnx.ModelProto
    weights: Mapping[str, HeldArray]
    where: str | None


def read_onnx(given: Any, sizes: Ranges | None = None) -> OnnxSource:
    """Reads and checks a model; a `ModelProto` stays as it is.

    Args:
        given: the name of a file, or an `onnx.ModelProto`.
        sizes: see `Ranges`.

    Raises:
        MissingExtraError: the package `onnx` is not installed.
        OptionError: there is no such file, or `sizes` names no size of the model.
        InvalidIRError: it is no model, ONNX's checker refuses it, or external data is missing or too short.
    """
    try:
        import onnx
        import onnx.inliner
    except ImportError as error:
        raise MissingExtraError.of("compiling an ONNX model", "onnx", "onnx") from error
    proto, where = _loaded(given)
    folder = Path(where).parent if where is not None else Path()
    _open_unsaid_sizes(proto.graph)
    _lift_constants(proto.graph)
    weights = _take_weights(proto.graph, folder, where)
    _fix(proto.graph, sizes or {})
    proto.ir_version = max(proto.ir_version, _IR_VERSION)
    try:
        cast(Any, onnx.checker).check_model(proto)
        proto = onnx.inliner.inline_local_functions(proto) if proto.functions else proto
    except (onnx.checker.ValidationError, ValueError, TypeError, RuntimeError) as error:
        raise _invalid(error, where) from error
    return OnnxSource(proto, weights, where)


def make_ready(source: OnnxSource, expanded: Collection[str] = (), opset: int | None = None) -> OnnxModel:
    """A model with shapes inferred and its nodes numbered.

    Args:
        source: stays as it is.
        expanded: ops of ONNX's own that are replaced by the functions that define them.
        opset: the version of ONNX's ops that the model is brought to, if not its own.

    Raises:
        InvalidIRError: types or sizes do not go together.
        UnsupportedOpError: the rank or type of a value is not known, or is none that is compiled.
    """
    choices: tuple[bool, ...] = ()
    first: InvalidIRError | UnsupportedOpError | None = None
    for _ in range(_CHOICES):
        chosen: list[bool] = []
        try:
            return _ready(source, expanded, opset, choices, chosen)
        except (InvalidIRError, UnsupportedOpError) as error:
            first = first or error
        if True not in chosen:
            break
        last = len(chosen) - 1 - chosen[::-1].index(True)
        choices = (*chosen[:last], False)
    assert first is not None
    raise first


def _ready(
    source: OnnxSource, expanded: Collection[str], opset: int | None, choices: Sequence[bool], chosen: list[bool]
) -> OnnxModel:
    """As `make_ready`, with these branches (`GraphWriter.choose`); `chosen` are those that were asked for."""
    import onnx
    import onnx.version_converter

    where, proto = source.where, onnx.ModelProto()
    proto.CopyFrom(source.proto)
    nodes: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    try:
        if opset is not None:
            proto = onnx.version_converter.convert_version(proto, opset)
        places = tuple(map(_place, proto.graph.node))
        nodes = _named_nodes(proto)
        is_rewritten = _opset(proto) >= _REWRITTEN
        proto = _inferred(proto, strict=not is_rewritten)
        elements = {each.name: each.type.tensor_type.elem_type for each in (*proto.graph.input, *proto.graph.output)}
        graph = Graph(proto, _types(proto.graph), REWRITES, expanded, _opset(source.proto), choices, chosen)
        results = tuple((each.name, None) for each in proto.graph.output)
        if is_rewritten:
            proto, results = graph.write()
            nodes = tuple((*nodes, "the model")[number] for number in graph.origins)
            places = tuple((*places, ("", ""))[number] for number in graph.origins)
            for number, node in enumerate(proto.graph.node):
                node.name = f"node:{number}"
            proto = _inferred(proto)
    except NotRewritten as error:
        what = error.what or nodes[error.number]
        raise UnsupportedOpError(what, expected=error.expected, got=error.got, where=where) from error
    except (onnx.shape_inference.InferenceError, ValueError, TypeError, RuntimeError) as error:
        raise _inconsistent(error, nodes, where) from error
    own = {each.name for each in source.proto.graph.initializer} | source.weights.keys()
    inputs = tuple(each.name for each in proto.graph.input if each.name not in own)
    _refuse_unknown(proto, nodes, where)
    told = nodes, places, is_rewritten, graph.reasons, where
    return OnnxModel(proto, inputs, source.weights, results, elements, *told)


def _opset(proto: onnx.ModelProto) -> int:
    return next((each.version for each in proto.opset_import if each.domain in ("", "ai.onnx")), _NEWEST)


def _inferred(proto: onnx.ModelProto, strict: bool = True) -> onnx.ModelProto:
    import onnx

    return onnx.shape_inference.infer_shapes(proto, check_type=strict, strict_mode=strict, data_prop=True)


def _types(graph: onnx.GraphProto) -> dict[str, onnx.TypeProto]:
    return {each.name: each.type for each in (*graph.value_info, *graph.output)}


def _loaded(given: Any) -> tuple[onnx.ModelProto, str | None]:
    """A model that may be changed, without its external data, and its file."""
    import onnx
    from google.protobuf.message import DecodeError

    if not isinstance(given, str | os.PathLike):
        copy = onnx.ModelProto()
        copy.CopyFrom(given)
        return copy, None
    path = os.fspath(cast("str | os.PathLike[str]", given))
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise OptionError(f"model '{path}'", expected="a file", got=found_instead(path, error)) from error
    try:
        proto = onnx.ModelProto.FromString(content)
    except DecodeError as error:
        raise InvalidIRError("the model", expected="an ONNX model", got=str(error), where=path) from error
    if not proto.HasField("graph"):
        raise InvalidIRError("the model", expected="an ONNX model", got="one without a graph", where=path)
    return proto, path


def _lift_constants(graph: onnx.GraphProto) -> None:
    """Makes initializers of the `Constant` nodes that hold a tensor."""
    kept: list[onnx.NodeProto] = []
    for node in graph.node:
        value = next((each for each in node.attribute if each.name == "value"), None)
        if node.op_type == "Constant" and not node.domain and value is not None and len(node.output) == 1:
            tensor = graph.initializer.add()
            tensor.CopyFrom(value.t)
            tensor.name = node.output[0]
        else:
            kept.append(node)
    if len(kept) < len(graph.node):
        copies = [type(node).FromString(node.SerializeToString()) for node in kept]
        del graph.node[:]
        graph.node.extend(copies)


def _take_weights(graph: onnx.GraphProto, folder: Path, where: str | None) -> dict[str, HeldArray]:
    """Takes large initializers out of a graph, and puts them behind its inputs."""
    from onnx import helper

    weights: dict[str, HeldArray] = {}
    kept: list[onnx.TensorProto] = []
    for tensor in graph.initializer:
        count = int(np.prod(tensor.dims, dtype=np.int64))
        if tensor.data_type in PLAIN and (count > _SMALL or tensor.data_location == tensor.EXTERNAL):
            held = _held(tensor, count, folder, where)
            if count > _SMALL:
                weights[tensor.name] = held
                continue
            tensor = helper.make_tensor(
                tensor.name,
                tensor.data_type,
                tensor.dims,
                held.tobytes(),
                raw=True,
            )
        kept.append(type(tensor).FromString(tensor.SerializeToString()))
    declared = {each.name: each for each in graph.input}
    inputs = [each for name, each in declared.items() if name not in weights]
    types = {tensor.name: tensor.data_type for tensor in graph.initializer}
    inputs += [helper.make_tensor_value_info(name, types[name], held.shape) for name, held in weights.items()]
    copies = [type(each).FromString(each.SerializeToString()) for each in inputs]
    del graph.input[:], graph.initializer[:]
    graph.input.extend(copies)
    graph.initializer.extend(kept)
    return weights


def _held(tensor: onnx.TensorProto, count: int, folder: Path, where: str | None) -> HeldArray:
    """The values of an initializer."""
    from onnx import numpy_helper

    dtype, plain = PLAIN[tensor.data_type]
    kind = np.dtype(plain)
    array: Any
    what, needed = f"initializer '{tensor.name}'", count * kind.itemsize
    if any(size < 0 for size in tensor.dims):
        raise InvalidIRError(what, expected="sizes from 0 on", got=str(list(tensor.dims)), where=where)
    if tensor.data_location == tensor.EXTERNAL:
        array = _mapped(tensor, kind, count, folder, where)
    elif tensor.HasField("raw_data"):
        raw = tensor.raw_data
        if len(raw) != needed:
            raise InvalidIRError(what, expected=f"{needed} bytes", got=f"{len(raw)} bytes", where=where)
        array = np.frombuffer(raw, kind)
    else:
        try:
            array = cast(Any, np).ascontiguousarray(cast(Any, numpy_helper).to_array(tensor)).reshape(-1).view(kind)
        except (ValueError, TypeError) as error:
            raise InvalidIRError(what, expected=f"{count} elements", got=str(error), where=where) from error
    # What is mapped stays so, if compiled code can read its elements.
    whole = kind.itemsize if tensor.data_location == tensor.EXTERNAL else _LINE
    return HeldArray(_copied_to_line(array) if array.ctypes.data % whole else array, dtype, tensor.dims)


def _copied_to_line(array: Any) -> Any:
    """A copy that begins where a line of the cache does, so that vectors of a weight are in one line each."""
    memory: Any = np.empty(array.nbytes + _LINE, np.uint8)
    begin = -memory.ctypes.data % _LINE
    copy = memory[begin : begin + array.nbytes].view(array.dtype)
    copy[...] = array
    return copy


def _mapped(tensor: onnx.TensorProto, kind: Any, count: int, folder: Path, where: str | None) -> Any:
    """External data of an initializer, as its file is mapped: nothing is read before it is used."""
    what = f"external data of initializer '{tensor.name}'"
    entries = {each.key: each.value for each in tensor.external_data}
    name = entries.get("location", "")
    expected = "a file inside of the model's folder"
    path = (folder / name).resolve()
    if not name or Path(name).is_absolute() or not path.is_relative_to(folder.resolve()):
        raise InvalidIRError(what, expected=expected, got=repr(name), where=where)
    if not path.is_file():
        hint = "Put the file beside the model; models saved with `save_as_external_data` are several files."
        raise InvalidIRError(what, expected=expected, got=f"no file '{name}'", where=where, hint=hint)
    try:
        offset = int(entries.get("offset", "0"))
        length = int(entries.get("length") or count * kind.itemsize)
    except ValueError as error:
        raise InvalidIRError(what, expected="an offset and a length in bytes", got=str(error), where=where) from error
    size, needed = path.stat().st_size, count * kind.itemsize
    if length != needed or offset < 0 or offset + needed > size:
        got = f"{length} bytes from {offset} of '{name}', which has {size}"
        raise InvalidIRError(what, expected=f"{needed} bytes", got=got, where=where)
    if not count:
        return np.empty(0, kind)
    return np.memmap(path, kind, "r", offset, (count,))


def _open_unsaid_sizes(graph: onnx.GraphProto) -> None:
    """Leaves open what exporters write for a size that they do not know: a number below 0, or `_UNSAID`, which names no size."""
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value < 0:
                dim.ClearField("dim_value")
            elif dim.dim_param in _UNSAID:
                dim.ClearField("dim_param")
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                _open_unsaid_sizes(inner)


def _fix(graph: onnx.GraphProto, sizes: Ranges) -> None:
    """Puts in the values of sizes that are fixed. Raises OptionError for a name that no input has."""
    names: dict[str, None] = {}
    for value in graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                names[dim.dim_param] = None
    for name, given in sizes.items():
        _refuse_size(name, given, list(names))
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            fixed = sizes.get(dim.dim_param) if dim.dim_param else None
            if isinstance(fixed, int):
                dim.dim_value = fixed


def _refuse_size(name: str, given: Any, names: Sequence[str]) -> None:
    what = "argument 'dynamic_shapes'"
    if name not in names:
        expected = f"names of sizes: {', '.join(names)}" if names else "none: the model names no sizes"
        raise OptionError(what, expected=expected, got=repr(name))
    ends: tuple[Any, ...] = cast("tuple[Any, ...]", given) if isinstance(given, tuple) else (given, given)
    low, high = ends if len(ends) == 2 else (None, None)
    is_number = isinstance(low, int) and not isinstance(low, bool) and low >= 0
    is_range = high is None or (isinstance(high, int) and is_number and cast(int, low) <= high)
    if not (is_number and is_range):
        expected = f"a size for '{name}', or a pair of the least and the greatest"
        raise OptionError(
            what, expected=expected, got=repr(cast(object, given)), hint='Write {"batch": 8} or {"batch": (1, 64)}.'
        )


def _named_nodes(proto: onnx.ModelProto) -> tuple[str, ...]:
    """Names the nodes of the graph by number; returns what messages call them: the node, its op and its opset."""
    opsets = {each.domain: each.version for each in proto.opset_import}
    called: list[str] = []
    for number, node in enumerate(proto.graph.node):
        domain = "" if node.domain == "ai.onnx" else node.domain
        opset = opsets.get(domain, opsets.get(node.domain, "?"))
        op = f"{domain}.{node.op_type}" if domain else node.op_type
        name = f"node '{node.name}'" if node.name else f"node {number}, of '{', '.join(node.output)}'"
        called.append(f"{name}: op {op} of opset {opset}")
        node.name = f"node:{number}"
    return tuple(called)


def _place(node: onnx.NodeProto) -> tuple[str, str]:
    """The name of a node, or of its first result, and the submodule that it is in: PyTorch's exporter writes that down."""
    name = node.name or next(filter(None, node.output), "")
    scopes = next((each.value for each in node.metadata_props if each.key == _SCOPES), "")
    found = _QUOTED.findall(scopes)
    return name, found[-2] if len(found) > 1 else scope(node.name)


def _refuse_unknown(proto: onnx.ModelProto, nodes: Sequence[str], where: str | None) -> None:
    """Raises UnsupportedOpError for the first value of the graph whose type or rank is not known."""
    from onnx import TensorProto

    graph = proto.graph
    known = {each.name: each.type for each in (*graph.input, *graph.value_info, *graph.output)}

    def refuse(name: str, what: str) -> None:
        kind = known.get(name)
        got = None
        if kind is None or kind.WhichOneof("value") is None:
            got = "no type that ONNX infers"
        elif kind.WhichOneof("value") != "tensor_type":
            got = cast(str, kind.WhichOneof("value")).replace("_type", "")
        elif kind.tensor_type.elem_type not in PLAIN:
            got = f"elements {TensorProto.DataType.Name(kind.tensor_type.elem_type)}"
        elif not kind.tensor_type.HasField("shape"):
            got = "no rank that ONNX infers"
        if got is not None:
            expected = f"a tensor of known rank, of {', '.join(name for name, _ in PLAIN.values())}"
            raise UnsupportedOpError(what, expected=expected, got=f"{got} for '{name}'", where=where)

    for value in graph.input:
        reader = first_reader(graph, value.name)
        refuse(value.name, f"input '{value.name}'" if reader is None else nodes[reader])
    for called, node in zip(nodes, graph.node, strict=True):
        for name in filter(None, node.output):
            refuse(name, called)


def _invalid(error: Exception, where: str | None) -> InvalidIRError:
    return InvalidIRError("the model", expected="one that ONNX's checker accepts", got=_first(error), where=where)


def _inconsistent(error: Exception, nodes: Sequence[str], where: str | None) -> InvalidIRError:
    """What ONNX's shape inference says, with the node as messages call it."""
    got = _first(error)
    for number, called in enumerate(nodes):
        got = got.replace(f"node name: node:{number})", f"{called})")
    return InvalidIRError("the model", expected="types and sizes that go together", got=got, where=where)


def _first(error: Exception) -> str:
    """The lines of a message of ONNX's that say something, as one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("==>")]
    return " ".join(lines)[:400]
