"""`torch.compile(model, backend="hotdesk")`: each graph that Dynamo captures is compiled, and counted for a report."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import dataclasses
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from weakref import ref

from hotdesk.python.whole_imports import whole_imports

with whole_imports():  # PyTorch imports this module when the backend is first asked for
    import torch
    from functorch.compile import min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd
    from torch._dynamo.exc import TensorifyScalarRestartAnalysis
    from torch._functorch._aot_autograd.schemas import OutputType
    from torch._functorch._aot_autograd.utils import make_boxed_func
    from torch._guards import CompileContext, TracingContext
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils._python_dispatch import _disable_current_modes
    from torch.utils.checkpoint import CheckpointPolicy

    from hotdesk.compiling.building import build
    from hotdesk.compiling.options import Options, check_bool
    from hotdesk.errors import HotdeskError, OptionError
    from hotdesk.frontends.torch.compiled_for import is_compiled_for_ours, note_backend
    from hotdesk.frontends.torch.decompositions.ctc_loss import tell_dynamo
    from hotdesk.frontends.torch.dynamo import GraphCalling, PassedOn, capture_graph, tracing, transforms
    from hotdesk.frontends.torch.fused_optimizers import write_out_fused_updates
    from hotdesk.frontends.torch.lines import node_line
    from hotdesk.frontends.torch.refusals import refusal
    from hotdesk.frontends.torch.returned_views import Returned
    from hotdesk.frontends.torch.saved_inputs import save_what_inputs_were
    from hotdesk.frontends.torch.subgraph_literals import make_literals_outside
    from hotdesk.frontends.torch.tensor_indices import indexed_by_tensors
    from hotdesk.passes.collecting import collection_made_rare
    from hotdesk.pipeline import Log
    from hotdesk.runtime.code.products import PRODUCTS, compile_ahead
    from hotdesk.runtime.process_memory import give_back_free_memory, sources_forgotten
    from hotdesk.torch_compile.counts import COUNTED, CountedGraph, FallbackWarning

MODES: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "reduce-overhead": {},
    "max-autotune": {"order": "peak"},
    "max-autotune-no-cudagraphs": {"order": "peak"},
}
"""What each mode of `torch.compile` sets of `Options`."""

_VIEWS = frozenset(
    {
        OutputType.alias_of_input,
        OutputType.alias_of_intermediate,
        OutputType.alias_of_intermediate_save_as_output,
        OutputType.alias_of_intermediate_base_is_user_output,
    }
)
"""The kinds of results that AOTAutograd makes again."""


def backend(
    module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str = "default",
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compiles a graph of Dynamo's; `torch.compile` calls it.

    Args:
        mode: one of `MODES`.
        options: fields of `hotdesk.Options`, and `fallback`: whether a graph that is refused runs in eager PyTorch (True), or
            its calls raise the error (False).

    Returns:
        What runs the graph. An OptionError, or without fallback the HotdeskError of a refused graph, is raised by its calls, as
        PyTorch would wrap what is raised here.
    """
    try:
        settings = _settings(mode, options or {})
    except OptionError as error:
        return _raising(error)
    try:
        with whole_imports():
            return _compiled(module, example_inputs, settings)
    except TensorifyScalarRestartAnalysis:
        raise
    except HotdeskError as error:
        refused = error
    except Exception as error:
        refused = refusal(
            error, "AOTAutograd cannot take the graph apart", "Keep that part outside the compiled model."
        )
        refused.__cause__ = error
    return _fallen_back("whole", module.forward, module, refused, settings)


@dataclass(frozen=True, slots=True)
class _Settings:
    options: Options
    fallback: bool


def _settings(mode: str, given: Mapping[str, Any]) -> _Settings:
    if not isinstance(cast(object, mode), str) or mode not in MODES:
        raise OptionError("mode", expected=f"one of {', '.join(MODES)}", got=repr(mode))
    legal = [*(each.name for each in dataclasses.fields(Options) if each.name != "seed"), "fallback"]
    unknown = [name for name in given if name not in legal]
    if unknown:
        raise OptionError("options", expected=f"some of {', '.join(legal)}", got=", ".join(map(repr, unknown)))
    fallback = given.get("fallback", True)
    check_bool("fallback", fallback)
    fields = {name: value for name, value in given.items() if name != "fallback"}
    return _Settings(Options(**{**MODES[mode], **fields}), fallback)


def _compiled(module: torch.fx.GraphModule, example_inputs: Sequence[Any], settings: _Settings) -> Callable[..., Any]:
    def inference(graph: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        return _program("inference", graph, settings)

    def forward(graph: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        return _program("forward", graph, settings)

    def backward(graph: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        try:
            return _program("backward", graph, settings, _donated())
        except HotdeskError as error:
            refused = error
        except Exception as error:
            refused = _unforeseen(error)
        return make_boxed_func(_fallen_back("backward", graph.forward, graph, refused, settings))

    has_gradients = transforms(module) or (
        torch.is_grad_enabled()
        and any(isinstance(each, torch.Tensor) and each.requires_grad for each in example_inputs)
    )
    make_literals_outside(module)
    with indexed_by_tensors(module), tracing(has_gradients=has_gradients) as decompositions:
        compiled = aot_autograd(
            fw_compiler=forward,
            bw_compiler=backward,
            inference_compiler=inference,
            decompositions=decompositions,
            partition_fn=_partitioned,
            keep_inference_input_mutations=True,
        )(module, example_inputs)
    offsets = _offsets(example_inputs) if _has_bases(len(example_inputs)) else {}
    return _where_they_lay(compiled, module, offsets) if offsets else compiled


def _has_bases(inputs: int) -> bool:
    """Whether AOTAutograd has one memory among the arguments of its graph for several that overlap."""
    context = TracingContext.try_get()
    known: Any = context.fw_metadata if context is not None else None
    return known is not None and len(known.input_info) < inputs


def _offsets(example_inputs: Sequence[Any]) -> dict[int, int]:
    """Where in their memory arguments begin that share it with others, by number, in elements."""
    numbers: dict[Any, list[int]] = {}
    for number, each in enumerate(example_inputs):
        if isinstance(each, torch.Tensor) and each.layout is torch.strided:
            numbers.setdefault(StorageWeakRef(each.untyped_storage()), []).append(number)
    shared = [number for each in numbers.values() if len(each) > 1 for number in each]
    found = {number: example_inputs[number].storage_offset() for number in shared}
    return {
        number: offset.node.hint if isinstance(offset, torch.SymInt) else offset for number, offset in found.items()
    }


def _where_they_lay(
    compiled: Callable[..., Any], module: torch.fx.GraphModule, offsets: Mapping[int, int]
) -> Callable[..., Any]:
    """Calls that have overlapping arguments elsewhere in their memory than `offsets` run in eager PyTorch.

    AOTAutograd has taken the offsets for constants, and no guard compares them.
    """

    def run(*args: Any) -> Any:
        is_there = all(args[number].storage_offset() == offset for number, offset in offsets.items())
        return compiled(*args) if is_there else module.forward(*args)

    return run


def _program(
    kind: str, module: torch.fx.GraphModule, settings: _Settings, donated: Collection[int] = ()
) -> Callable[..., Any]:
    """A graph of AOTAutograd's, compiled: takes a list of arguments, returns a list of results."""
    line = _line(module)
    with whole_imports(), sources_forgotten(), collection_made_rare():
        log = Log(keep_ir=settings.options.keep_ir)
        compile_ahead(PRODUCTS)
        with log.stage("capture"):
            captured = capture_graph(module, donated, foreign=settings.options.foreign, returned=_returned(kind))
        with _disable_current_modes():  # what depends on weights alone may be made by PyTorch's kernels
            program = build(captured, log, settings.options)
        calling = cast(GraphCalling, captured.calling)
        draws, counts, views = calling.draws, calling.counts, calling.views
        eager = module if counts else None
        del captured, calling
    give_back_free_memory()
    COUNTED.note(CountedGraph(_compile_id(), kind, line, ref(program)))

    def run(*args: Any) -> list[Any]:
        if eager is not None and any(args[number] < 0 for number in counts):  # no sizes of tensors
            return list(eager(*args))
        results = program(*args, _random_state()) if draws else program(*args)
        found = [args[result.number] if type(result) is PassedOn else result for result in results]
        if views is not None:
            views.put(found, args)
        return found

    return make_boxed_func(run)


def _returned(kind: str) -> Returned:
    """What AOTAutograd does with a graph's results."""
    context = TracingContext.try_get()
    known: Any = context.fw_metadata if context is not None else None
    if kind == "backward" or known is None:
        return Returned()
    before = len(known.tokens) + known.num_mutated_inp_runtime_indices
    again = (before + number for number, each in enumerate(known.output_info) if _is_made_again(each))
    return Returned(sys.maxsize if kind == "inference" else known.num_forward_returns, frozenset(again))


def _is_made_again(result: Any) -> bool:
    """Whether a result is a view that is made again by the sizes and strides of what the compiled graph returns."""
    steps = result.view_meta_sequence.sequence if result.view_meta_sequence is not None else None
    is_replayed = steps is not None and not any(each.has_symbolic_inputs for each in steps)
    return result.output_type in _VIEWS and not is_replayed


def _random_state() -> torch.Tensor:
    """What the random numbers of a call follow from, its seed drawn by PyTorch's generator: `torch.manual_seed` repeats them."""
    state = torch.zeros(2, dtype=torch.int64, device="cpu")
    state[:1].random_()
    return state


def _partitioned(joint: torch.fx.GraphModule, inputs: Sequence[Any], *, num_fwd_outputs: int, **told: Any) -> Any:
    """A forward and a backward graph, by a minimum cut. What is drawn is kept, as nothing would draw it again."""
    for node in joint.graph.nodes:
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            node.meta["recompute"] = CheckpointPolicy.MUST_SAVE
    forward, backward = min_cut_rematerialization_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs, **told)
    save_what_inputs_were(forward, num_fwd_outputs)
    return forward, backward


def _donated() -> Collection[int]:
    """Which arguments of the backward graph gradients may be written over: those that the forward graph saved for it alone.

    AOTAutograd itself refuses a second backward pass through such a graph. Of a graph with tokens, which order checks, it counts
    from the wrong result on, so that nothing of such a one is donated.
    """
    context = TracingContext.try_get()
    known: Any = context.fw_metadata if context is not None else None
    return frozenset(known.bw_donated_idxs or ()) if known is not None and not known.tokens else frozenset()


def _unforeseen(error: Exception) -> HotdeskError:
    """What PyTorch raised while it took a graph apart."""
    refused = refusal(error, "AOTAutograd cannot take the graph apart", "Keep that part outside the compiled model.")
    refused.__cause__ = error
    return refused


def _raising(error: HotdeskError) -> Callable[..., Any]:
    def run(*_: Any) -> Any:
        raise error

    return run


def _fallen_back(
    kind: str, run: Callable[..., Any], module: torch.fx.GraphModule, error: HotdeskError, settings: _Settings
) -> Callable[..., Any]:
    """What runs a graph that was refused."""
    if not settings.fallback:
        return _raising(error)
    COUNTED.note(CountedGraph(_compile_id(), kind, _line(module), None, str(error)))
    if COUNTED.is_news(str(error)):
        warnings.warn(f"a graph runs in eager PyTorch, because it was refused: {error}", FallbackWarning, stacklevel=2)
    return run


def _line(module: torch.fx.GraphModule) -> str:
    """The user's line of the first op."""
    return next(filter(None, map(node_line, module.graph.nodes)), "")


def _compile_id() -> str:
    return str(CompileContext.current_compile_id() or "")


cast(Any, backend).reset = COUNTED.reset  # called by `torch._dynamo.reset()`
note_backend(backend)
write_out_fused_updates()
tell_dynamo(is_compiled_for_ours)
