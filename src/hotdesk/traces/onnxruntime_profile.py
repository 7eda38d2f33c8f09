"""A session profile of onnxruntime, with the graph that was run: the sizes of results, and until when each is read.

    session.enable_profiling = True; session.optimized_model_filepath = "run.onnx"
    {"cat": "Node", "name": "/fc/Gemm_kernel_time", "args": {"output_type_shape": [{"float": [8, 64]}], …}}

A profile has the sizes of what each node makes, in the order in which nodes ran, but no names of values. The graph that was run
has those: a result is in use from its node to the last node that reads it, results of the graph up to the end. Time is counted
in nodes. Weights and inputs are the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, cast

from hotdesk.errors import MissingExtraError, TraceError
from hotdesk.planning import Buffer
from hotdesk.traces.trace import Trace, arguments_of

_KERNEL = "_kernel_time"
_BYTES = {
    **dict.fromkeys(("bool", "int8", "uint8", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"), 1),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int32", "uint32", "float"), 4),
    **dict.fromkeys(("int64", "uint64", "double"), 8),
}


def is_profile(found: object) -> bool:
    """Whether JSON is a session profile."""
    return isinstance(found, list) and any("output_size" in arguments_of(each) for each in cast("list[Any]", found))


def read(events: Sequence[Any], graph: Path, name: str) -> Trace:
    """The first run of the session that the events are of; `graph` is the file of the model that was run.

    Raises:
        TraceError: the file is no model, or has none of the nodes that ran.
        MissingExtraError: the package `onnx` is not installed.
        OSError: the file cannot be read.
    """
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError as error:
        raise MissingExtraError.of("reading a session profile of onnxruntime", "onnx", "onnx") from error
    try:
        model = onnx.ModelProto.FromString(graph.read_bytes())
    except DecodeError as error:
        raise TraceError(str(graph), expected="the ONNX model that was run", got=str(error)) from error
    nodes = {node.name or f"{node.op_type}_{place}": node for place, node in enumerate(model.graph.node)}
    ran = list(_first_run(events))
    found = [(nodes[each], arguments) for each, arguments in ran if each in nodes]
    if not found or (len(found) < len(ran) and not all(node.name for node, _ in found)):  # places in another graph
        got = f"one without {len(ran) - len(found):,} of the {len(ran):,} nodes that ran"
        hint = "Write it with SessionOptions.optimized_model_filepath: onnxruntime fuses nodes, and names them anew."
        raise TraceError(f"{name} with {graph}", expected="the graph that was run", got=got, hint=hint)
    last = {read: place for place, (node, _) in enumerate(found) for read in _read(node)}
    last.update({value.name: len(found) - 1 for value in model.graph.output})
    buffers: list[Buffer] = []
    left_out = len(ran) - len(found)
    for place, (node, arguments) in enumerate(found):
        types: Any = arguments.get("output_type_shape") or []
        made = [each for each in node.output if each]
        sizes = [_bytes(each) for each in cast("list[Any]", types)]
        for value, size in zip(made, sizes, strict=False):
            if size is None:
                left_out += 1
            else:
                buffers.append(Buffer(value, place, last.get(value, place) + 1, size))
        left_out += max(0, len(made) - len(sizes))
    return Trace("onnxruntime's session profile", tuple(buffers), None, left_out)


def _read(node: Any) -> Iterator[str]:
    """The values that a node reads, in the bodies of its loops and branches too."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                yield from _read(inner)


def _first_run(events: Sequence[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The nodes of the first run with what is told of each, in order: where one comes again, another run has begun."""
    seen: set[str] = set()
    for each in events:
        name = str(cast("Mapping[str, Any]", each).get("name", "")) if isinstance(each, Mapping) else ""
        node = name.removesuffix(_KERNEL)
        if node == name:
            continue
        if node in seen:
            return
        seen.add(node)
        yield node, arguments_of(cast(object, each))


def _bytes(told: Any) -> int | None:
    """The bytes of a tensor such as `{"float": [8, 64]}`; None where they are not told."""
    if not isinstance(told, Mapping) or len(cast("Mapping[str, Any]", told)) != 1:
        return None
    ((kind, shape),) = cast("Mapping[str, Any]", told).items()
    given = cast("list[Any]", shape) if isinstance(shape, list) else [None]
    sizes: list[int] = [size for size in given if isinstance(size, int)]
    is_known = kind in _BYTES and len(sizes) == len(given) and min(sizes, default=0) >= 0
    return _BYTES[kind] * prod(sizes) if is_known else None
