"""Graphs that Dynamo traced and AOTAutograd made functional: how they are taken apart, captured and called."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false, reportUnnecessaryIsInstance=false

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from typing import Any, cast

import torch
from torch._subclasses import FakeTensor
from torch.export import exported_program
from torch.export._trace import _ignore_backend_decomps
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import _disable_current_modes

from hotdesk.errors import DeviceError, UnsupportedOpError
from hotdesk.frontends import lowering_process
from hotdesk.frontends.captured import Captured, Weight
from hotdesk.frontends.torch.attention_gradient import BlockedAttention
from hotdesk.frontends.torch.calling import Carried, fill_template
from hotdesk.frontends.torch.carried import carrier, is_carried
from hotdesk.frontends.torch.decompositions.flex_attention import flex_attention_composed
from hotdesk.frontends.torch.decompositions.table import asked_before_autograd, decomposition_table, margins_composed
from hotdesk.frontends.torch.dims import SizeNames
from hotdesk.frontends.torch.export import lowered_graph
from hotdesk.frontends.torch.foreign import take_checks
from hotdesk.frontends.torch.lines import node_line
from hotdesk.frontends.torch.random import take_random_state
from hotdesk.frontends.torch.refusals import refuse_data_dependence, refuse_nodes
from hotdesk.frontends.torch.returned_views import Returned, ReturnedViews, take_returned_views
from hotdesk.frontends.torch.signature import (
    carried_types,
    keep_tensors_only,
    limits_of,
    order_in_memory,
    read_transposed,
    results_of,
)
from hotdesk.frontends.torch.specs import spec_of, unsupported_dtype
from hotdesk.frontends.torch.tracing_lock import traced_alone
from hotdesk.graphs import postorder
from hotdesk.runtime.interface import Calling, TensorSpec
from hotdesk.sizes.expressions import is_sum_of_products

Table = Mapping[Any, Callable[..., Any]]


@contextmanager
def tracing(*, has_gradients: bool) -> Generator[Table]:
    """While AOTAutograd traces a graph; gives the decompositions for it.

    Without gradients, composite ops are taken apart by our table or stay whole, as `torch.export` has it. With gradients autograd
    has to see what they are composed of; attention becomes products and a softmax, and its gradient the same by blocks, because
    PyTorch's own op for the CPU has a gradient without a decomposition.
    """
    if has_gradients:
        with (
            traced_alone(),
            BlockedAttention(),
            sdpa_kernel(SDPBackend.MATH),
            margins_composed(),
            flex_attention_composed(),
        ):
            yield {**decomposition_table(), **_of_dynamo()}
        return
    composite, below = _tables()
    preserved: Any = cast(Any, exported_program)._override_composite_implicit_decomp(composite)
    with traced_alone(), _ignore_backend_decomps(), preserved, asked_before_autograd(below), flex_attention_composed():
        yield {**below, **_of_dynamo()}


def transforms(module: torch.fx.GraphModule) -> bool:
    """Whether a graph of Dynamo's has a function of `torch.func` in it, such as `grad`: that has to see what ops are composed of.

    Of a composite op that stays whole, autograd would know no gradient, and `grad` would take zeros for it.
    """
    graphs = (each.graph for each in module.modules() if isinstance(each, torch.fx.GraphModule))
    return any(
        getattr(node.target, "__name__", "").endswith("_increment_nesting") or node.target is torch.autograd.grad
        for graph in graphs
        for node in graph.nodes
        if node.op == "call_function"
    )


def _of_dynamo() -> Table:
    """`fma`, which Dynamo makes of `addcmul`: a product and a sum, rounded twice, as eager `addcmul` is.

    The op is there once Dynamo has needed it.
    """
    prims: Any = torch.ops.prims
    return {prims.fma.default: _fma} if hasattr(prims, "fma") else {}


def _fma(first: torch.Tensor, second: Any, x: torch.Tensor) -> torch.Tensor:
    return first * second + x


@cache
def _tables() -> tuple[Table, Table]:
    """Our decompositions of composite ops, and of others."""
    return cast(Any, exported_program)._split_decomp_table_to_cia_and_python_decomp(decomposition_table())


@dataclass(frozen=True, slots=True)
class PassedOn:
    """A result that is an argument as it came, by the number of the argument."""

    number: int


class GraphCalling(Calling):
    """Takes the tensors that the program reads from the flat arguments of a graph, and puts results among what is no tensor.

    A result that is an argument passed on is a `PassedOn`, for whoever has the arguments.
    """

    def __init__(
        self,
        names: Sequence[str],
        places: Sequence[tuple[int, list[int] | None]],
        template: Sequence[Any],
        transposed: Mapping[int, list[int]],
        changed: Collection[int],
        carried: Carried,
        *,
        counts: Collection[int] = (),
        lengths: Mapping[int, int] | None = None,
        draws: bool,
        views: ReturnedViews | None = None,
    ) -> None:
        """`places` are those of the program's inputs among the flat arguments, each with the order in which its dims lie in
        memory if that is not the given one; `transposed` are the dims of results that were returned in the order of memory;
        `changed` are the flat arguments that a call changes, which AOTAutograd has made sure that no gradient is recorded of;
        `carried` are the element types that tensors of another type stand for; `counts` are the flat arguments that are numbers,
        of which the program takes tensors of that size; `lengths` are those of changed arguments of one dimension: AOTAutograd
        gives the whole storage for views that overlap, and has traced as much of it as they show; `draws` says whether the last
        argument is what random numbers follow from; `views` are made of arguments and results, and None until then.
        """
        self.draws = draws
        self.views = views
        self.counts = frozenset(counts)
        self._lengths = dict(lengths or {})
        self._names = tuple(names)
        self._places = tuple(places)
        self._template = tuple(template)
        self._transposed = dict(transposed)
        self._changed = frozenset(changed)
        self._carried = carried

    @property
    def parameters(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return tuple((name, (number,)) for number, name in enumerate(self._names))

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        given = [self._given(args[number], number) for number, _ in self._places]
        orders = [order for _, order in self._places]
        lying = [each if order is None else each.permute(order) for each, order in zip(given, orders, strict=True)]
        return self._carried.given(lying) if any(self._carried.inputs) else lying

    def _given(self, value: Any, number: int) -> Any:
        if number in self.counts:
            return _of_size(value)
        if number not in self._changed:
            return value
        length = self._lengths.get(number)
        return value.detach() if length is None or len(value) <= length else value.detach()[:length]

    def unflatten(self, results: Sequence[Any], symbols: Mapping[str, int], leaves: Sequence[object]) -> list[Any]:
        found = list(self._carried.made(results) if any(self._carried.results) else results)
        for number, dims in self._transposed.items():
            found[number] = found[number].permute(dims)
        return fill_template(self._template, found, symbols)


def capture_graph(
    module: torch.fx.GraphModule,
    donated: Collection[int] = (),
    *,
    foreign: bool = True,
    returned: Returned | None = None,
) -> Captured:
    """A functional graph of aten ops as linalg on tensors.

    Numbers among its arguments are sizes of its tensors, or counts, none of which may be below 0. Tensors that the graph module
    holds are weights. `donated` are the arguments, by number, that nobody reads after a call. Arguments that the graph copies new
    contents to, which is all that AOTAutograd leaves of ops in place, are changed where they lie. A program that draws random
    numbers takes what they follow from behind its other arguments: a seed and an offset. `foreign` says whether PyTorch's kernels
    may be called for ops that have no lowering; `returned` what is known of the results.

    Raises:
        DataDependentShapeError: a size depends on the values of a tensor.
        UnsupportedOpError: an op has no lowering, or an argument is a number that varies and no size.
    """
    lowering_process.prepare()
    with _disable_current_modes(), torch.no_grad():
        graph = deepcopy(module.graph)
        graph.owning_module = module
        refuse_data_dependence(graph, counted=False)
        tokens = take_checks(graph) if foreign else set[torch.fx.Node]()
        views = take_returned_views(graph, returned or Returned())
        draws = take_random_state(graph)
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        _spell_out_synonyms(graph)
        counts = _counts_as_sizes(graph, placeholders)
        _read_sizes_of_tensors(graph, placeholders)
        changes = _changes_apart(graph, placeholders)
        template = _results_apart(graph, placeholders)
        orders = {number: order for number, node in enumerate(placeholders) if (order := _order(node)) is not None}
        for number, order in orders.items():
            read_transposed(graph, placeholders[number], order)
        transposed = _returned_as_they_lie(graph)
        contents = _contents_returned(graph, changes, orders)
        results, computed = results_of(graph, SizeNames({}, ()), contents)
        computed_entries = iter(computed)
        held = _lifted(graph, module)
        numbers = [number for number, node in enumerate(placeholders) if _is_tensor(node) and node not in tokens]
        inputs = [
            replace(_input(placeholders[number], changed=number in changes), donated=number in donated)
            for number in numbers
        ]
        _refuse_hidden_sizes(inputs)
        names = SizeNames({}, inputs)
        if changes and not results:
            _depth_first(graph)
        is_kept = {
            node.name: _is_tensor(node) and node not in tokens for node in graph.nodes if node.op == "placeholder"
        }
        keep_tensors_only(graph, is_kept, contents)
        refuse_nodes(graph, foreign=foreign)
        full = [next(computed_entries) if entry is None else entry for entry in template]
        output: Any = next(node for node in graph.nodes if node.op == "output").args[0]
        carried = Carried(
            carried_types(placeholders[number].meta["val"] for number in numbers),
            carried_types(node.meta["val"] for node in output[: len(results)]),
        )
        lowered, calls = lowered_graph(graph, foreign=foreign, changes=bool(changes))
        return Captured(
            module=lowered,
            arguments=(*held, *map(names.spec, inputs)),
            results=tuple(map(names.spec, results)),
            constraints={names.of(symbol): limits for symbol, limits in _ranges(placeholders).items()},
            calling=GraphCalling(
                [spec.name for spec in inputs],
                [(number, orders.get(number)) for number in numbers],
                [names.result(entry) for entry in full],
                transposed,
                changes,
                carried,
                counts=counts,
                lengths=_lengths(placeholders, changes),
                draws=draws,
                views=views,
            ),
            foreign=tuple(call._replace(bytes=names.size(call.bytes)) for call in calls),
            state=tuple(len(held) + numbers.index(number) for number in changes),
        )


def _is_tensor(node: torch.fx.Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _input(node: torch.fx.Node, *, changed: bool) -> TensorSpec:
    value = node.meta["val"]
    if value.device.type != "cpu":
        raise DeviceError(f"argument '{node.name}'", expected="device cpu", got=str(value.device))
    if is_carried(value.dtype) and changed:
        raise unsupported_dtype(f"argument `{node.name}`, which changes,", value.dtype, node_line(node))
    return replace(spec_of(node.name, carrier(value)), changed=changed)


def _spell_out_synonyms(graph: torch.fx.Graph) -> None:
    """Divisions of numbers that vary, which PyTorch makes tensors after it has taken ops apart."""
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.true_divide.Tensor):
        node.target = torch.ops.aten.div.Tensor


def _counts_as_sizes(graph: torch.fx.Graph, placeholders: list[torch.fx.Node]) -> frozenset[int]:
    """Makes tensors without elements, whose first size they are, of integers among the arguments that are no size of a tensor.

    Their numbers among the arguments.
    """
    values = [node.meta["val"] for node in filter(_is_tensor, placeholders)]
    sizes = {size.node.expr for value in values for size in value.shape if isinstance(size, torch.SymInt)}
    found: set[int] = set()
    for number, node in enumerate(placeholders):
        value = node.meta.get("val")
        is_read = any(user.op != "output" for user in node.users)
        if not values or not is_read or not isinstance(value, torch.SymInt):
            continue
        expression = cast(Any, value).node.expr
        is_count = cast(Any, value).node.has_hint() and cast(Any, value).node.hint >= 0
        if is_count and expression.is_Symbol and expression not in sizes:
            node.meta["val"] = values[0].new_empty((value, 0), dtype=torch.uint8)
            with graph.inserting_before(next(each for each in graph.nodes if each.op != "placeholder")):
                read = graph.call_function(torch.ops.aten.sym_size.int, (node, 0))
            read.meta["val"] = value
            node.replace_all_uses_with(read, lambda user, read=read: user.op != "output" and user is not read)
            found.add(number)
    return frozenset(found)


def _refuse_hidden_sizes(inputs: Sequence[TensorSpec]) -> None:
    """Refuses symbols that no call tells: those of quotients, which several sizes give, and of products of unknown ones."""
    sizes = [(spec, size) for spec in inputs for size in spec.shape if not isinstance(size, int)]
    polynomials = [cast(Any, size).free_symbols for _, size in sizes if is_sum_of_products(size)]
    told: set[Any] = set()
    while solved := {symbol for symbols in polynomials if len(symbols - told) == 1 for symbol in symbols - told}:
        told |= solved
    for spec, size in sizes:
        if not cast(Any, size).free_symbols <= told:
            raise UnsupportedOpError(
                f"argument `{spec.name}` has a size that does not tell what it is made of",
                expected="one that gives the sizes in it, by itself or with others",
                got=str(size),
                hint="Compile it for fixed sizes: `torch.compile(..., dynamic=False)`.",
            )


def _of_size(count: int) -> torch.Tensor:
    return torch.empty((count, 0), dtype=torch.uint8, device="cpu")


def _read_sizes_of_tensors(graph: torch.fx.Graph, placeholders: list[torch.fx.Node]) -> None:
    """What reads an argument that is a size of a tensor among the arguments reads it off that tensor."""
    sized: dict[Any, tuple[torch.fx.Node, int]] = {}
    for node in filter(_is_tensor, placeholders):
        for dim, size in enumerate(node.meta["val"].shape):
            if isinstance(size, torch.SymInt):
                sized.setdefault(cast(Any, size).node.expr, (node, dim))
    symbols = {expression: place for expression, place in sized.items() if expression.is_Symbol}
    reads = [node for node in placeholders if isinstance(node.meta.get("val"), torch.SymInt) and node.users]
    with graph.inserting_before(next(node for node in graph.nodes if node.op != "placeholder")):
        for node in reads:
            value = node.meta["val"]
            expression = value.node.expr
            if expression in sized:
                read = graph.call_function(torch.ops.aten.sym_size.int, sized[expression])
                read.meta["val"] = value
            elif _is_computable(expression, symbols):
                read = _computed(graph, expression, symbols)
            else:
                continue
            node.replace_all_uses_with(read, lambda user: user.op != "output")


_FOLDED: Mapping[str, Callable[..., Any]] = {
    "Add": operator.add,
    "Mul": operator.mul,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Max": torch.sym_max,
    "Min": torch.sym_min,
}
"""PyTorch's functions of whole numbers, by the names of their expressions, as functions of two; more arguments one by one."""


def _is_computable(expression: Any, symbols: Collection[Any]) -> bool:
    """Whether a number is made of these symbols and whole numbers by functions that `_computed` has."""
    if expression.is_Symbol or expression.is_Integer:
        return expression.is_Integer or expression in symbols
    is_power = expression.is_Pow and expression.exp.is_Integer and expression.exp > 0
    is_known = is_power or type(expression).__name__ in _FOLDED
    return is_known and all(_is_computable(part, symbols) for part in expression.args)


def _computed(graph: torch.fx.Graph, expression: Any, symbols: Mapping[Any, tuple[torch.fx.Node, int]]) -> Any:
    """The value of such a number, over symbols that are sizes of tensors, as a node or a number."""

    def node(target: Callable[..., Any], *args: Any) -> torch.fx.Node:
        made = graph.call_function(target, args)
        made.meta["val"] = target(*(each.meta["val"] if isinstance(each, torch.fx.Node) else each for each in args))
        return made

    def value(part: Any) -> Any:
        if part.is_Symbol:
            return node(torch.ops.aten.sym_size.int, *symbols[part])
        if part.is_Integer:
            return int(part)
        if part.is_Pow:
            return reduce(partial(node, operator.mul), [value(part.base)] * int(part.exp))
        return reduce(partial(node, _FOLDED[type(part).__name__]), map(value, part.args))

    return value(expression)


def _changes_apart(graph: torch.fx.Graph, placeholders: list[torch.fx.Node]) -> dict[int, torch.fx.Node]:
    """Takes the copies to arguments out of the graph; the new contents of each argument, by its number."""
    changes: dict[int, torch.fx.Node] = {}
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default):
        place, value = node.args[:2]
        if place not in placeholders:
            continue
        if value is not place:
            changes[placeholders.index(place)] = value
        node.replace_all_uses_with(value)
        graph.erase_node(node)
    return changes


def _lengths(placeholders: Sequence[torch.fx.Node], changes: Collection[int]) -> dict[int, int]:
    """The sizes of changed arguments of one dimension, as far as they are known."""
    shapes = {number: placeholders[number].meta["val"].shape for number in changes}
    return {number: shape[0] for number, shape in shapes.items() if len(shape) == 1 and isinstance(shape[0], int)}


def _contents_returned(
    graph: torch.fx.Graph, changes: Mapping[int, torch.fx.Node], orders: Mapping[int, list[int]]
) -> range:
    """Returns new contents behind all results, with their dims in the order of the argument's memory; their places."""
    output = next(node for node in graph.nodes if node.op == "output")
    results: list[Any] = list(output.args[0])
    first = len(results)
    for number, value in changes.items():
        order = orders.get(number)
        results.append(value if order is None else _permuted(graph, value, order))
    output.args = (tuple(results),)
    return range(first, len(results))


def _depth_first(graph: torch.fx.Graph) -> None:
    """Computes what is returned one by one, each with all that it needs: an optimizer's lists of tensors do not live together."""
    output = next(node for node in graph.nodes if node.op == "output")
    last = next(node for node in reversed(graph.nodes) if node.op == "placeholder")
    for node in postorder(output.all_input_nodes, lambda each: each.all_input_nodes):
        if node.op != "placeholder":
            last.append(node)
            last = node


def _permuted(graph: torch.fx.Graph, node: torch.fx.Node, order: list[int]) -> torch.fx.Node:
    """A result with its dims in another order."""
    with graph.inserting_before(next(node for node in graph.nodes if node.op == "output")):
        made = graph.call_function(torch.ops.aten.permute.default, (node, order))
    made.meta.update(node.meta)
    made.meta.pop("tensor_meta", None)
    made.meta["val"] = node.meta["val"].permute(order)
    return made


def _results_apart(graph: torch.fx.Graph, placeholders: list[torch.fx.Node]) -> list[Any]:
    """Leaves each computed result to the graph once; for each result what it is, None for the next one that is computed."""
    output = next(node for node in graph.nodes if node.op == "output")
    template: list[Any] = []
    computed: list[Any] = []
    for value in output.args[0]:
        if value in placeholders:
            template.append(PassedOn(placeholders.index(value)))
        else:
            template.append(None)
            computed.append(value)
    output.args = (tuple(computed),)
    return template


def _order(node: Any) -> list[int] | None:
    """The dims of a tensor in the order in which they lie in memory, if that is known and not the given one."""
    value = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
    if not isinstance(value, torch.Tensor):
        return None
    is_open = any(isinstance(each, torch.SymInt) for each in (*value.shape, *value.stride()))
    if not is_open and value.is_contiguous():
        return None
    order = order_in_memory(value)
    return None if order == list(range(value.dim())) else order


def _returned_as_they_lie(graph: torch.fx.Graph) -> dict[int, list[int]]:
    """Returns results of other layouts with their dims in the order of memory; for each, by number, what undoes that."""
    output = next(node for node in graph.nodes if node.op == "output")
    results: list[Any] = list(output.args[0])
    undone: dict[int, list[int]] = {}
    tensors = 0
    for place, node in enumerate(results):
        order = _order(node)
        if order is not None:
            results[place] = _permuted(graph, node, order)
            undone[tensors] = [order.index(dim) for dim in range(len(order))]
        tensors += isinstance(node, torch.fx.Node) and _is_tensor(node)
    output.args = (tuple(results),)
    return undone


def _lifted(graph: torch.fx.Graph, module: torch.fx.GraphModule) -> list[Weight]:
    """Tensors that the graph module holds become arguments in front of all others."""
    weights: dict[str, tuple[torch.fx.Node, Weight]] = {}
    first = next(iter(graph.nodes))
    for node in list(graph.nodes):
        target = str(node.target)
        if node.op != "get_attr" or isinstance(getattr(module, target), torch.fx.GraphModule):
            continue
        if target not in weights:
            tensor = carrier(getattr(module, target).detach()).contiguous()
            with graph.inserting_before(first):
                argument = graph.placeholder(target)
            argument.meta["val"] = node.meta.get("val", getattr(module, target))
            weights[target] = (argument, Weight(spec_of(target, tensor), tensor))
        node.replace_all_uses_with(weights[target][0])
        graph.erase_node(node)
    return [weight for _, weight in weights.values()]


def _ranges(placeholders: list[torch.fx.Node]) -> dict[str, tuple[int, int | None]]:
    """The smallest and largest value of each symbol in the sizes of inputs."""
    found: dict[str, tuple[int, int | None]] = {}
    for node in filter(_is_tensor, placeholders):
        value = node.meta["val"]
        environment = value.fake_mode.shape_env if isinstance(value, FakeTensor) else None
        for size in value.shape:
            if isinstance(size, torch.SymInt):
                for symbol in cast(Any, size).node.expr.free_symbols:
                    found[str(symbol)] = limits_of(cast(Any, environment).var_to_range[symbol])
    return found
