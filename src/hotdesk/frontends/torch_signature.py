"""The signature of an exported program: its arguments, its results, and a graph that has tensors alone at its ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from hotdesk.errors import DeviceError
from hotdesk.frontends.capture import Weight
from hotdesk.frontends.torch_calling import ResultNumber, ResultSlot
from hotdesk.frontends.torch_lines import node_line
from hotdesk.frontends.torch_specs import plain, spec_of
from hotdesk.runtime.interface import TensorSpec


def arguments_of(exported: ExportedProgram) -> tuple[tuple[Weight | TensorSpec, ...], dict[str, bool]]:
    """The arguments of `@main`, and for each placeholder whether it is one of them."""
    arguments: list[Weight | TensorSpec] = []
    kept: dict[str, bool] = {}
    values = {node.name: node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"}
    for spec in exported.graph_signature.input_specs:
        name = spec.arg.name
        value = values[name]
        kept[name] = isinstance(value, torch.Tensor)
        if not isinstance(value, torch.Tensor):
            continue
        if spec.kind == InputKind.USER_INPUT:
            arguments.append(spec_of(name, value))
            continue
        target = str(spec.target)
        tensor: Any = exported.state_dict.get(target)
        if tensor is None:
            tensor = exported.constants[target]
        if tensor.device.type != "cpu":
            raise DeviceError(
                f"weight '{target}'", expected="device cpu", got=str(tensor.device), hint="Move the model."
            )
        if not tensor.is_contiguous():
            order = _order_to_read(tensor)
            if order is not None:
                read_transposed(exported.graph, next(n for n in exported.graph.nodes if n.name == name), order)
            tensor = laid_out(tensor)
        arguments.append(Weight(spec_of(target, tensor), tensor))
    return tuple(arguments), kept


def inputs_of(exported: ExportedProgram) -> list[TensorSpec]:
    """The tensors among the arguments of a call, in order."""
    values = {node.name: node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"}
    names = [spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT]
    return [spec_of(name, values[name]) for name in names if isinstance(values[name], torch.Tensor)]


def laid_out(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a contiguous tensor, which the graph transposes back; a copy where the memory has gaps."""
    if tensor.is_contiguous():
        return tensor
    order = _order_to_read(tensor)
    return tensor.detach().contiguous() if order is None else tensor.detach().permute(order)


def _order_to_read(tensor: torch.Tensor) -> list[int] | None:
    return None if tensor.is_conj() or tensor.is_neg() else order_in_memory(tensor.detach())


def order_in_memory(tensor: torch.Tensor) -> list[int] | None:
    """The dims of a tensor from the slowest to the fastest, if it has no gaps in this order."""
    order = sorted(range(tensor.dim()), key=lambda i: (-tensor.stride(i), i))
    return order if tensor.permute(order).is_contiguous() else None


def read_transposed(graph: torch.fx.Graph, node: torch.fx.Node, order: list[int]) -> None:
    """A placeholder whose argument comes with its dims in this order; the graph transposes it back."""
    back = [order.index(i) for i in range(len(order))]
    with graph.inserting_after(node):
        restored = graph.call_function(torch.ops.aten.permute.default, (node, back))
    restored.meta.update(node.meta)
    node.replace_all_uses_with(restored)
    restored.args = (node, back)
    node.meta["val"] = node.meta["val"].permute(order)
    node.meta.pop("tensor_meta", None)


def results_of(graph: torch.fx.Graph) -> tuple[tuple[TensorSpec, ...], tuple[Any, ...]]:
    """The tensor results, and a template of all results: an index into them, or a constant, or a size expression."""
    output = next(node for node in graph.nodes if node.op == "output")
    specs: list[TensorSpec] = []
    template: list[Any] = []
    for node in output.args[0]:
        value = node.meta.get("val") if isinstance(node, torch.fx.Node) else node
        if isinstance(value, torch.Tensor):
            template.append(ResultSlot(len(specs)))
            specs.append(spec_of(node.name, value, node_line(node)))
        elif isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            template.append(_number(value))
        else:
            template.append(value)
    return tuple(specs), tuple(template)


def _number(value: Any) -> ResultNumber:
    return ResultNumber(plain(value.node.expr), value.node.pytype)


def keep_tensors_only(graph: torch.fx.Graph, kept: Mapping[str, bool]) -> None:
    """Drops placeholders and results that are no tensors: constants that export baked in, sizes, None."""
    output = next(node for node in graph.nodes if node.op == "output")
    tensors = [
        node
        for node in output.args[0]
        if isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor)
    ]
    output.args = (tuple(tensors),)
    for node in list(graph.nodes):
        if node.op == "placeholder" and not kept[node.name] and not node.users:
            graph.erase_node(node)
    graph.eliminate_dead_code()


def constraints_of(exported: ExportedProgram) -> dict[str, tuple[int, int | None]]:
    """The smallest and largest value of each symbolic size (None: unbounded)."""
    intervals: Mapping[Any, Any] = cast(Any, exported).range_constraints
    return {str(symbol): limits_of(interval) for symbol, interval in intervals.items()}


def limits_of(interval: Any) -> tuple[int, int | None]:
    """The ends of a range of PyTorch's."""
    return int(interval.lower), int(interval.upper) if interval.upper.is_Integer else None
