"""Tensors that the subgraphs of control flow hold, such as `torch.tensor(2.0)` in a branch, become arguments of the program.

    cond(p, f, g, (x,)), where f holds c    ->    cond(p, f, g, (x, c)), where c is a constant that torch.export has lifted

torch.export lifts what the graph itself holds, and leaves what a subgraph holds there, which `run_decompositions` fails on.

1. What a subgraph of a subgraph holds goes through both.
2. All subgraphs of an op take the same arguments: a branch gets those of the other one too.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, cast

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, TensorArgument

from hotdesk.frontends.torch.control_flow import all_graphs, is_control_flow, subgraphs
from hotdesk.frontends.torch.functionalized import copied

_LIKE = ("val", "example_value", "tensor_meta", "stack_trace", "nn_module_stack")


def lifted(program: ExportedProgram) -> ExportedProgram:
    """A program whose subgraphs hold no tensors: a copy, where any does."""
    _, *inner = all_graphs(program.graph)
    if not any(_held(graph) for graph in inner):
        return program
    module = copied(program.graph_module)
    _lift(module)
    specs, constants = list(program.graph_signature.input_specs), dict(program.constants)
    users = (number for number, spec in enumerate(specs) if spec.kind == InputKind.USER_INPUT)
    place = next(users, len(specs))
    before = [*module.graph.find_nodes(op="placeholder"), first_op(module.graph)][place]
    for node in _held(module.graph):
        argument = argument_like(before, node)
        name = argument.name
        while name in {each.partition(".")[0] for each in (*constants, *program.state_dict)}:  # names in the model
            name += "_"
        constants[name] = _take(node, argument)
        specs.insert(place, InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(argument.name), name))
        place += 1
    module.recompile()
    signature = ExportGraphSignature(specs, program.graph_signature.output_specs)
    return cast(Any, program)._update(module, signature, constants=constants)


def _lift(owner: torch.fx.GraphModule) -> None:
    """Makes `owner` hold what the subgraphs of its control flow do."""
    for node in [each for each in owner.graph.nodes if is_control_flow(each)]:
        inner = list(subgraphs(node))
        for subgraph in inner:
            _lift(subgraph)
        for subgraph in inner:
            for held in _held(subgraph.graph):
                arguments = [argument_like(first_op(each.graph), held) for each in inner]
                name, like = _free_name(owner), arguments[inner.index(subgraph)]
                owner.register_buffer(name, _take(held, like))
                with owner.graph.inserting_before(node):
                    given = owner.graph.get_attr(name)
                _mark(given, like)
                *others, operands = node.args
                node.args = (*others, (*cast("tuple[Any, ...]", operands), given))
        for subgraph in inner:
            subgraph.recompile()


def argument_like(before: torch.fx.Node, like: torch.fx.Node) -> torch.fx.Node:
    """One more argument of a graph, in front of a node, with a name that no other has."""
    with before.graph.inserting_before(before):
        argument = before.graph.placeholder("held")
    argument.target = argument.name
    _mark(argument, like)
    return argument


def first_op(graph: torch.fx.Graph) -> torch.fx.Node:
    """The first node that is no argument."""
    return next(node for node in graph.nodes if node.op != "placeholder")


def _mark(node: torch.fx.Node, like: torch.fx.Node) -> None:
    node.meta.update({key: like.meta[key] for key in _LIKE if key in like.meta})


def _take(held: torch.fx.Node, argument: torch.fx.Node) -> torch.Tensor:
    """Takes a tensor away from who holds it: what read it reads an argument."""
    owner = cast(Any, held.graph.owning_module)
    tensor: torch.Tensor = getattr(owner, str(held.target))
    held.replace_all_uses_with(argument)
    held.graph.erase_node(held)
    if all(str(node.target) != str(held.target) for node in held.graph.find_nodes(op="get_attr")):
        delattr(owner, str(held.target))
    return tensor


def _held(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    """The nodes that are tensors which a graph's module holds."""
    owner = graph.owning_module
    return [
        node
        for node in graph.find_nodes(op="get_attr")
        if isinstance(getattr(owner, str(node.target), None), torch.Tensor)
    ]


def _free_name(owner: torch.fx.GraphModule) -> str:
    number = 0
    while hasattr(owner, f"held_{number}"):
        number += 1
    return f"held_{number}"
