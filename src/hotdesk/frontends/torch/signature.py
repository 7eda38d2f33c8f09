"""The signature of an exported program: its arguments, its results, and a graph that has tensors alone at its ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

import sympy
import torch
from torch._ops import OpOverload
from torch._subclasses import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true
from torch.utils._sympy.symbol import SymT, symbol_is_type

from hotdesk.errors import DeviceError
from hotdesk.frontends.captured import Weight
from hotdesk.frontends.torch.calling import ResultHeld, ResultNumber, ResultSlot
from hotdesk.frontends.torch.carried import carrier, is_carried
from hotdesk.frontends.torch.cutting import shape_expressions
from hotdesk.frontends.torch.data_sizes import delivered
from hotdesk.frontends.torch.dims import SizeNames
from hotdesk.frontends.torch.lines import node_line, place_like
from hotdesk.frontends.torch.refusals import refuse_shared_state
from hotdesk.frontends.torch.specs import DTYPES, spec_of
from hotdesk.frontends.torch.symbolic_numbers import NUMBERS, expression_at, plain
from hotdesk.runtime.interface import TensorSpec, spell
from hotdesk.sizes.size import spelled

_CARRIED = (SymT.UNBACKED_INT, SymT.UNBACKED_FLOAT)
"""The symbols of numbers that control flow carries."""
_CHANGES = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)


def arguments_of(exported: ExportedProgram) -> tuple[tuple[Weight | TensorSpec, ...], dict[str, bool]]:
    """The arguments of `@main`, and for each placeholder whether it is one of them.

    Raises:
        UnsupportedMutationError: a tensor that the model changes shares memory with another one, or has gaps.
    """
    changes, targets, tensors = _changes(exported), _targets(exported), _tensors(exported)
    changed = {targets[name]: node_line(node) for name, node in changes.items() if targets.get(name) in tensors}
    refuse_shared_state(changed, tensors)
    places = mutations(exported)
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
            arguments.append(replace(spec_of(name, carrier(value)), changed=name in changes))
            continue
        target = str(spec.target)
        # Keeps this memory, also when the model is given other (`.to`, `.data =`).
        tensor: Any = _tensor(exported, target).detach()
        if tensor.device.type != "cpu":
            raise DeviceError(
                f"weight '{target}'", expected="device cpu", got=str(tensor.device), hint="Move the model."
            )
        if is_carried(tensor.dtype):
            tensor = carrier(tensor).contiguous()
        if not tensor.is_contiguous():
            tensor = _laid_out(exported.graph, name, tensor, places.get(name))
        arguments.append(Weight(spec_of(target, tensor), tensor))
    return tuple(arguments), kept


def state_of(exported: ExportedProgram) -> tuple[int, ...]:
    """The arguments of `@main`, by number, whose new contents the graph returns, in the order in which it does."""
    values = {node.name: node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"}
    specs = [spec for spec in exported.graph_signature.input_specs if isinstance(values[spec.arg.name], torch.Tensor)]
    numbers = {spec.arg.name: number for number, spec in enumerate(specs)}
    return tuple(numbers[name] for name in mutations(exported))


def refuse_ties(exported: ExportedProgram) -> None:
    """Refuses tensors of the model that share memory with one that it changes, while the graph still says so by ops in place."""
    names = _targets(exported)
    changed: dict[str, str] = {}
    for node in exported.graph.nodes:
        target: Any = node.target
        if not isinstance(target, OpOverload) or not cast(Any, target)._schema.is_mutable:
            continue
        source: Any = node
        while isinstance(source, torch.fx.Node) and source.op == "call_function" and source.args:
            source = source.args[0]
        if isinstance(source, torch.fx.Node) and source.name in names:
            changed.setdefault(names[source.name], node_line(node))
    refuse_shared_state(changed, _tensors(exported))


def mutations(exported: ExportedProgram) -> dict[str, int]:
    """What the graph returns as new contents: its place among all that it returns, by the placeholder of what changes.

    A tensor of the model may have the name of an input.
    """
    placeholders = {target: name for name, target in _targets(exported).items()}
    found: dict[str, int] = {}
    for place, spec in enumerate(exported.graph_signature.output_specs):
        if spec.kind in _CHANGES:
            target = str(spec.target)
            found[target if spec.kind == OutputKind.USER_INPUT_MUTATION else placeholders[target]] = place
    return found


def _targets(exported: ExportedProgram) -> dict[str, str]:
    """The names of the model's tensors, by their placeholders."""
    specs = exported.graph_signature.input_specs
    return {
        spec.arg.name: str(spec.target)
        for spec in specs
        if spec.kind != InputKind.USER_INPUT and spec.target is not None
    }


def _changes(exported: ExportedProgram) -> dict[str, torch.fx.Node]:
    """The values that tensors and inputs have in the end, by their placeholders."""
    returned = _output(exported.graph).args[0]
    return {name: cast(Any, returned)[place] for name, place in mutations(exported).items()}


def _output(graph: torch.fx.Graph) -> torch.fx.Node:
    return next(node for node in reversed(graph.nodes) if node.op == "output")


def _tensor(exported: ExportedProgram, target: str) -> torch.Tensor:
    found: Any = exported.state_dict.get(target)
    return found if found is not None else cast(Any, exported.constants[target])


def _tensors(exported: ExportedProgram) -> dict[str, torch.Tensor]:
    """The tensors of the model that the program uses, by name."""
    found = {target: _tensor(exported, target) for target in _targets(exported).values()}
    return {
        name: each for name, each in found.items() if type(each) is torch.Tensor or isinstance(each, torch.nn.Parameter)
    }


def _laid_out(graph: torch.fx.Graph, name: str, tensor: torch.Tensor, returned: int | None) -> torch.Tensor:
    """The same memory as a contiguous tensor, which the graph transposes back; a copy where the memory has gaps.

    If the graph has returned its new contents at a place, it returns them in the order of the memory.
    """
    order = order_in_memory(tensor)
    if order is None or tensor.is_conj() or tensor.is_neg():
        return tensor.contiguous()
    read_transposed(graph, next(node for node in graph.nodes if node.name == name), order)
    if returned is not None:
        output = _output(graph)
        values: list[Any] = list(cast(Any, output.args[0]))
        with graph.inserting_before(output):
            new = graph.call_function(torch.ops.aten.permute.default, (values[returned], order))
        new.meta.update(values[returned].meta)
        new.meta["val"] = values[returned].meta["val"].permute(order)
        new.meta.pop("tensor_meta", None)
        values[returned] = new
        output.args = (tuple(values),)
    return tensor.permute(order)


def order_in_memory(tensor: torch.Tensor) -> list[int] | None:
    """The dims of a tensor from the slowest to the fastest, if it has no gaps in this order for all sizes that it may have."""
    sizes, strides = tensor.shape, tensor.stride()
    if any(isinstance(each, torch.SymInt) and not cast(Any, each).node.has_hint() for each in (*sizes, *strides)):
        return None
    order = sorted(range(tensor.dim()), key=lambda i: (-_example(strides[i]), i))
    within: Any = 1
    for dim in reversed(order):
        if not statically_known_true(sizes[dim] == 1):
            if not statically_known_true(strides[dim] == within):
                return order if statically_known_true(tensor.numel() == 0) else None
            within = within * sizes[dim]
    return order


def _example(size: Any) -> int:
    """A size, or what it is in the call that was traced."""
    return cast(Any, size).node.hint if isinstance(size, torch.SymInt) else size


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


def results_of(
    graph: torch.fx.Graph, names: SizeNames, changes: Collection[int] = ()
) -> tuple[tuple[TensorSpec, ...], tuple[Any, ...]]:
    """The tensor results, and a template of all results: an index into them, or a constant, or a size expression.

    `changes` are the places of what a graph returns that are new contents of arguments. Sizes that are known only when the
    program runs are told by their `names`.
    """
    specs: list[TensorSpec] = []
    template: list[Any] = []
    deliveries: dict[torch.fx.Node, tuple[int, torch.fx.Node]] = {}
    for place, node in enumerate(cast(Any, _output(graph).args[0])):
        if place in changes:
            continue
        value = node.meta.get("val") if isinstance(node, torch.fx.Node) else node
        if isinstance(value, torch.Tensor) and free_unbacked_symbols(value.shape):
            counted = cast(torch.fx.Node, node)
            if counted not in deliveries:  # what is returned twice is delivered once
                deliveries[counted] = len(specs), delivered(graph, counted, len(specs))
                _return_instead(graph, counted, deliveries[counted][1])
            first, made = deliveries[counted]
            template.append(ResultSlot(first))
            sizes = [spelled(names.size(size)) for size in shape_expressions(value)]
            told = spell(DTYPES.get(value.dtype, str(value.dtype)), sizes)
            specs.append(replace(spec_of(made.name, made.meta["val"], node_line(counted)), counted=told))
        elif isinstance(value, torch.Tensor):
            template.append(ResultSlot(len(specs)))
            specs.append(spec_of(node.name, carrier(value), node_line(node)))
        elif isinstance(value, NUMBERS):
            if isinstance(node, torch.fx.Node) and free_unbacked_symbols(value):
                template.append(ResultHeld(len(specs)))
                specs.append(spec_of(node.name, _held(graph, node), node_line(node)))
            else:
                template.append(ResultNumber(plain(expression_at(node)), cast(Any, value).node.pytype))
        else:
            template.append(value)
    return tuple(specs), tuple(template)


def _held(graph: torch.fx.Graph, number: torch.fx.Node) -> torch.Tensor:
    """Has the graph return a number as a tensor of one element."""
    dtype = {int: torch.int64, float: torch.float64, bool: torch.bool}[number.meta["val"].node.pytype]
    with graph.inserting_before(_output(graph)):
        held = graph.call_function(torch.ops.aten.scalar_tensor.default, (number,), {"dtype": dtype})
    place_like(held, number)
    with FakeTensorMode():
        held.meta["val"] = torch.empty((), dtype=dtype, device="cpu")
    _return_instead(graph, number, held)
    return held.meta["val"]


def _return_instead(graph: torch.fx.Graph, node: torch.fx.Node, other: torch.fx.Node) -> None:
    output = _output(graph)
    output.args = (tuple(other if each is node else each for each in cast(Any, output.args[0])),)


def carried_dtypes(
    exported: ExportedProgram, changes: Collection[int]
) -> tuple[tuple[torch.dtype | None, ...], tuple[torch.dtype | None, ...]]:
    """The element types of inputs and of results that are carried by others; None for the rest.

    `changes` are the places of what the graph returns that are new contents of arguments.
    """
    values = {node.name: node.meta.get("val") for node in exported.graph.nodes}
    users = [s.arg.name for s in exported.graph_signature.input_specs if s.kind == InputKind.USER_INPUT]
    output = next(node for node in exported.graph.nodes if node.op == "output")
    given = (values.get(name) for name in users)
    returned = [node for place, node in enumerate(output.args[0]) if place not in changes]
    made = (node.meta.get("val") if isinstance(node, torch.fx.Node) else None for node in returned)
    return carried_types(given), carried_types(made)


def carried_types(values: Iterable[Any]) -> tuple[torch.dtype | None, ...]:
    """The element types of those of the values that are tensors, where another one carries it; None for the rest."""
    tensors = (value for value in values if isinstance(value, torch.Tensor))
    return tuple(each.dtype if is_carried(each.dtype) else None for each in tensors)


def keep_tensors_only(graph: torch.fx.Graph, kept: Mapping[str, bool], changes: Collection[int] = ()) -> None:
    """Drops placeholders and results that are no tensors: constants that export baked in, sizes, None.

    New contents of arguments, at the places `changes` of what the graph returns, are returned behind the results.
    """
    output = _output(graph)
    returned: list[Any] = list(cast(Any, output.args[0]))
    results = [node for place, node in enumerate(returned) if place not in changes]
    tensors = [
        node
        for node in (*results, *(returned[place] for place in changes))
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
    return {str(size): limits_of(each) for size, each in intervals.items() if not _is_carried(size)}


def _is_carried(size: sympy.Expr) -> bool:
    """Whether a size, a symbol or what is made of some, is a number that a loop carries."""
    return isinstance(size, sympy.Symbol) and symbol_is_type(size, _CARRIED)


def limits_of(interval: Any) -> tuple[int, int | None]:
    """The ends of a range of PyTorch's, of what is not below 0."""
    lower, upper = (int(end) if end.is_Integer else None for end in (interval.lower, interval.upper))
    return max(lower or 0, 0), upper
