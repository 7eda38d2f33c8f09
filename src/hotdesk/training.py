"""Training: a step of it, with the optimizer's update, compiled as one program with one arena."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hotdesk.compiling.compile import compile
from hotdesk.compiling.options import Options, given_options
from hotdesk.errors import ArgumentTypeError, MissingExtraError, OptionError
from hotdesk.python.whole_imports import whole_imports
from hotdesk.report.memory import Memory
from hotdesk.runtime.program import Program

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

    from hotdesk.frontends.torch.training import StepTrace


class TrainingStep:
    """A compiled step of training. Made by `compile_step`; call it with an example.

    Attributes:
        program: what runs. It takes the learning rates, then the example.
    """

    def __init__(
        self,
        program: Program,
        modules: Mapping[str, nn.Module],
        optimizer: Optimizer,
        trace: StepTrace,
        rates: list[Tensor],
    ) -> None:
        self.program = program
        self._modules = modules
        self._held = _held(modules)
        self._optimizer = optimizer
        self._groups = [tuple(group["params"]) for group in optimizer.param_groups]
        self._moments = trace.moments
        self._fixed_rates = trace.fixed_rates
        self._rates = rates
        self._settings = _settings(optimizer, rates=self._fixed_rates)

    def __call__(self, *example: Any) -> Tensor:
        """Runs one step: the model's parameters and buffers and the optimizer's state have the new values after it.

        Args:
            example: as in `compile_step`, of the same sizes.

        Returns:
            The loss, before the update.

        Raises:
            CallError: an argument is not as compiled for.
            OptionError: a setting of the optimizer has changed that was read when the step was compiled; or a parameter or buffer
                is another tensor, lies elsewhere, or is trained where it was not, or the other way round.
        """
        self._check_modules()
        self._check_settings()
        for rate, group in zip(self._rates, self._optimizer.param_groups, strict=True):
            rate.fill_(float(group["lr"]))
        self._take_up_state()
        return cast("Tensor", self.program(self._rates, *example))

    def _check_settings(self) -> None:
        """Refuses settings that have changed since they were read. What a scheduler notes down among them is none of those."""
        now = _settings(self._optimizer, rates=self._fixed_rates)
        if len(now) != len(self._settings):
            expected = f"{len(self._settings)} groups of parameters, as when the step was compiled"
            raise OptionError("the optimizer", expected=expected, got=str(len(now)), hint=_AGAIN)
        for group, known in zip(self._optimizer.param_groups, self._groups, strict=True):
            if len(group["params"]) != len(known) or any(map(operator.is_not, group["params"], known)):
                expected = "the parameters that they had when the step was compiled, in their order"
                raise OptionError("groups of the optimizer", expected=expected, got="others", hint=_AGAIN)
        for group, known in zip(now, self._settings, strict=True):
            for name, value in known.items():
                if group.get(name) != value:
                    what = f"setting '{name}' of the optimizer"
                    expected = f"{value!r}, as when the step was compiled"
                    raise OptionError(what, expected=expected, got=repr(group.get(name)), hint=_hint(name))

    def _check_modules(self) -> None:
        """Refuses tensors that are not those that the program reads or changes, and hooks, which it does not run."""
        from hotdesk.frontends.torch.training import refuse_hooks

        for module in self._modules.values():
            refuse_hooks(module, self._optimizer)
        now = _held(self._modules)
        for name in {**self._held, **now}:
            known, found = self._held.get(name), now.get(name)
            if known is None or found is None or known.tensor is not found.tensor:
                got = "none" if found is None else "a tensor" if known is None else "another one"
                expected = "none, as" if known is None else "the tensor that was there"
                raise _changed(name, f"{expected} when the step was compiled", got, _COPY if known else _AGAIN)
            if known.place != found.place:
                raise _changed(name, "the memory that it had when the step was compiled", "memory elsewhere", _COPY)
            if known.is_trained != found.is_trained:
                expected, got = (f"`requires_grad` {each.is_trained}" for each in (known, found))
                raise _changed(name, f"{expected}, as when the step was compiled", got, _AGAIN)

    def _take_up_state(self) -> None:
        """What was put in place of the optimizer's state, as `load_state_dict` does, is copied to where the program has it."""
        import torch

        for moment in self._moments:
            state = self._optimizer.state[moment.parameter]
            if not isinstance(state.get(moment.key), torch.Tensor):
                expected = f"`{moment.key}` for each parameter, as when the step was compiled"
                raise OptionError("the optimizer's state", expected=expected, got="none", hint=_AGAIN)
            if state[moment.key] is not moment.tensor:
                moment.tensor.copy_(state[moment.key])
                state[moment.key] = moment.tensor

    @property
    def peak(self) -> int:
        """Bytes of a step above parameters, buffers, moments and the example: activations, gradients and the loss."""
        return self.program.memory().peak

    def memory(self, *example: Any) -> Memory:
        """Bytes of a step, as `Program.memory` tells them: the arena holds activations and gradients."""
        return self.program.memory(self._rates, *example)

    def report(self, *example: Any) -> str:
        """Where the bytes of a step go, as `Program.report` tells it."""
        return self.program.report(self._rates, *example)


def compile_step(
    model: nn.Module,
    loss: Callable[[Any, Any], Tensor] | None,
    optimizer: Optimizer,
    example: tuple[Any, ...],
    *,
    budget: int | str | None = None,
    options: Options | None = None,
) -> TrainingStep:
    """Compiles one step of training: forward pass, loss, gradients and the optimizer's update, in one arena.

        step = hotdesk.compile_step(model, nn.CrossEntropyLoss(), torch.optim.AdamW(model.parameters()), (images, labels))
        for images, labels in data:
            print(step(images, labels))

    Parameters, buffers and the optimizer's moments are changed where they lie. A parameter is updated as soon as its gradient is
    known and its old value is not read any more, so that gradients do not live together. See docs/training.md.

    Args:
        model: in training mode or not, as it is to be run.
        loss: of the model's output and the last tensor of `example`, giving a tensor without dims; None if the model returns the
            loss, or something with an attribute `loss`.
        optimizer: one of torch.optim, of parameters of the model. Learning rates are read at every step where it can take them
            as tensors (SGD, Adam, AdamW and most others), all else now.
        example: the model's arguments and, if `loss` is given, what the loss compares with behind them. Sizes are fixed.
        budget: bytes that a step may take for the arena and the loss, such as `"200 MB"`; goes before that of `options`. What is
            kept for the backward pass may be computed again instead; see docs/budget.md.
        options: see `Options`; by default `Options(recompute=True)`. `prepare` is 0 whatever it says.

    Raises:
        HotdeskError: one of its subclasses; as `compile`, and OptionError for an optimizer or a loss that cannot be compiled.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError.of("compiling a step of training", "torch", "torch") from error
    _check(model, optimizer, example)
    options = Options(recompute=True) if options is None else given_options(options)
    options = options if budget is None else replace(options, budget=budget)
    options = replace(options, prepare=0)  # what is not trained may be loaded anew, too
    rates = [torch.zeros((), dtype=torch.float64) for _ in optimizer.param_groups]
    with whole_imports():
        from hotdesk.frontends.torch.training import joined, trace_step

        trace = trace_step(*joined(model, loss), optimizer, example, rates)
    with torch.no_grad():
        program = compile(trace.model, (rates, *example), options=options)
    modules = {"model": model, **({"loss": loss} if isinstance(loss, torch.nn.Module) else {})}
    return TrainingStep(program, modules, optimizer, trace, rates)


class _Held(NamedTuple):
    """A parameter or buffer, and what of it the program was compiled for."""

    tensor: Tensor
    place: tuple[object, ...]
    is_trained: bool


def _held(modules: Mapping[str, nn.Module]) -> dict[str, _Held]:
    """The parameters and buffers of modules by what errors call them; those that one ties, once."""
    return {
        f"`{name}` of the {what}": _Held(
            each, (each.data_ptr(), each.dtype, each.shape, each.stride()), each.requires_grad
        )
        for what, module in modules.items()
        for name, each in chain(module.named_parameters(), module.named_buffers())
    }


_AGAIN = "Call compile_step again."
_COPY = "Copy into it (`load_state_dict` does, `tensor.copy_(…)`), or call compile_step again."


def _changed(name: str, expected: str, got: str, hint: str) -> OptionError:
    return OptionError(f"parameter or buffer {name}", expected=expected, got=got, hint=hint)


def _check(model: Any, optimizer: Any, example: Any) -> None:
    from torch import nn
    from torch.optim import Optimizer

    given = (("model", model, nn.Module), ("optimizer", optimizer, Optimizer), ("example", example, tuple))
    for name, value, kind in given:
        if not isinstance(value, kind):
            raise ArgumentTypeError(f"argument '{name}'", expected=f"a {kind.__name__}", got=type(value).__name__)


def _settings(optimizer: Optimizer, *, rates: bool) -> list[Mapping[str, Any]]:
    """All settings of the groups, with their learning rates or without, as values."""
    left_out = ("params",) if rates else ("params", "lr")
    return [
        {name: _value(given) for name, given in group.items() if name not in left_out}
        for group in optimizer.param_groups
    ]


def _value(given: Any) -> Any:
    """A setting that does not change with a tensor that it is told by."""
    if isinstance(given, tuple | list):
        return tuple(_value(each) for each in cast("tuple[Any, ...]", given))
    return given.tolist() if hasattr(given, "tolist") else given


def _hint(setting: str) -> str:
    """What to do where a setting has changed."""
    if setting in ("momentum", "betas"):
        return (
            "Call compile_step again; OneCycleLR and CyclicLR leave it alone if they are given `cycle_momentum=False`."
        )
    if setting == "lr":
        return "Call compile_step again: this optimizer takes learning rates as numbers, which are read then."
    return _AGAIN
