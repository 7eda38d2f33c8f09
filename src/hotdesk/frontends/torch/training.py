"""A step of training as one model: forward pass, loss, gradients, and the optimizer's update of parameters and moments.

PyTorch's `make_fx` traces all of it, so the optimizer's own code says what an update is. Each parameter is updated as soon as its
gradient is there and nobody reads the old value any more: gradients are not kept for the end of the step.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
import inspect
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest import mock

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.func import functional_call
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.fx.graph import CodeGen
from torch.fx.traceback import preserve_node_meta, set_stack_trace
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim import SGD, Optimizer
from torch.utils import _pytree as pytree

from hotdesk.errors import ExportError, HotdeskError, OptionError
from hotdesk.frontends.torch.assigned import assignments_written
from hotdesk.frontends.torch.attention_gradient import BlockedAttention
from hotdesk.frontends.torch.cross_entropy import fuse_cross_entropy
from hotdesk.frontends.torch.decompositions.causal_masks import masks_taken_as_they_are
from hotdesk.frontends.torch.decompositions.cross_map import cross_maps_composed
from hotdesk.frontends.torch.decompositions.ctc_loss import CTC, CtcByTensors
from hotdesk.frontends.torch.decompositions.cumulative_average import cumulative_averages_composed
from hotdesk.frontends.torch.decompositions.table import margins_composed
from hotdesk.frontends.torch.examples import told_apart
from hotdesk.frontends.torch.lines import is_users
from hotdesk.frontends.torch.refusals import refusal, require_that_it_takes
from hotdesk.frontends.torch.tracing_lock import traced_alone
from hotdesk.graphs import DisjointSets, reached

aten: Any = torch.ops.aten

Loss = Callable[[Any, Any], Tensor]
_MODULES = str(Path(nn.modules.__file__).parent)
"""Where PyTorch's own modules are."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A tensor of an optimizer's state, such as a momentum: `optimizer.state[parameter][key]`."""

    parameter: nn.Parameter
    key: str
    tensor: Tensor


class Step(nn.Module):
    """The model that runs one step: takes the learning rate of each group of parameters and the example, returns the loss.

    Parameters, buffers and moments are those of the model and the optimizer themselves, and are changed in place.
    """

    def __init__(self, model: nn.Module, moments: Sequence[Moment], graph: GraphModule) -> None:
        super().__init__()
        self.model = _holder(model)
        self.moments = nn.Module()
        names = {id(parameter): name for name, parameter in model.named_parameters()}
        for number, moment in enumerate(moments):
            name = f"{names[id(moment.parameter)]}.{moment.key}".replace(".", "_")
            self.moments.register_buffer(f"{name}_{number}", moment.tensor)
        self._run = Interpreter(graph, garbage_collect_values=False).run

    def forward(self, rates: Sequence[Tensor], *example: Any) -> Tensor:
        parameters = list(self.model.parameters())
        buffers = list(self.model.buffers())
        held = (parameters, buffers, list(self.moments.buffers()), rates, example)
        with preserve_node_meta():
            return self._run(*pytree.tree_leaves(held))[0]


def _holder(model: nn.Module) -> nn.Module:
    """A model's parameters and buffers without the model, under their names: each once, also where a model ties them."""
    held = nn.Module()
    for name, tensor in itertools.chain(model.named_parameters(), model.named_buffers()):
        *path, last = name.split(".")
        owner = held
        for each in path:
            if each not in owner._modules:
                owner.add_module(each, nn.Module())
            owner = cast(nn.Module, owner._modules[each])
        if isinstance(tensor, nn.Parameter):
            owner.register_parameter(last, tensor)
        else:
            owner.register_buffer(last, tensor)
    return held


class WithLoss(nn.Module):
    """A model and a loss with tensors of its own, such as weights of classes, which are read where they lie."""

    def __init__(self, model: nn.Module, loss: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, *example: Any) -> Tensor:
        return self.loss(self.model(*example[:-1]), example[-1])


def joined(model: nn.Module, loss: Loss | None) -> tuple[nn.Module, Loss | None]:
    """The model and its loss, as one model if the loss has parameters or buffers."""
    has_tensors = isinstance(loss, nn.Module) and any(True for _ in itertools.chain(loss.parameters(), loss.buffers()))
    return (WithLoss(model, cast(nn.Module, loss)), None) if has_tensors else (model, loss)


@dataclass(frozen=True, slots=True)
class StepTrace:
    """A step as a model, and what it was made of.

    Attributes:
        model: the step.
        moments: the tensors of the optimizer's state.
        fixed_rates: whether the optimizer takes learning rates as numbers only, so that they are what they were while tracing.
    """

    model: Step
    moments: tuple[Moment, ...]
    fixed_rates: bool


def trace_step(
    model: nn.Module, loss: Loss | None, optimizer: Optimizer, example: tuple[Any, ...], rates: Sequence[Tensor]
) -> StepTrace:
    """Traces a step on the example. The optimizer's state begins here if it has not begun.

    Args:
        loss: of the model's output and the last of `example`; None where the model itself returns it.
        rates: the learning rate of each of the optimizer's groups, float64 without dims.

    Raises:
        OptionError: the optimizer has nothing to update, or cannot be traced from where it is; there are hooks that a trace
            does not see; the loss is no number.
        ExportError: the model does something that no graph says, such as reading a tensor's value.
    """
    refuse_hooks(model, optimizer)
    example = told_apart(model, example)
    moments = _begun(optimizer, model)
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    trained = [name for name, parameter in parameters.items() if _is_trained(parameter, optimizer)]
    if not trained:
        expected = "one that updates parameters of the model that require gradients"
        raise OptionError("argument 'optimizer'", expected=expected, got="none of them among its groups")

    def step(
        held: list[Tensor], state: list[Tensor], moving: list[Tensor], speeds: list[Tensor], given: tuple[Any, ...]
    ) -> list[Tensor]:
        values = dict(zip(parameters, held, strict=True))
        with torch.enable_grad():
            asked = {name: values[name].detach().requires_grad_() for name in trained}
            called = {**values, **asked, **dict(zip(buffers, state, strict=True))}
            with torch.autograd.set_detect_anomaly(True, check_nan=False):  # keeps who called each op
                total = _loss(functional_call, model, called, loss, given)
            _name_lines_of_gradients(total)
            with preserve_node_meta():
                gradients = cast(Any, torch.autograd.grad)(total, list(asked.values()), allow_unused=True)
        assigned.write()
        results = [total.detach(), *(each for each in gradients if each is not None)]
        stand_ins = {parameter: values[name] for name, parameter in parameters.items()}
        known = dict(zip(trained, gradients, strict=True))
        _update(optimizer, stand_ins, known, values, moments, moving, None if fixed else speeds)
        return results  # computed before any update, which is how updates are told from the rest

    values = [parameter.detach() for parameter in parameters.values()]
    held = (values, list(buffers.values()), [moment.tensor for moment in moments])
    fixed = False
    try:
        with assignments_written(model, later=True) as assigned:
            graph = _traced(step, *held, list(rates), example)
    except ExportError:
        require_that_it_takes(model, example if loss is None else example[:-1], {})
        raise
    if graph.graph.find_nodes(op="call_function", target=aten._local_scalar_dense.default):
        fixed = True
        with assignments_written(model, later=True) as assigned:
            graph = _traced(step, *held, list(rates), example)
    fuse_cross_entropy(graph.graph)
    graph.graph.set_codegen(CodeGen())  # takes its arguments one by one
    names = {id(parameter): name for name, parameter in parameters.items()}
    told = [*parameters, *("" for _ in buffers), *(names[id(moment.parameter)] for moment in moments)]
    _name_updates(graph.graph, told, optimizer)
    update_early(graph.graph, len(pytree.tree_leaves(held)))
    graph.recompile()
    return StepTrace(Step(model, moments, graph), moments, fixed)


def _name_lines_of_gradients(total: Tensor) -> None:
    """Gives ops of the backward pass the stacks of their forward ops, which anomaly detection has kept."""
    first: list[Any] = [] if total.grad_fn is None else [total.grad_fn]  # None: a parameter is the loss
    for node in reached(first, lambda node: (each for each, _ in node.next_functions if each is not None)):
        _name_lines_of_gradient(node, _within_model(node.metadata.get("traceback_", [])))


def _within_model(stack: list[str]) -> list[str]:
    """The frames of a stack that are the model's or the loss's: those behind ours that are the user's or a module's."""
    ours = [place for place, frame in enumerate(stack) if f'File "{__file__}"' in frame]
    behind = stack[ours[-1] + 1 :] if ours else stack
    files = [re.match(r' *File "([^"]+)"', frame) for frame in behind]
    kept = [
        frame
        for frame, file in zip(behind, files, strict=True)
        if file is not None and (is_users(file[1]) or file[1].startswith(_MODULES))
    ]
    return kept or behind


def _name_lines_of_gradient(node: Any, stack: list[str]) -> None:
    def before(*_: Any) -> None:
        set_stack_trace(stack)

    def behind(*_: Any) -> None:
        set_stack_trace([])

    node.register_prehook(before)
    node.register_hook(behind)


def _name_updates(graph: Graph, names: Sequence[str], optimizer: Optimizer) -> None:
    """Gives what updates a parameter the line of the optimizer's step, and the parameter's name as its submodule.

    `names` are those of the parameters that the first placeholders are, or are moments of; "" for others.
    """
    step: Any = type(optimizer).step
    code = inspect.unwrap(step).__code__
    frame = f'  File "{code.co_filename}", line {code.co_firstlineno}, in step\n'
    nodes, output = list(graph.nodes), graph.output_node()
    results = cast("tuple[Sequence[Node], ...]", output.args)[0]
    known = {node: name for node, name in zip(nodes, names, strict=False) if name}
    for node in nodes[max(map(nodes.index, results)) + 1 : -1]:
        name = next((known[each] for each in node.all_input_nodes if each in known), "")
        node.meta["stack_trace"] = frame
        if name:
            known[node] = name
            node.meta["nn_module_stack"] = {name: (name, nn.Parameter)}


def _traced(step: Callable[..., Any], *given: Any) -> GraphModule:
    """Attention as products and a softmax, its gradient by blocks; recurrent layers step by step: PyTorch's own ops for the CPU
    have gradients without a decomposition."""
    try:
        with (
            traced_alone(),
            BlockedAttention(),
            CtcByTensors(),
            cross_maps_composed(),
            cumulative_averages_composed(),
            masks_taken_as_they_are(),
            margins_composed(),
            sdpa_kernel(SDPBackend.MATH),
            _without_onednn(),
            torch.no_grad(),
        ):
            return make_fx(step, CTC, tracing_mode="fake", record_stack_traces=True)(*given)
    except HotdeskError:
        raise
    except Exception as error:
        hint = "Train with `torch.compile(model, backend='hotdesk')`, which leaves such parts to Python."
        raise refusal(error, "the step cannot be traced", hint) from error


@contextmanager
def _without_onednn() -> Generator[None]:
    """As PyTorch's own `flags`, which sets TF32 as well and so warns on every processor without it."""
    set_flags: Any = torch.backends.mkldnn.set_flags
    enabled, *_ = set_flags(_enabled=False, _fp32_precision=None)
    try:
        yield
    finally:
        set_flags(_enabled=enabled, _fp32_precision=None)


def _loss(
    call: Any, model: nn.Module, held: Mapping[str, Tensor], loss: Loss | None, example: tuple[Any, ...]
) -> Tensor:
    if loss is None:
        output = call(model, dict(held), example)
        found = getattr(output, "loss", output)
    else:
        found = loss(call(model, dict(held), example[:-1]), example[-1])
    if not isinstance(found, Tensor) or found.dim() or not found.requires_grad:
        got = f"one of shape {tuple(found.shape)}" if isinstance(found, Tensor) else type(found).__name__
        expected = "a tensor without dims that depends on the parameters"
        raise OptionError("the loss", expected=expected, got=got)
    return found


def refuse_hooks(model: nn.Module, optimizer: Optimizer) -> None:
    """Raises OptionError for hooks of gradients and of the optimizer, which are run by what the trace goes around."""
    for name, parameter in model.named_parameters():
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None):
            raise OptionError("argument 'model'", expected="parameters without hooks", got=f"a hook of `{name}`")
    if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
        raise OptionError("argument 'optimizer'", expected="an optimizer without hooks", got="a hook of its step")


def _is_trained(parameter: nn.Parameter, optimizer: Optimizer) -> bool:
    return parameter.requires_grad and any(
        parameter is each for group in optimizer.param_groups for each in group["params"]
    )


def _begun(optimizer: Optimizer, model: nn.Module) -> tuple[Moment, ...]:
    """The tensors of the optimizer's state, made as its own first step would make them."""
    known = {id(parameter) for parameter in model.parameters()}
    for group in optimizer.param_groups:
        trained = [each for each in group["params"] if each.requires_grad]
        if any(id(each) not in known for each in trained):
            raise OptionError("argument 'optimizer'", expected="parameters of the model", got="another model's")
        _begin(optimizer, {**group, "params": trained})
    return tuple(
        Moment(parameter, key, value)
        for group in optimizer.param_groups
        for parameter in group["params"]
        for key, value in optimizer.state.get(parameter, {}).items()
        if isinstance(value, Tensor)
    )


def _begin(optimizer: Optimizer, group: Mapping[str, Any]) -> None:
    parameters: list[nn.Parameter] = group["params"]
    if isinstance(optimizer, SGD):
        _begin_momentum(optimizer, group)
        return
    begin: Any = getattr(optimizer, "_init_group", None)
    if begin is None:
        raise _unknown(optimizer)
    gradients = [parameter.grad for parameter in parameters]
    try:
        for parameter in parameters:  # only what has a gradient gets state; this one takes no memory
            parameter.grad = parameter.detach().new_zeros(()).expand(parameter.shape)
        begin(group, *([] for _ in range(len(inspect.signature(begin).parameters) - 1)))
    finally:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient


def _unknown(optimizer: Optimizer) -> OptionError:
    """The error for an optimizer whose first state nobody can make: it has no `_init_group`."""
    name = type(optimizer).__name__
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    if closure is not None and closure.default is closure.empty:
        expected, name = "one that takes one gradient a step", f"{name}, which evaluates the loss as often as it wants"
    else:
        expected = "an optimizer of torch.optim for dense gradients"
    return OptionError("argument 'optimizer'", expected=expected, got=name, hint=_INSTEAD)


_INSTEAD = "Train with `torch.compile(model, backend='hotdesk')` and let the optimizer step in eager PyTorch."


def _begin_momentum(optimizer: SGD, group: Mapping[str, Any]) -> None:
    """SGD makes its momentum of the first gradient: zeros are the same, unless that gradient would be damped."""
    if not group["momentum"]:
        return
    for parameter in group["params"]:
        state = optimizer.state[parameter]
        if state.get("momentum_buffer") is not None:
            continue
        if group["dampening"]:
            expected = "a momentum that has begun, because the first gradient is not damped"
            hint = "Run one step in eager PyTorch before."
            raise OptionError("argument 'optimizer'", expected=expected, got="one that has made no step", hint=hint)
        state["momentum_buffer"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)


_NUMBERS = frozenset({"step", "eta", "mu", "mu_product"})
"""State of optimizers that eager PyTorch reads as Python's numbers, to compute with them in float64."""


def _update(
    optimizer: Optimizer,
    stand_ins: Mapping[nn.Parameter, Tensor],
    gradients: Mapping[str, Tensor | None],
    values: Mapping[str, Tensor],
    moments: Sequence[Moment],
    moving: Sequence[Tensor],
    rates: Sequence[Tensor] | None,
) -> None:
    """Runs the optimizer's own code on what stands for parameters, moments and rates, if they vary, while it is traced."""
    traced = copy.copy(optimizer)
    tensors = {(id(moment.parameter), moment.key): tensor for moment, tensor in zip(moments, moving, strict=True)}
    traced.state = defaultdict(dict)
    numbers: list[tuple[Tensor, Tensor]] = []
    for parameter, stand_in in stand_ins.items():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensor = tensors.get((id(parameter), key), value)
            if key in _NUMBERS and isinstance(tensor, Tensor):
                numbers.append((tensor, tensor.double()))
                tensor = numbers[-1][1]
            traced.state[stand_in][key] = tensor
    traced.param_groups = [
        _traced_group(group, stand_ins, rates[number] if rates is not None else None)
        for number, group in enumerate(optimizer.param_groups)
    ]
    for name, gradient in gradients.items():
        values[name].grad = gradient
    step: Any = type(optimizer).step
    # Counters of steps are tensors then, whose values no Python reads.
    with torch.no_grad(), mock.patch.object(torch.compiler, "is_compiling", return_value=True):
        try:
            getattr(step, "__wrapped__", step)(traced)
        except (DataDependentOutputException, GuardOnDataDependentSymNode) as error:
            expected = "one that updates without reading numbers out of tensors"
            raise OptionError(
                "argument 'optimizer'", expected=expected, got=type(optimizer).__name__, hint=_INSTEAD
            ) from error
        for kept, number in numbers:
            kept.copy_(number)
    for value in values.values():
        value.grad = None


def _traced_group(
    group: Mapping[str, Any], stand_ins: Mapping[nn.Parameter, Tensor], rate: Tensor | None
) -> dict[str, Any]:
    plain = {"foreach": False, "fused": False, "capturable": True, "differentiable": False}
    return {
        **group,
        **{name: value for name, value in plain.items() if name in group},
        "params": [stand_ins[each] for each in group["params"] if each.requires_grad],
        # What requires a gradient is used as a tensor: nobody asks for its value.
        "lr": float(group["lr"]) if rate is None else rate.detach().requires_grad_(),
    }


def update_early(graph: Graph, held: int) -> None:
    """Moves what updates a parameter to right behind the last reader of its old value, and of its gradient.

    Of the results the loss alone stays. The first `held` placeholders are parameters, buffers and moments. What no gradient
    depends on updates one of them; updates that share a tensor move together. What reads a view of a parameter reads it.
    """
    output = graph.output_node()
    results = cast("tuple[Sequence[Node], ...]", output.args)[0]
    order = {node: place for place, node in enumerate(graph.nodes)}
    last = max(order[node] for node in results)
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    updates = [node for node in graph.nodes if order[node] > last and node is not output]
    free = _free_of({*updates}, placeholders[held:])
    moved = [node for node in updates if node not in free]
    of_updates = {*updates}
    readers = {
        tensor: max(map(order.__getitem__, _readers(tensor, of_updates)), default=0) for tensor in placeholders[:held]
    }
    anchors: dict[int, list[Node]] = defaultdict(list)
    anchors[len(placeholders) - 1] += [node for node in updates if node in free]
    for group in _sharing(moved, {*placeholders[:held]}):
        known = {each for node in group for each in node.all_input_nodes} - of_updates
        place = max((max(order[each], readers.get(each, 0)) for each in known), default=0)
        anchors[max(place, len(placeholders) - 1)] += group
    nodes = list(graph.nodes)
    for place, behind in anchors.items():
        anchor = nodes[place]
        for node in sorted(behind, key=order.__getitem__):
            anchor.append(node)
            anchor = node
    output.args = ([results[0]],)
    graph.lint()


def _free_of(updates: set[Node], rates: Sequence[Node]) -> set[Node]:
    """What follows from the rates alone, which all updates may share."""
    found = {*rates}
    for rate in rates:
        left = [rate]
        while left:
            for user in left.pop().users:
                if user in updates and user not in found and found.issuperset(user.all_input_nodes):
                    found.add(user)
                    left.append(user)
    return found & updates


def _readers(tensor: Node, leaving_out: set[Node]) -> Iterator[Node]:
    """The ops that read a tensor or a view of it."""

    def users(node: Node) -> list[Node]:
        return [user for user in node.users if user not in leaving_out and user.op != "output"]

    views = reached([tensor], lambda node: filter(_may_be_view, users(node)))
    return (user for view in views for user in users(view))


def _may_be_view(node: Node) -> bool:
    schema: Any = getattr(node.target, "_schema", None)
    return schema is None or any(each.alias_info is not None for each in schema.returns)


def _sharing(nodes: Sequence[Node], tensors: set[Node]) -> list[list[Node]]:
    """Groups of nodes that depend on one another or on the same of `tensors`; each in the order of the graph."""
    numbers = {node: number for number, node in enumerate({*nodes, *tensors})}
    joined = DisjointSets(len(numbers))
    for node in nodes:
        for each in node.all_input_nodes:
            if each in numbers:
                joined.unite(numbers[each], numbers[node])
    groups: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        groups[joined.find(numbers[node])].append(node)
    return list(groups.values())


__all__ = ["Moment", "Step", "StepTrace", "joined", "refuse_hooks", "trace_step", "update_early"]
