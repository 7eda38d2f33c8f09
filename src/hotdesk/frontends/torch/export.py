"""PyTorch models through `torch.export`: every parameter, buffer and lifted constant becomes an argument of `@main`.

Nothing is embedded: the stateless FX graph is imported with its placeholders as they are, and each weight argument points at
the tensor that the model holds.
"""

from __future__ import annotations

import operator
import re
import time
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch.export import ExportedProgram

from hotdesk._bindings import import_fx_graph, ir
from hotdesk.errors import HotdeskError, UnsupportedOpError
from hotdesk.frontends import lowering_process
from hotdesk.frontends.captured import Captured, Weight
from hotdesk.frontends.lowering_process import LIMIT_OF_A_TRIAL, LoweringDied, LoweringFailed, lowered
from hotdesk.frontends.torch import distinct_calls, functionalized, subgraph_constants
from hotdesk.frontends.torch.advanced_indexing import Gather, is_gather
from hotdesk.frontends.torch.assigned import assignments_written
from hotdesk.frontends.torch.calling import Carried, TorchCalling
from hotdesk.frontends.torch.carried import carrier
from hotdesk.frontends.torch.check_messages import CheckMessages, check_messages, check_messages_kept
from hotdesk.frontends.torch.constants import other_results_told, refuse_other_arguments, without_held
from hotdesk.frontends.torch.control_flow import all_graphs, control_flow_op, is_control_flow
from hotdesk.frontends.torch.cutting import Maker, cut, joined, shape_expressions
from hotdesk.frontends.torch.data_sizes import data_maker, defined_symbols
from hotdesk.frontends.torch.decompositions.asserted import assertions_kept
from hotdesk.frontends.torch.decompositions.causal_masks import masks_taken_as_they_are
from hotdesk.frontends.torch.decompositions.cross_map import cross_maps_composed
from hotdesk.frontends.torch.decompositions.cumulative_average import cumulative_averages_composed
from hotdesk.frontends.torch.decompositions.flex_attention import flex_attention_composed
from hotdesk.frontends.torch.decompositions.replaced_functions import ReplacedFunctions
from hotdesk.frontends.torch.decompositions.table import asked_before_autograd, decomposition_table
from hotdesk.frontends.torch.dims import SizeNames, dimension_names, merged_limits, merged_names
from hotdesk.frontends.torch.empties import settle_empties
from hotdesk.frontends.torch.examples import told_apart
from hotdesk.frontends.torch.foreign import Foreign, can_be_called, carried_nodes, foreign_op, take_checks, take_tokens
from hotdesk.frontends.torch.identity import identity
from hotdesk.frontends.torch.keyed_containers import key_containers
from hotdesk.frontends.torch.lines import generated_code, name_places, name_users_lines
from hotdesk.frontends.torch.pooled_places import settle_places
from hotdesk.frontends.torch.random import Draw, is_draw, thread_random_state
from hotdesk.frontends.torch.refusals import (
    UNTRUSTED,
    assumed,
    assumed_in_decompositions,
    environment_of,
    guards_of,
    named_op,
    refusals,
    refuse_data_dependence,
    refuse_gradients,
    refuse_nodes,
    refuse_numbers_beyond_elements,
    refuse_settled_counts,
    require_that_it_takes,
    unreadable,
    untrusted,
    without_lowering,
)
from hotdesk.frontends.torch.refused_types import refuse_types_without_kernel
from hotdesk.frontends.torch.reinterpreted import Reinterpreted, is_reinterpretation
from hotdesk.frontends.torch.running_extremes import RunningExtreme, is_running_extreme
from hotdesk.frontends.torch.selections import settle_selections
from hotdesk.frontends.torch.signature import (
    arguments_of,
    carried_dtypes,
    constraints_of,
    keep_tensors_only,
    mutations,
    refuse_ties,
    results_of,
    state_of,
)
from hotdesk.frontends.torch.size_checks import forget_places, take_size_checks
from hotdesk.frontends.torch.size_numbers import SizeNumber, is_size_number, sizes_with_signs
from hotdesk.frontends.torch.size_values import Check
from hotdesk.frontends.torch.splats import fold_splats
from hotdesk.frontends.torch.tensor_assertions import assertions_returned
from hotdesk.frontends.torch.tracing_lock import traced_alone
from hotdesk.frontends.torch.transposed_writes import untranspose_writes
from hotdesk.frontends.torch.unwritten_code import code_put_off
from hotdesk.frontends.torch.views import spell_out_views
from hotdesk.ir.context import make_context
from hotdesk.runtime.code.foreign import ForeignCall
from hotdesk.runtime.interface import TensorSpec
from hotdesk.sizes.size import spelled, symbols_of

_TO_TORCH_BACKEND = (
    "func.func(torch-match-quantized-custom-ops),torchdynamo-export-to-torch-backend-pipeline"
    "{backend-legal-ops=aten.flatten.using_ints,aten.unflatten.int extra-library=}"
)
_PIPELINES = (_TO_TORCH_BACKEND, "torch-backend-to-linalg-on-tensors-backend-pipeline{allow-non-finites=true}")


def capture(
    model: torch.nn.Module | ExportedProgram,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
) -> Captured:
    """Exports a model and lowers it to linalg on tensors.

    Args:
        model: a module, which is exported with `args` and `kwargs`, or an `ExportedProgram`.
        args, kwargs: example arguments; their sizes are fixed unless `dynamic_shapes` frees them.
        dynamic_shapes: as `torch.export.export` takes it.

    Raises:
        ExportError: `torch.export` refused the model.
        DataDependentShapeError: a size depends on the values of a tensor.
        UnsupportedMutationError: the model changes a buffer that shares memory with another one, or has gaps.
        UnsupportedOpError: an op has no lowering.
    """
    return lower(export(model, args, kwargs, dynamic_shapes=dynamic_shapes))


@dataclass(frozen=True, slots=True)
class Exported:
    """What `torch.export` made of a model.

    Attributes:
        program: before anything is decomposed.
        guards: what PyTorch had assumed about sizes by then.
        named: the symbol of each size that the user has named.
        held: constants among the arguments that the program was exported without, by path.
        seconds: how long it took.
    """

    program: ExportedProgram
    guards: tuple[Any, ...]
    named: Mapping[str, str]
    held: Mapping[str, Any]
    seconds: float

    def identity(self) -> str | None:
        """What all that `lower` makes follows from, as text; None if there is no such text."""
        return identity(self.program, self.guards, environment_of(self.program), self.named)


def export(
    model: torch.nn.Module | ExportedProgram,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
) -> Exported:
    """The first half of `capture`. Raises ExportError and DataDependentShapeError."""
    start = time.perf_counter()
    with traced_alone(), _quietly():
        key_containers()
        with refusals(), assertions_kept(), generated_code() as traces:
            left, positional, named, held = _without_held(model, args, kwargs or {})
            given = told_apart(model, (positional, named))
            try:
                exported = _exported(left, *given, dynamic_shapes)
            except Exception:
                require_that_it_takes(model, args, kwargs or {})
                raise
        name_users_lines(all_graphs(exported.graph), traces)
        with refusals():
            guards = guards_of(exported)
    named = dimension_names(environment_of(exported))
    return Exported(exported, tuple(guards), named, held, time.perf_counter() - start)


def lower(source: Exported, *, foreign: bool = True, seed: int = 0) -> Captured:
    """The second half of `capture`: an exported program as linalg on tensors. Raises what `capture` does.

    `foreign` says whether PyTorch's kernels may be called for ops that have no lowering. Random numbers begin at `seed`.
    """
    start = time.perf_counter()
    lowering_process.prepare()
    with traced_alone(), _quietly(), refusals(), assertions_kept():
        refuse_settled_counts(source.program.graph)
        refuse_numbers_beyond_elements(source.program.graph)
        refuse_types_without_kernel(source.program.graph)
        functionalized.refuse_changed_attributes(source.program)
        exported = _decomposed(functionalized.prepared(subgraph_constants.lifted(source.program)))
    for graph in all_graphs(exported.graph):
        forget_places(graph)
    refuse_data_dependence(exported.graph, foreign=foreign)
    after_decompositions = time.perf_counter()
    if foreign:
        take_checks(exported.graph)
        take_tokens(exported)
    thread_random_state(exported, seed)
    refuse_nodes(exported.graph, foreign=foreign)
    arguments, placeholders = arguments_of(exported)
    inputs = [argument for argument in arguments if isinstance(argument, TensorSpec)]
    environment = environment_of(exported)
    named = merged_names(environment, source.named)
    called = SizeNames(named, inputs, all_graphs(exported.graph))
    limits = merged_limits(environment, constraints_of(exported), constraints_of(source.program))
    later = assumed_in_decompositions(exported, len(source.guards), limits, inputs, called, source.named.values())
    changes = mutations(exported)
    results, template = results_of(exported.graph, called, changes.values())
    state = state_of(exported)
    carried = Carried(*carried_dtypes(exported, changes.values()))
    keep_tensors_only(exported.graph, placeholders, changes.values())
    specs = [argument.spec if isinstance(argument, Weight) else argument for argument in arguments]
    messages = check_messages(environment, source.program.graph)
    lowering = _GraphLowering(foreign=foreign, names=called, messages=messages, changes=bool(changes))
    module = lowering.run(exported.graph, [spec.shape for spec in specs])
    forget_trace()
    return Captured(
        module=module,
        arguments=tuple(called.spec(a) if isinstance(a, TensorSpec) else a for a in arguments),
        results=tuple(map(called.spec, results)),
        constraints={called.of(symbol): ends for symbol, ends in limits.items()},
        calling=TorchCalling(exported, tuple(map(called.result, template)), carried, source.held),
        timings={
            "export": source.seconds,
            "decompose": after_decompositions - start,
            "import": time.perf_counter() - after_decompositions,
        },
        names={name: called.of(symbol) for name, symbol in named.items()},
        assumptions=tuple(called.size(relation) for relation in (*assumed(exported, source.guards, inputs), *later)),
        state=state,
        foreign=tuple(call._replace(bytes=called.size(call.bytes)) for call in lowering.calls),
    )


@contextmanager
def _quietly() -> Generator[None]:
    """Without gradients, and without a warning of torch.export's own making."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        yield


def _without_held(
    model: torch.nn.Module | ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[torch.nn.Module | ExportedProgram, tuple[Any, ...], dict[str, Any], dict[str, Any]]:
    if isinstance(model, ExportedProgram):
        return model, args, dict(kwargs), {}
    refuse_other_arguments(model.forward, args, kwargs)
    return without_held(model, args, kwargs)


def _exported(
    model: torch.nn.Module | ExportedProgram, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any
) -> ExportedProgram:
    if isinstance(model, ExportedProgram):
        return model
    with (
        other_results_told(model),
        ReplacedFunctions(),
        cross_maps_composed(),
        cumulative_averages_composed(),
        masks_taken_as_they_are(),
        check_messages_kept(),
        assignments_written(model) as assigned,
    ):
        program = torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
    assigned.refuse_lost(program)
    refuse_gradients(program)
    return program


def _decomposed(exported: ExportedProgram) -> ExportedProgram:
    try:
        with code_put_off(), check_messages_kept():
            table = decomposition_table(exported=True)
            with asked_before_autograd(tuple(table)), flex_attention_composed():
                return distinct_calls.decomposed(exported, table) or cast(Any, exported).run_decompositions(table)
    except AssertionError:  # PyTorch asserts that tensors which change share no memory
        refuse_ties(exported)
        raise


def _imported(graph: torch.fx.Graph) -> ir.Module:
    try:
        return import_fx_graph(make_context(), graph, "main")
    except Exception as error:
        raise unreadable(error) from error


def lowered_graph(
    graph: torch.fx.Graph, *, foreign: bool = False, changes: bool = False
) -> tuple[ir.Module, Sequence[ForeignCall]]:
    """A graph of aten ops that has tensors alone at its ends, as linalg on tensors, and what it calls. The graph is changed.

    `foreign` says whether PyTorch's kernels may be called for ops that have no lowering; `changes` says whether arguments
    change: then no call that fails a check should, as far as the check can go first.

    Raises UnsupportedOpError for an op without a lowering.
    """
    arguments = [shape_expressions(carrier(node.meta["val"])) for node in graph.find_nodes(op="placeholder")]
    messages = CheckMessages({}, {})
    lowering = _GraphLowering(foreign=foreign, names=SizeNames({}, ()), messages=messages, changes=changes)
    return lowering.run(graph, arguments), lowering.calls


def _settle(graph: torch.fx.Graph) -> None:
    name_places(graph)
    settle_empties(graph)
    fold_splats(graph)
    untranspose_writes(graph)
    spell_out_views(graph)


class _GraphLowering:
    """The lowering of a graph, and of the subgraphs of its control flow, into one MLIR context.

    Attributes:
        calls: those of ops that have no lowering.
    """

    def __init__(self, *, foreign: bool, names: SizeNames, messages: CheckMessages, changes: bool = False) -> None:
        """`foreign` says whether PyTorch's kernels may be called for ops that have no lowering; `names` are told in checks,
        with their `messages`; `changes` says whether arguments change, which no call that fails a check should."""
        self._foreign = foreign
        self._changes = changes
        self._names = names
        self._messages = messages
        self._context = make_context()
        self.calls: list[ForeignCall] = []

    def run(self, graph: torch.fx.Graph, arguments: Sequence[Any]) -> ir.Module:
        """The lowered module. What does not lower and can be called is cut out, until all does.

        Args:
            arguments: the sizes of each argument, a tuple, or the expression of one that is a number.
        """
        asserted = assertions_returned(graph)
        with refusals():  # what is known of a value is computed, by an op that may not take it
            _settle(graph)
        settle_selections(graph)
        checks = [replace(check, told=self._checked(check)) for check in take_size_checks(graph, self._messages)]
        demanded = {name for check in checks for name in symbols_of(check.relation)}
        ops = [node for node in graph.nodes if node.op == "call_function"] if demanded else []
        checked = {node for node in ops if not demanded.isdisjoint(map(str, defined_symbols(node)))}
        flow: dict[torch.fx.Node, Maker] = {}
        for node in graph.nodes:
            if is_control_flow(node):
                made = control_flow_op(node, self.run)
                flow[node] = lambda _node, _places, made=made: made
            elif is_reinterpretation(node):
                flow[node] = lambda node, _places: Reinterpreted((node.all_input_nodes[0],))
            elif is_gather(node):
                flow[node] = lambda node, _places: Gather.of(node)
            elif is_running_extreme(node):
                flow[node] = lambda node, _places: RunningExtreme.of(node)
            elif is_draw(node):
                flow[node] = lambda node, _places: Draw.of(node)
            elif is_size_number(node):
                flow[node] = lambda node, _places: SizeNumber.of(node)
        called: set[torch.fx.Node] = set()
        if self._foreign:
            called = ({node for node in graph.nodes if node.target in UNTRUSTED} | carried_nodes(graph)) - flow.keys()
        while True:
            calls: list[ForeignCall] = []
            makers = {**dict.fromkeys(called, self._calling(calls)), **flow, **self._counting(graph, calls)}
            rest, cuts, origin = cut(graph, makers, checked)
            try:
                module = lowered(_imported(rest), _PIPELINES, context=self._context)
            except (LoweringDied, LoweringFailed, UnsupportedOpError) as error:
                more = set[torch.fx.Node]()
                if self._foreign:
                    more = _without_lowering(rest, origin, error) - called
                if not more:
                    raise _refused(rest, error) from error
                called |= more
                continue
            sizes_with_signs(module)
            settle_places(module)
            joined(module, cuts, arguments, checks, asserted, checks_first=self._changes, spell=self._told)
            self.calls += calls
            return module

    def _told(self, size: Any) -> str:
        return spelled(self._names.size(size))

    def _checked(self, check: Check) -> str:
        """What a check expects, and what it says itself, with the names of sizes in place of PyTorch's."""
        names = {str(symbol): self._told(symbol) for symbol in check.relation.free_symbols}
        message = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), check.message)
        return f'{self._told(check.relation)} ("{message}")' if message else self._told(check.relation)

    def _calling(self, calls: list[ForeignCall]) -> Maker:
        def call(node: torch.fx.Node, places: Sequence[int]) -> Foreign:
            made = foreign_op(node, places, len(self.calls) + len(calls))
            calls.append(made.call)
            return made

        return call

    def _counting(self, graph: torch.fx.Graph, calls: list[ForeignCall]) -> dict[torch.fx.Node, Maker]:
        """What is put in for the ops whose sizes or numbers are known only when the program runs."""
        found = {node: data_maker(node, lambda: len(self.calls) + len(calls), calls) for node in graph.nodes}
        return {node: maker for node, maker in found.items() if maker is not None}


def _refused(graph: torch.fx.Graph, error: LoweringDied | LoweringFailed | UnsupportedOpError) -> HotdeskError:
    """What says which op of a graph is not lowered."""
    if isinstance(error, LoweringFailed):
        return without_lowering(error.diagnostics, lambda: _culprit(graph))
    return untrusted(_culprit(graph), error.how) if isinstance(error, LoweringDied) else error


def _without_lowering(
    rest: torch.fx.Graph,
    origin: Mapping[torch.fx.Node, torch.fx.Node],
    error: LoweringDied | LoweringFailed | UnsupportedOpError,
) -> set[torch.fx.Node]:
    """The ops that keep a graph from being lowered and can be called instead: those that MLIR names, or one that is found."""
    name = named_op(error.diagnostics) if isinstance(error, LoweringFailed) else None
    named = [node for node in rest.nodes if name is not None and str(node.target).split(".")[:2] == name.split(".")[:2]]
    if not named:
        culprit = _culprit(rest)
        named = [culprit.all_input_nodes[0] if culprit.target is operator.getitem else culprit]
    return {origin[node] for node in named if node in origin and can_be_called(origin[node])}


def _culprit(graph: torch.fx.Graph) -> torch.fx.Node:
    """The op that torch-mlir's passes refuse or die of: the last one of the shortest beginning that does not lower."""
    nodes = [node for node in graph.nodes if node.op != "output"]
    lowers, fails = 0, len(nodes)
    while fails - lowers > 1:
        middle = (lowers + fails) // 2
        try:
            lowered(_imported(_beginning(nodes[:middle])), _PIPELINES, LIMIT_OF_A_TRIAL)
        except (LoweringDied, LoweringFailed, UnsupportedOpError):
            fails = middle
        else:
            lowers = middle
    return nodes[fails - 1]


def _beginning(nodes: list[torch.fx.Node]) -> torch.fx.Graph:
    """A graph of these nodes alone, whose results are what nobody among them reads."""
    graph = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    last = [copy for copy in copies.values() if not copy.users and isinstance(copy.meta.get("val"), torch.Tensor)]
    graph.output(tuple(last))
    return graph


def forget_trace() -> None:
    """Drops PyTorch's own hold on the graph it traced last, and on the ops it knows the sizes of: megabytes that would stay for
    as long as the process."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental import proxy_tensor

    cast(Any, FakeTensorMode).cache_clear()

    cast("dict[int, object]", getattr(proxy_tensor, "_FAKE_TENSOR_ID_TO_PROXY_MAP_FOR_EXPORT", {})).clear()
