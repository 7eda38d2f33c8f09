"""What an exported program is, as text: two that have the same are lowered to the same module.

The text has every node with its operands, types, strides and Python lines, the signature, the weights by layout, lifted
constants by their bytes, what was assumed about sizes, and PyTorch's settings that decompositions ask for. A program with a part
that has no such text, as an op that is not PyTorch's own or an object of the user's, has none.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec

from hotdesk.frontends.torch.check_messages import check_messages
from hotdesk.frontends.torch.lines import submodule
from hotdesk.frontends.torch.symbolic_numbers import NUMBERS

_NAMESPACES = {"aten", "prims", "prim"}
_MODULES = {"_operator", "math", "builtins", "torch"}
_PLAIN = (type(None), bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format)
_KINDS = {InputKind.USER_INPUT, InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR}


class _Unknown(Exception):
    """A part of the program has no text."""


def identity(
    exported: ExportedProgram, guards: Sequence[Any], environment: Any, names: Mapping[str, str]
) -> str | None:
    """The text, or None.

    Args:
        guards: what was assumed about sizes until now, in `environment`; None if no size varies.
        names: what the user calls sizes, with the symbols that they became.
    """
    try:
        parts: list[Any] = [
            torch.__version__,
            str(torch.get_default_dtype()),
            torch.are_deterministic_algorithms_enabled(),
            list(_graph(exported.graph_module)),
            [_input(exported, spec) for spec in exported.graph_signature.input_specs],
            [_typed(spec) for spec in exported.graph_signature.output_specs],
            [str(exported.call_spec.in_spec), str(exported.call_spec.out_spec)],
            str(exported.module_call_graph[0].signature),
            sorted((str(symbol), str(limits)) for symbol, limits in cast(Any, exported).range_constraints.items()),
            [(str(guard.expr), str(environment.replace(guard.expr))) for guard in guards],
            _examples(environment),
            _checks(exported, environment),
            sorted(names.items()),
        ]
    except _Unknown:
        return None
    return json.dumps(parts)


def _graph(module: torch.fx.GraphModule) -> Iterator[Any]:
    for node in module.graph.nodes:
        stack = node.meta.get("stack_trace") or ""
        path = submodule(node.meta.get("nn_module_stack") or {})
        yield [node.op, node.name, _target(module, node), _operand(node.args), _operand(node.kwargs), stack, path]
        yield _value(node.meta.get("val"))


def _target(module: torch.fx.GraphModule, node: torch.fx.Node) -> Any:
    target: Any = node.target
    if isinstance(target, OpOverload):
        if target.namespace not in _NAMESPACES:
            raise _Unknown
        return str(target)
    if isinstance(target, HigherOrderOperator):
        return f"{target.namespace}.{target.name()}"
    if node.op == "get_attr":
        found = getattr(module, str(target), None)
        if not isinstance(found, torch.fx.GraphModule):
            raise _Unknown
        return [str(target), *_graph(found)]
    if isinstance(target, str) and node.op in ("placeholder", "output"):
        return target
    function: Any = target
    if getattr(function, "__module__", "").partition(".")[0] in _MODULES:
        return f"{function.__module__}.{function.__qualname__}"
    raise _Unknown


def _operand(value: Any) -> Any:
    if isinstance(value, torch.fx.Node):
        return ["node", value.name]
    if type(value) in _PLAIN:
        return [type(value).__name__, repr(value)]
    if isinstance(value, NUMBERS):
        return ["size", str(value.node.expr)]
    if isinstance(value, slice):
        ends = cast(Any, value)
        return ["slice", *map(_operand, (ends.start, ends.stop, ends.step))]
    if isinstance(value, tuple | list):
        return [type(value).__name__, *map(_operand, cast("Sequence[Any]", value))]
    if isinstance(value, Mapping):
        return ["dict", *((str(key), _operand(each)) for key, each in cast("Mapping[Any, Any]", value).items())]
    if isinstance(value, OpOverload) and value.namespace in _NAMESPACES:
        return ["op", str(value)]
    raise _Unknown


def _value(value: Any) -> Any:
    """What is known of a node's result: of a tensor all but its elements."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            raise _Unknown
        sizes, strides = map(str, value.shape), map(str, value.stride())
        flags = value.requires_grad, value.is_conj(), value.is_neg()
        return [str(value.dtype), str(value.device), *sizes, "by", *strides, *flags]
    if isinstance(value, tuple | list):
        return ["several", *map(_value, cast("Sequence[Any]", value))]
    return _operand(value)


def _typed(spec: Any) -> list[str]:
    return [str(spec.kind), type(spec.arg).__name__, str(spec.arg), str(spec.target)]


def _input(exported: ExportedProgram, spec: InputSpec) -> Any:
    if spec.kind not in _KINDS:
        raise _Unknown
    if spec.kind == InputKind.USER_INPUT:
        return _typed(spec)
    tensor = tensor_of(exported, str(spec.target))
    if tensor is None:
        raise _Unknown
    bytes_read = _digest(tensor) if spec.kind == InputKind.CONSTANT_TENSOR else ""
    return [*_typed(spec), _value(tensor), bytes_read]


def _digest(tensor: torch.Tensor) -> str:
    flat = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    return sha256(flat.numpy().tobytes()).hexdigest()


def tensor_of(exported: ExportedProgram, target: str) -> torch.Tensor | None:
    """The weight of this name."""
    found: Any = exported.state_dict.get(target)
    found = exported.constants.get(target) if found is None else found
    return found if isinstance(found, torch.Tensor) else None


def _checks(exported: ExportedProgram, environment: Any) -> list[Any]:
    """What checks of numbers from data say, and their lines."""
    told = check_messages(environment, exported.graph)
    return [sorted(told.of_relations.items()), sorted(told.of_nodes.items())]


def _examples(environment: Any) -> list[tuple[str, str]]:
    """The sizes of the example arguments, by symbol: what is decided by them is assumed of all."""
    newer = hasattr(environment, "backed_var_to_val")
    values = getattr(environment, "backed_var_to_val" if newer else "var_to_val", {})
    return sorted((str(symbol), str(value)) for symbol, value in values.items())
