"""Each distinct call of an exported program is decomposed once, and equal ones get copies of what came of it.

    y = linear(x, v); z = linear(y, w)    ->    t = transpose(v); y = mm(x, t); u = transpose(w); z = mm(y, u)

`ExportedProgram.run_decompositions` traces each node of a program anew, through PyTorch's functionalization and dispatch, which
takes milliseconds; a model of many layers has few distinct ones. Calls are equal if they have the same op and constants, and
tensors of the same types, sizes, strides and places in their storage, of which the same ones are the same.

Legal iff

1. every node is a call of an op, or takes one of several results; an op in place changes its first argument and becomes the op
   that returns the new contents, which whoever reads the tensor later gets. What is changed is a whole tensor, an argument of the
   program or what an op has made, and no view of it that is there before a change is read afterwards. No result of the program
   shares memory with an argument that is changed, nor do two arguments, and no two of them are the same in the end;
2. all sizes are numbers: no size is open, and none depends on data;
3. each tensor is a plain strided one, and no op reads its arguments' memory by strides of its own (`as_strided`), nor does one
   that another is decomposed to: a tensor may have other strides than PyTorch's kernels would give it;
4. what the distinct calls are decomposed to has no constants of its own, and makes what they do. It may change arguments, such
   as a batch norm its running mean, under the conditions of 1. It asserts nothing of values.

Else there is no such program, and PyTorch decomposes it whole. Checks of what is known before the program runs are left out.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, cast

import torch
from torch._ops import OpOverload
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

from hotdesk.frontends.torch.call_tracing import fresh_like, trace_call
from hotdesk.frontends.torch.functionalized import is_mutable
from hotdesk.graphs import reached

Table: TypeAlias = "Mapping[Any, Callable[..., Any]]"
_aten: Any = torch.ops.aten
_BY_STRIDES = (_aten.as_strided.default, _aten.as_strided_copy.default, _aten.as_strided_scatter.default)
_LIKE_THE_CALL = ("stack_trace", "nn_module_stack", "torch_fn", "source_fn_stack")
"""What the nodes that a call is decomposed to are told of it."""
_TENSORS_OUT = (OutputKind.USER_OUTPUT, OutputKind.USER_INPUT_MUTATION)
_CHECK = _aten._assert_tensor_metadata.default
"""A check of what is known of a tensor before the program runs."""


def decomposed(program: ExportedProgram, table: Table) -> ExportedProgram | None:
    """The program with its calls decomposed, as `run_decompositions` does; None where that is not legal. It is left as it is."""
    calls = _distinct_calls(program)
    if calls is None:
        return None
    bodies = _bodies(program, calls, table)
    changes = None if bodies is None else _changes(program, calls, bodies)
    return None if bodies is None or changes is None else _with_bodies(program, calls, bodies, changes)


@dataclass(frozen=True, slots=True)
class _Calls:
    """The calls of a program.

    Attributes:
        first: the first of each kind, by its key.
        keys: the key of each.
    """

    first: dict[Hashable, Node]
    keys: dict[Node, Hashable]


_Changes: TypeAlias = "dict[Node, list[list[Node]]]"
"""For each call that changes tensors: the nodes that are the first of them, those that are the second, and so on."""


def _distinct_calls(program: ExportedProgram) -> _Calls | None:
    """None where the program is not one of conditions 1 to 3."""
    if any(spec.kind != OutputKind.USER_OUTPUT for spec in program.graph_signature.output_specs):
        return None
    first: dict[Hashable, Node] = {}
    keys: dict[Node, Hashable] = {}
    if not all(node.op == "output" or _is_plain(node.meta.get("val")) for node in program.graph.nodes):
        return None
    for node in program.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if node.op != "call_function":
            return None
        if node.target is operator.getitem or node.target is _CHECK:
            continue
        if not isinstance(node.target, OpOverload) or node.target in _BY_STRIDES:
            return None
        if not _results(node) or (is_mutable(node) and _changed(node) is None):
            return None
        keys[node] = key = _key(node)
        if _copied(node) is None:
            first.setdefault(key, node)
    calls = _Calls(first, keys)
    return None if _changes(program, calls, {}) is None else calls


def _copied(node: Node) -> Node | None:
    """The tensor whose contents a call copies, as they are, to the one it changes; None if it does anything else."""
    source = node.args[1] if node.target is _aten.copy_.default else None
    return source if isinstance(source, Node) and _type(node) == _type(source) else None


def _changed(node: Node) -> Node | None:
    """The tensor that an op in place changes; None if it may not become the one that returns the new contents."""
    changes = [argument.alias_info is not None for argument in cast(Any, node.target)._schema.arguments]
    if _functional(node.target) is None or changes != [True] + [False] * (len(changes) - 1):
        return None
    is_one = node.args and isinstance(node.args[0], Node) and isinstance(node.meta["val"], torch.Tensor)
    return cast(Node, node.args[0]) if is_one else None


def _changes(program: ExportedProgram, calls: _Calls, bodies: Mapping[Hashable, _Body]) -> _Changes | None:
    """What each call changes, itself or by its body; None against condition 1."""
    places = {node: place for place, node in enumerate(program.graph.nodes)}
    sharing = _sharing(program.graph)
    changes: _Changes = {}
    at = dict[int, list[int]]()
    for node, key in calls.keys.items():
        changed = [cast(Node, _changed(node))] if is_mutable(node) else []
        changed += [node.all_input_nodes[number] for number, _ in bodies[key].changes] if key in bodies else []
        for each in changed:
            storage = _storage(each)
            whole = _whole(sharing[storage])
            if each not in whole:
                return None
            changes.setdefault(node, []).append(whole)
            at.setdefault(storage, []).append(places[node])
    for storage, times in at.items():
        found, whole = sharing[storage], set(_whole(sharing[storage]))
        made, *others = found
        is_argument = made.op == "placeholder"
        if any(each.op == "placeholder" for each in others):
            return None
        if not is_argument and (is_mutable(made) or _makes_views(made)):
            return None
        for each in found:
            users = [places[user] for user in each.users]
            if is_argument and any(user.op == "output" for user in each.users):
                return None
            later = [time for time in times if time > places[each]]
            if each not in whole and later and max(users, default=-1) >= min(later):
                return None
    return changes


def _whole(sharing: list[Node]) -> list[Node]:
    """Of the nodes that share memory those that are the tensor which lies there, before or after changes of it in place."""
    first, whole = sharing[0], list[Node]()
    for node in sharing:
        is_taken = node.target is operator.getitem and node.args[0] is first and not _makes_views(first)
        is_made = node is first and isinstance(node.meta["val"], torch.Tensor)
        if is_made or is_taken or (is_mutable(node) and node.args[0] in whole):
            whole.append(node)
    return whole


def _makes_views(node: Node) -> bool:
    """Whether what a call makes may be a view of an argument."""
    if not isinstance(node.target, OpOverload):
        return True
    return any(each.alias_info is not None for each in cast(Any, node.target)._schema.returns)


def _sharing(graph: Graph) -> dict[int, list[Node]]:
    """The nodes whose tensors lie in the same memory, by that."""
    found = dict[int, list[Node]]()
    for node in graph.nodes:
        for each in () if node.op == "output" else pytree.tree_leaves(node.meta.get("val")):
            if isinstance(each, torch.Tensor):
                found.setdefault(cast(Any, each.untyped_storage())._cdata, []).append(node)
    return found


def _storage(node: Node) -> int:
    return node.meta["val"].untyped_storage()._cdata


@cache
def _functional(target: Any) -> Any:
    """The op that returns what one in place makes of its argument; None if there is none. Others are themselves."""
    if not target._schema.is_mutable:
        return target
    namespace, _, name = target._schema.name.partition("::")
    if not name.endswith("_") or name.endswith("__"):
        return None
    packet = getattr(getattr(torch.ops, namespace), name[:-1], None)
    found = getattr(packet, target._overloadname, None)
    if found is None or found._schema.is_mutable:
        return None
    known = [(each.name, str(each.type)) for each in target._schema.arguments]
    return found if known == [(each.name, str(each.type)) for each in found._schema.arguments] else None


def _is_plain(value: Any) -> bool:
    """Whether a value is a number that is known, or plain tensors of known sizes in nests of lists."""
    if isinstance(value, torch.Tensor):
        if type(value) is not FakeTensor or value.layout != torch.strided or value.is_quantized:
            return False
        numbers = (*value.shape, *value.stride(), value.storage_offset())
        return all(type(each) is int for each in numbers) and not (value.is_conj() or value.is_neg())
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _results(node: Node) -> tuple[Any, ...] | None:
    """The tensors that a call makes, None for those that it does not; nothing where it makes none, or numbers or lists too."""
    value = node.meta.get("val")
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    made = [each for each in values if each is not None]
    return values if made and all(isinstance(each, torch.Tensor) for each in made) else None


def _key(node: Node) -> Hashable:
    """What a call is decomposed to follows from this."""
    numbers = {each: number for number, each in enumerate(node.all_input_nodes)}
    leaves, structure = pytree.tree_flatten((node.args, node.kwargs))
    told = tuple(numbers[leaf] if isinstance(leaf, Node) else (type(leaf), repr(leaf)) for leaf in leaves)
    # An op in place computes in the type of what it changes, unlike the one that returns the same.
    made = tuple(None if each is None else _made_type(each) for each in _results(node) or ())
    return _functional(node.target), str(structure), told, tuple(_kind(each.meta["val"]) for each in numbers), made


def _kind(value: Any) -> Hashable:
    """All that is known of a tensor before the program runs."""
    if not isinstance(value, torch.Tensor):
        return repr(value)
    held = value.untyped_storage().nbytes()
    place = tuple(value.stride()), value.storage_offset(), held
    return (
        tuple(value.shape),
        value.dtype,
        place,
        value.device,
        isinstance(value, torch.nn.Parameter),
        value.requires_grad,
    )


@dataclass(frozen=True, slots=True)
class _Body:
    """What a call is decomposed to.

    Attributes:
        arguments: its placeholders, in the order of the call's `all_input_nodes`.
        nodes: its operations, in order.
        results: for each tensor that the call makes, the node that does; None for what is no tensor.
        changes: the arguments that it changes besides, by number, and the nodes that make their new contents.
    """

    arguments: tuple[Node, ...]
    nodes: tuple[Node, ...]
    results: tuple[Node | None, ...]
    changes: tuple[tuple[int, Node], ...]


def _bodies(program: ExportedProgram, calls: _Calls, table: Table) -> dict[Hashable, _Body] | None:
    """What each distinct call is decomposed to: traced by us where that is legal, all others by PyTorch, in one program.
    None against condition 4."""
    mode = next((v.fake_mode for v in _values(program) if isinstance(v, FakeTensor)), None)
    if mode is None:
        return None
    if not all(isinstance(e.meta["val"], torch.Tensor) for node in calls.first.values() for e in node.all_input_nodes):
        return None
    bodies = {key: body for key, call in calls.first.items() if (body := _traced_here(call, table, mode)) is not None}
    others = {key: call for key, call in calls.first.items() if key not in bodies}
    if not others:
        return bodies
    graph, results = Graph(), list[tuple[Node | None, ...]]()
    placeholders: dict[tuple[int, int], Node] = {}
    for number, node in enumerate(others.values()):
        for place, each in enumerate(node.all_input_nodes):
            made = graph.placeholder(f"argument_{number}_{place}")
            made.meta["val"] = fresh_like(each.meta["val"], mode)
            placeholders[number, place] = made
    for number, node in enumerate(others.values()):
        arguments = {each: placeholders[number, place] for place, each in enumerate(node.all_input_nodes)}
        copy = graph.node_copy(node, arguments.__getitem__)
        copy.target, copy.meta = _functional(node.target), dict(node.meta)
        value: Any = node.meta["val"]
        made = list[Node | None]()
        values: Any = value if isinstance(value, (tuple, list)) else ()
        for place, each in enumerate(values):
            item = None
            if isinstance(each, torch.Tensor):
                item = graph.call_function(operator.getitem, (copy, place))
                item.meta = {**copy.meta, "val": each}
            made.append(item)
        results.append(tuple(made) if isinstance(value, (tuple, list)) else (copy,))
    returned = tuple(each for row in results for each in row if each is not None)
    graph.output(returned)
    taken = _program(graph, program).run_decompositions(cast(Any, dict(table)))
    if taken.graph.find_nodes(op="call_function", target=_aten._assert_async.msg):
        return None
    if any(spec.kind not in _TENSORS_OUT for spec in taken.graph_signature.output_specs):
        return None
    if any(spec.kind != InputKind.USER_INPUT for spec in taken.graph_signature.input_specs):
        return None
    apart = _taken_apart(taken, others, results)
    return None if apart is None else bodies | apart


def _traced_here(call: Node, table: Table, mode: FakeTensorMode) -> _Body | None:
    """What one call is decomposed to, as `trace_call` has it; None if it is left to PyTorch."""
    found = trace_call(call, _functional(call.target), table, mode)
    expected = [None if each is None else _made_type(each) for each in _results(call) or ()]
    if found is None or [_type(each) for each in found.results] != expected:
        return None
    order = {node: number for number, node in enumerate(found.results[0].graph.nodes)}
    return _body(found.arguments, found.results, (), order)


def _values(program: ExportedProgram) -> list[Any]:
    return [leaf for node in program.graph.nodes for leaf in pytree.tree_leaves(node.meta.get("val"))]


def _program(graph: Graph, like: ExportedProgram) -> ExportedProgram:
    """A program of a graph from tensors to tensors."""
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    outputs = cast("tuple[Node, ...]", next(iter(reversed(graph.nodes))).args[0])
    signature = ExportGraphSignature(
        [InputSpec(InputKind.USER_INPUT, TensorArgument(node.name), None) for node in inputs],
        [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None) for node in outputs],
    )
    taken = pytree.tree_structure((tuple([0] * len(inputs)), {}))
    given = pytree.tree_structure(tuple([0] * len(outputs)))
    call = ModuleCallSignature([], [], taken, given, [node.name for node in inputs])
    return ExportedProgram(
        torch.nn.Module(),
        graph,
        signature,
        {},
        {},
        [ModuleCallEntry("", call)],
        constants={},
        verifiers=list(like.verifiers),
    )


def _taken_apart(
    taken: ExportedProgram, calls: Mapping[Hashable, Node], results: list[tuple[Node | None, ...]]
) -> dict[Hashable, _Body] | None:
    """The parts of a decomposed program, one for each call."""
    graph = taken.graph
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    outputs = next(iter(reversed(graph.nodes))).args[0]
    specs = list(zip(taken.graph_signature.output_specs, outputs, strict=True))
    contents = {spec.target: node for spec, node in specs if spec.kind == OutputKind.USER_INPUT_MUTATION}
    placeholders, returned = iter(inputs), iter(node for spec, node in specs if spec.kind == OutputKind.USER_OUTPUT)
    order = {node: number for number, node in enumerate(graph.nodes)}
    arguments = [tuple(next(placeholders) for _ in call.all_input_nodes) for call in calls.values()]
    bodies: dict[Hashable, _Body] = {}
    for key, own, row in zip(calls, arguments, results, strict=True):
        made = tuple(None if each is None else next(returned) for each in row)
        if any(n is not None and o is not None and _type(n) != _type(o) for n, o in zip(made, row, strict=True)):
            return None
        changes = tuple((place, contents[each.name]) for place, each in enumerate(own) if each.name in contents)
        body = _body(own, made, changes, order)
        if body is None:
            return None
        bodies[key] = body
    return bodies


def _body(
    own: tuple[Node, ...],
    made: tuple[Node | None, ...],
    changes: tuple[tuple[int, Node], ...],
    order: Mapping[Node, int],
) -> _Body | None:
    """The nodes, in this order, that results and changes need of what a call takes; None against condition 3 or 4."""
    ends = (*(each for each in made if each is not None), *(node for _, node in changes))
    nodes = reached(ends, lambda node: () if node in own else node.all_input_nodes).keys() - own
    if any(node.op != "call_function" or node.target in _BY_STRIDES for node in nodes):
        return None
    return _Body(own, tuple(sorted(nodes, key=order.__getitem__)), made, changes)


def _type(node: Node) -> Hashable:
    return _made_type(node.meta["val"])


def _made_type(value: torch.Tensor) -> Hashable:
    return tuple(value.shape), value.dtype


def _with_bodies(
    program: ExportedProgram, calls: _Calls, bodies: Mapping[Hashable, _Body], changes: _Changes
) -> ExportedProgram | None:
    """The program with a copy of its body for each call."""
    graph = Graph()
    made: dict[Node, Any] = {}
    for node in program.graph.nodes:
        if node.op == "output":
            changed = [each for each in made if each.op == "placeholder" and made[each].op != "placeholder"]
            contents = {made[each] for each in changed}
            if len(contents) < len(changed) or contents & {made[each] for each in node.all_input_nodes}:
                return None
            graph.output(torch.fx.map_arg((*changed, *node.args[0]), made.__getitem__))
            return _finished(program, graph, changed)
        if node.op == "placeholder":
            made[node] = graph.node_copy(node)
            made[node].name = node.name  # the signature has it, also where it is one of Python's own, such as `input`
        elif node.target is _CHECK:
            continue
        elif node.target is operator.getitem:
            made[node] = made[node.args[0]][node.args[1]]
        else:
            contents = list[Node]()
            source = _copied(node)
            if source is not None:
                made[node] = made[source]
            else:
                body = bodies[calls.keys[node]]
                copies = _inlined(graph, node, body, made)
                results = tuple(None if each is None else copies[each] for each in body.results)
                made[node] = results if isinstance(node.meta["val"], (tuple, list)) else results[0]
                contents = [copies[each] for _, each in body.changes]
            if is_mutable(node):
                contents.insert(0, made[node])
            for whole, new in zip(changes.get(node, ()), contents, strict=True):
                if new.op == "placeholder":  # no contents of its own
                    return None
                # Who reads what the call changes, from here on, reads these contents.
                made |= dict.fromkeys(whole, new)
    return None


def _inlined(graph: Graph, call: Node, body: _Body, made: Mapping[Node, Any]) -> dict[Node, Node]:
    """The nodes that compute what a call does, by those of its body."""
    copies: dict[Node, Node] = {
        argument: made[each] for argument, each in zip(body.arguments, call.all_input_nodes, strict=True)
    }
    told = {name: call.meta[name] for name in _LIKE_THE_CALL if name in call.meta}
    for node in body.nodes:
        copies[node] = copy = graph.node_copy(node, copies.__getitem__)
        copy.meta = {**node.meta, **told}
    return copies


def _finished(program: ExportedProgram, graph: Graph, changed: list[Node]) -> ExportedProgram:
    """The program of a graph that returns the new contents of arguments, and then the same as before."""
    graph.eliminate_dead_code()
    known, returned = program.graph_signature, next(iter(reversed(graph.nodes))).args[0]
    arguments = {spec.arg.name: spec for spec in known.input_specs if isinstance(spec.arg, TensorArgument)}
    specs = [*(_new_contents(arguments[node.name]) for node in changed), *known.output_specs]
    outputs = [
        OutputSpec(spec.kind, TensorArgument(node.name) if isinstance(node, Node) else spec.arg, spec.target)
        for spec, node in zip(specs, returned, strict=True)
    ]
    return ExportedProgram(
        torch.nn.Module(),
        graph,
        ExportGraphSignature(list(known.input_specs), outputs),
        program.state_dict,
        dict(program.range_constraints),
        deepcopy(program.module_call_graph[:1]),
        program.example_inputs,
        program.constants,
    )


def _new_contents(spec: InputSpec) -> OutputSpec:
    """What says of a result that it is what an argument has in the end."""
    if spec.kind == InputKind.USER_INPUT:
        return OutputSpec(OutputKind.USER_INPUT_MUTATION, spec.arg, spec.arg.name)
    kind = OutputKind.PARAMETER_MUTATION if spec.kind == InputKind.PARAMETER else OutputKind.BUFFER_MUTATION
    return OutputSpec(kind, spec.arg, spec.target)


__all__ = ["decomposed"]
