"""Repairs of exported graphs before torch.export makes them functional, of ops whose changes it drops or mistakes.

* `_foreach_copy_` becomes a `copy_` for each of its tensors;
* `copy_` is given what has the type and the sizes of its target: else that is taken for the new contents as it is, a float64 for
  those of a float32, one row for all rows;
* `copy_` is given a value of its own where two tensors would end with the same one: new contents are told apart by name;
* dropout that drops nothing gives its argument itself, which an op in place behind it changes: else there are two tensors.
"""

from __future__ import annotations

import copy
from typing import Any, cast

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from hotdesk.errors import ExportError
from hotdesk.frontends.torch.control_flow import all_graphs
from hotdesk.frontends.torch.lines import node_line, place_like

aten: Any = torch.ops.aten
_functorch: Any = cast(Any, torch)._C._functorch
_FRESH = (aten.lift_fresh_copy.default, aten.lift_fresh.default)
"""What `torch.tensor` makes in each call anew, of numbers that an exported program holds."""
_DROPOUTS = (
    *(aten.dropout.default, aten.dropout_.default),
    *(aten.alpha_dropout.default, aten.alpha_dropout_.default),
    *(aten.feature_dropout.default, aten.feature_dropout_.default),
    *(aten.feature_alpha_dropout.default, aten.feature_alpha_dropout_.default),
)


def prepared(program: ExportedProgram) -> ExportedProgram:
    """A program that is not functional yet, with graphs that are what they say: a copy, where anything is to be changed."""
    wrong = (_copies_of_lists, _incomplete_copies, _shared_copies, _idle_dropouts)
    if not any(find(graph) for graph in all_graphs(program.graph) for find in wrong):
        return program
    program = cast(Any, program)._update(copied(program.graph_module), program.graph_signature)
    for graph in all_graphs(program.graph):
        for node in _copies_of_lists(graph):
            _copy_each(node)
        for node in _incomplete_copies(graph):
            _complete(node)
        for node in _shared_copies(graph):
            node.update_arg(1, _before(node, aten.clone.default, cast(Any, node.args[1])))
        for node in _idle_dropouts(graph):
            node.target, node.args = aten.alias.default, node.args[:1]
    return program


def refuse_changed_attributes(program: ExportedProgram) -> None:
    """Raises ExportError if a tensor changes that is an attribute of the model and no buffer."""
    kinds = {
        spec.arg.name: spec for spec in program.graph_signature.input_specs if spec.kind == InputKind.CONSTANT_TENSOR
    }
    places = program.graph.find_nodes(op="placeholder") if kinds else []
    read = [node for node in places if node.name in kinds and not any(user.target in _FRESH for user in node.users)]
    held = {_memory(node): kinds[node.name].target for node in read}
    for node in filter(is_mutable, program.graph.nodes if held else ()):
        for changed in _changed(node):
            if (at := _memory(changed)) in held:
                raise ExportError(
                    f"the model changes `{held[at]}`",
                    expected="a buffer, which keeps its new contents",
                    got="a tensor that is an attribute",
                    where=node_line(node),
                    hint="Register it with `register_buffer`.",
                )


def copied(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """A copy whose nodes keep their names, which signatures know; a plain copy renames those named as a function of Python."""
    made = copy.deepcopy(module)
    for node, like in zip(made.graph.nodes, module.graph.nodes, strict=True):
        node.name = like.name
    return made


def is_mutable(node: torch.fx.Node) -> bool:
    """Whether a node is an op that changes arguments."""
    target: Any = node.target
    return isinstance(target, OpOverload) and bool(cast(Any, target)._schema.is_mutable)


def _copies_of_lists(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    """The calls that copy several tensors each."""
    return graph.find_nodes(op="call_function", target=aten._foreach_copy_.default)


def _copy_each(node: torch.fx.Node) -> None:
    """Puts a `copy_` for each tensor in the place of a call that copies several; it returns nothing."""
    for into, given in zip(*cast("tuple[Any, Any]", node.args[:2]), strict=True):
        with node.graph.inserting_before(node):
            made = node.graph.call_function(aten.copy_.default, (into, given))
        place_like(made, node)
        made.meta["val"] = into.meta["val"]
    node.graph.erase_node(node)


def _incomplete_copies(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    """The calls of `copy_` whose source is of another type or of other sizes than the target."""
    found: list[torch.fx.Node] = []
    for node in graph.find_nodes(op="call_function", target=aten.copy_.default):
        into, given = (each.meta["val"] for each in node.args[:2])
        if given.dtype != into.dtype or given.shape != into.shape:
            found.append(node)
    return found


def _complete(node: torch.fx.Node) -> None:
    """Gives a `copy_` a source of its target's type and sizes."""
    target, source = cast("tuple[Any, Any]", node.args[:2])
    into, given = target.meta["val"], source.meta["val"]
    if given.dtype != into.dtype:
        source = _before(node, aten._to_copy.default, source, dtype=into.dtype)
    if given.shape != into.shape:
        source = _before(node, aten.expand_as.default, source, target)
    node.update_arg(1, source)


def _shared_copies(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    """The calls of `copy_` whose source is that of another one, or a tensor that is changed itself."""
    copies = graph.find_nodes(op="call_function", target=aten.copy_.default)
    if not copies:
        return []
    sources = [_memory(node.args[1]) for node in copies]
    changed = {_memory(each) for node in graph.nodes if is_mutable(node) for each in _changed(node)}
    return [node for node, at in zip(copies, sources, strict=True) if at in changed or sources.count(at) > 1]


def _changed(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The tensors that an op in place changes."""
    arguments = cast(Any, node.target)._schema.arguments
    given: dict[str, Any] = {e.name: value for e, value in zip(arguments, node.args, strict=False)} | dict(node.kwargs)
    written: list[Any] = [given.get(e.name) for e in arguments if e.alias_info and e.alias_info.is_write]
    lists: list[list[Any]] = [[*value] if isinstance(value, (list, tuple)) else [value] for value in written]
    return [each for values in lists for each in values if each is not None]


def _memory(node: Any) -> int:
    """Where a tensor lies, told from others: views of one lie there, as what an op returns that gives its argument itself."""
    while isinstance(node.target, OpOverload):
        returned, given = cast(Any, node.target)._schema.returns, next(iter(node.args), None)
        if len(returned) != 1 or not returned[0].alias_info or not isinstance(given, torch.fx.Node):
            break  # what is not annotated has memory in common while it is not read from a file
        node = _changed(node)[0] if is_mutable(node) else given
    value = node.meta["val"]
    while _functorch.is_functorch_wrapped_tensor(value):  # one of a batch, within `torch.vmap`
        value = _functorch.get_unwrapped(value)
    return value.untyped_storage()._cdata


def _idle_dropouts(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    """The dropouts that drop nothing, where tensors change."""
    if not any(map(is_mutable, graph.nodes)):
        return []
    return [
        node for target in _DROPOUTS for node in graph.find_nodes(op="call_function", target=target) if not node.args[2]
    ]


def _before(node: torch.fx.Node, target: Any, *args: torch.fx.Node, **kwargs: Any) -> torch.fx.Node:
    with node.graph.inserting_before(node):
        made = node.graph.call_function(target, args, kwargs)
    place_like(made, node)
    with node.meta["val"].fake_mode:
        made.meta["val"] = target(*(each.meta["val"] for each in args), **kwargs)
    return made
