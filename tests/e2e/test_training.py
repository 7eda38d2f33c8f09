"""`hotdesk.compile_step`: a step of training is what eager PyTorch does, in less memory."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportPrivateUsage=false

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest
import torch
from torch import nn
from torch.optim import ASGD, SGD, Adagrad, Adam, AdamW, NAdam, Optimizer, RAdam, RMSprop

import hotdesk
from hotdesk.errors import ArgumentTypeError, ExportError, OptionError, PlanError
from hotdesk.explain import Reason

Make = Callable[[Iterable[nn.Parameter]], Optimizer]

OPTIMIZERS: dict[str, Make] = {
    "sgd": lambda p: SGD(p, lr=0.1),
    "decay": lambda p: SGD(p, lr=0.1, weight_decay=1e-2),
    "momentum": lambda p: SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3),
    "adam": lambda p: Adam(p, lr=1e-3, weight_decay=1e-2),
    "adamw-fused": lambda p: AdamW(p, lr=1e-3, fused=True),
    "adamw-foreach": lambda p: AdamW(p, lr=1e-3, amsgrad=True, foreach=True, maximize=True),
    "nadam": lambda p: NAdam(p, lr=1e-3),
    "rmsprop": lambda p: RMSprop(p, lr=1e-3),
}


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5)
    )


def images() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(4, 3, 6, 6), torch.randint(0, 5, (4,))


class Pair:
    """A model that a compiled step trains, and a copy of it that eager PyTorch trains."""

    def __init__(self, model: nn.Module, make: Make, loss: Any, example: tuple[Any, ...], **more: Any) -> None:
        self.model, self.like, self.loss = model, copy.deepcopy(model), loss
        self.optimizer, self.eager = make(model.parameters()), make(self.like.parameters())
        self.step = hotdesk.compile_step(model, loss, self.optimizer, example, **more)

    def both(self, *example: Any) -> tuple[float, float]:
        self.eager.zero_grad()
        total = self.like(*example) if self.loss is None else self.loss(self.like(*example[:-1]), example[-1])
        total.backward()
        self.eager.step()
        return self.step(*example).item(), total.item()

    def assert_same(self) -> None:
        pairs = zip(self.model.state_dict().items(), self.like.state_dict().values(), strict=True)
        for (name, found), expected in pairs:
            torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4, msg=lambda text, n=name: f"{n}: {text}")
        states = zip(
            self.optimizer.state_dict()["state"].values(), self.eager.state_dict()["state"].values(), strict=True
        )
        for found, expected in states:
            torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-3)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


FEW = ("momentum", "adamw-fused")


@pytest.mark.parametrize("name", [*FEW, *(pytest.param(n, marks=pytest.mark.slow) for n in OPTIMIZERS if n not in FEW)])
def test_steps_are_those_of_eager_pytorch(name: str) -> None:
    pair = Pair(convolutions().train(), OPTIMIZERS[name], nn.CrossEntropyLoss(), images())
    losses = [pair.both(*images()) for _ in range(5)]
    for found, expected in losses:
        assert found == pytest.approx(expected, rel=1e-4)
    pair.assert_same()


@pytest.mark.parametrize("make", [OPTIMIZERS["momentum"], OPTIMIZERS["adam"], RAdam, ASGD])
def test_steps_in_float64_have_its_digits(make: Make) -> None:
    """Rates, counters of steps and what follows from them are computed in float64, as eager PyTorch's Python does."""
    example = (torch.randn(4, 8, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64))
    pair = Pair(nn.Sequential(nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3)).double(), make, nn.MSELoss(), example)
    before = [each.detach().clone() for each in pair.like.parameters()]
    for _ in range(7):
        pair.both(*example)
    for found, expected, start in zip(pair.model.parameters(), pair.like.parameters(), before, strict=True):
        moved = (expected - start).abs().max().item()
        assert moved > 0
        assert (found - expected).abs().max().item() < 1e-12 * moved


def test_nothing_is_warned_of_and_onednn_is_as_it_was() -> None:
    model, x = nn.Linear(3, 3), torch.randn(2, 3)
    frozen = {"__allow_nonbracketed_mutation_flag": False}  # as PyTorch's own tests have its flags
    with warnings.catch_warnings(), mock.patch.dict(torch.backends.flags_frozen.__globals__, frozen):
        warnings.simplefilter("error")
        hotdesk.compile_step(model, nn.MSELoss(), SGD(model.parameters(), lr=0.1), (x, x))
    assert torch.backends.mkldnn.enabled


def test_an_example_may_be_compared_with_itself() -> None:
    x, y = torch.randn(3, 32), torch.randn(3, 32)
    for example in ((x, x), (x, x[:])):
        pair = Pair(linear(), OPTIMIZERS["momentum"], nn.MSELoss(), example)
        for given in ((x, x), (x, y), (y, x)):
            found, expected = pair.both(*given)
            assert found == pytest.approx(expected, rel=1e-4)
        pair.assert_same()


class Encoder(nn.Module):
    """Returns its loss itself, and has a parameter that is not trained and one that no gradient reaches."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.fixed = nn.Parameter(torch.randn(16), requires_grad=False)
        self.unused = nn.Parameter(torch.randn(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.layer(x) * self.fixed).square().mean()


def test_a_model_that_returns_its_loss() -> None:
    x = torch.randn(2, 7, 16)
    pair = Pair(Encoder(), lambda p: SGD(p, lr=0.1, momentum=0.9), None, (x,))
    for _ in range(3):
        found, expected = pair.both(x)
        assert found == pytest.approx(expected, rel=1e-4)
    for found, expected in zip(pair.model.parameters(), pair.like.parameters(), strict=True):
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-3)


class Alone(nn.Module):
    """A loss that is a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(1.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight


def test_a_parameter_that_is_the_loss() -> None:
    x = torch.zeros(1)
    pair = Pair(Alone(), lambda p: SGD(p, lr=0.1), None, (x,))
    for after in (1.4, 1.3):  # in eager PyTorch too the result is the parameter, as it is after the step
        assert pair.both(x) == (pytest.approx(after), pytest.approx(after))


def linear(*, depth: int = 1) -> nn.Module:
    return nn.Sequential(*(nn.Linear(32, 32, bias=False) for _ in range(depth)))


def test_gradients_do_not_live_together() -> None:
    """Eight layers with 4,096 bytes of gradient each; of a batch of one row, activations are 128 bytes each."""
    example = (torch.randn(1, 32), torch.randn(1, 32))
    model = linear(depth=8)
    step = hotdesk.compile_step(model, nn.MSELoss(), SGD(model.parameters(), lr=0.1), example)
    assert step.memory(*example).arena < 3 * 4096


def test_learning_rates_are_read_at_every_step() -> None:
    example = (torch.randn(3, 32), torch.randn(3, 32))
    pair = Pair(linear(), lambda p: SGD(p, lr=0.1), nn.MSELoss(), example)
    for rate in (0.5, 0.01, 0.0):
        for optimizer in (pair.optimizer, pair.eager):
            optimizer.param_groups[0]["lr"] = rate
        before = pair.model.state_dict()["0.weight"].clone()
        pair.both(*example)
        pair.assert_same()
        assert torch.equal(before, pair.model.state_dict()["0.weight"]) is (rate == 0.0)


def test_other_settings_are_read_once() -> None:
    example = (torch.randn(3, 32), torch.randn(3, 32))
    model = linear()
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    step = hotdesk.compile_step(model, nn.MSELoss(), optimizer, example)
    optimizer.param_groups[0]["momentum"] = 0.5
    with pytest.raises(OptionError, match=r"setting 'momentum' of the optimizer: expected 0.9, .*, got 0.5"):
        step(*example)
    optimizer.param_groups[0]["momentum"] = 0.9
    step(*example)
    optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(3))]})
    with pytest.raises(OptionError, match="expected 1 groups of parameters, as when the step was compiled, got 2"):
        step(*example)


def test_a_rate_in_a_tensor_that_is_read_once() -> None:
    example = (torch.randn(3, 32), torch.randn(3, 32))
    model, rate = linear(), torch.tensor(0.125)
    step = hotdesk.compile_step(model, nn.MSELoss(), RMSprop(model.parameters(), lr=rate), example)
    step(*example)
    rate.fill_(0.25)
    with pytest.raises(
        OptionError, match=r"setting 'lr' of the optimizer: expected 0.125.*takes learning rates as numbers"
    ):
        step(*example)


def test_one_cycle_of_rates() -> None:
    example = (torch.randn(3, 32), torch.randn(3, 32))
    pair = Pair(linear(), lambda p: SGD(p, lr=0.1, momentum=0.9), nn.MSELoss(), example)
    cycle = torch.optim.lr_scheduler.OneCycleLR
    schedules = [cycle(each, 0.2, total_steps=6, cycle_momentum=False) for each in (pair.optimizer, pair.eager)]
    pair.optimizer.step()  # no gradients: it changes nothing, and the scheduler looks for it
    for _ in range(5):
        pair.both(*example)
        for schedule in schedules:
            schedule.step()
    pair.assert_same()


@pytest.mark.parametrize("name", ["momentum", "betas"])
def test_schedulers_that_change_more_than_rates(name: str) -> None:
    model, example = linear(), (torch.randn(3, 32), torch.randn(3, 32))
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9) if name == "momentum" else Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.2, total_steps=6)
    step = hotdesk.compile_step(model, nn.MSELoss(), optimizer, example)
    step(*example)
    optimizer.step()
    schedule.step()
    before = model.state_dict()["0.weight"].clone()
    with pytest.raises(OptionError, match=f"setting '{name}' of the optimizer: .*`cycle_momentum=False`"):
        step(*example)
    assert torch.equal(model.state_dict()["0.weight"], before)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (torch.optim.LBFGS, "expected one that takes one gradient a step, got LBFGS, which evaluates the loss"),
        (torch.optim.SparseAdam, "expected an optimizer of torch.optim for dense gradients, got SparseAdam"),
        (torch.optim.Adafactor, "without reading numbers out of tensors, got Adafactor"),
    ],
)
def test_optimizers_that_are_refused(make: Any, message: str) -> None:
    model, example = linear(), (torch.randn(3, 32), torch.randn(3, 32))
    with pytest.raises(OptionError, match=f"{message}.*let the optimizer step in eager PyTorch"):
        hotdesk.compile_step(model, nn.MSELoss(), make(model.parameters()), example)


class Clipped(SGD):
    """Clips the common norm of all gradients before it updates."""

    def step(self, closure: Any = None) -> Any:
        nn.utils.clip_grad_norm_([each for group in self.param_groups for each in group["params"]], 0.1)
        return super().step(closure)


def test_an_optimizer_that_clips() -> None:
    example = (torch.randn(3, 32), torch.randn(3, 32))
    pair = Pair(linear(depth=3), lambda p: Clipped(p, lr=0.5, momentum=0.9), nn.MSELoss(), example)
    before = pair.model.state_dict()["0.weight"].clone()
    for _ in range(3):
        found, expected = pair.both(*example)
        assert found == pytest.approx(expected, rel=1e-5)
    assert not torch.equal(before, pair.model.state_dict()["0.weight"])
    pair.assert_same()


class InParts(nn.Module):
    """The mean loss of two halves of a batch: their gradients are accumulated."""

    def __init__(self) -> None:
        super().__init__()
        self.model = linear(depth=2)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        halves = zip(x.chunk(2), y.chunk(2), strict=True)
        return torch.stack([nn.functional.mse_loss(self.model(a), b) for a, b in halves]).mean()


def test_gradients_of_parts_are_accumulated() -> None:
    example = (torch.randn(8, 32), torch.randn(8, 32))
    pair = Pair(InParts(), lambda p: SGD(p, lr=0.5), None, example)
    for _ in range(3):
        found, expected = pair.both(*example)
        assert found == pytest.approx(expected, rel=1e-5)
    pair.assert_same()


def test_schedulers_may_come_later() -> None:
    example = (torch.randn(3, 32), torch.randn(3, 32))
    pair = Pair(linear(), lambda p: SGD(p, lr=0.1), nn.MSELoss(), example)
    schedules = [torch.optim.lr_scheduler.StepLR(each, 1, 0.5) for each in (pair.optimizer, pair.eager)]
    pair.optimizer.step()  # no gradients: it changes nothing, and the scheduler looks for it
    for _ in range(3):
        pair.both(*example)
        for schedule in schedules:
            schedule.step()
    assert pair.optimizer.param_groups[0]["lr"] == 0.0125
    pair.assert_same()


def test_state_that_has_not_begun_is_refused() -> None:
    model, example = linear(), (torch.randn(3, 32), torch.randn(3, 32))
    optimizer = Adam(model.parameters(), lr=1e-2)
    empty = copy.deepcopy(optimizer.state_dict())
    step = hotdesk.compile_step(model, nn.MSELoss(), optimizer, example)
    optimizer.load_state_dict(empty)
    with pytest.raises(OptionError, match=r"the optimizer's state: expected `\w+` for each parameter"):
        step(*example)


class Tied(nn.Module):
    """One tensor is both embedding and head; names of two more are alike but for their dots."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.words.weight
        self.a, self.a_b = nn.Module(), nn.Module()
        self.a.b_c = nn.Parameter(torch.randn(4))
        self.a_b.c = nn.Parameter(torch.randn(4))

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        inner = torch.tanh(self.words(places) * self.a.b_c + self.a_b.c)
        return self.head(inner) + self.words.weight[1:3].sum()


def test_tied_parameters_and_names_that_are_alike() -> None:
    example = (torch.tensor([0, 1, 1, 6]), torch.tensor([1, 2, 3, 0]))
    pair = Pair(Tied(), lambda p: Adam(p, lr=1e-2), nn.CrossEntropyLoss(), example)
    for _ in range(3):
        found, expected = pair.both(*example)
        assert found == pytest.approx(expected, rel=1e-4)
    pair.assert_same()


class Words(nn.Module):
    """Looks words up in the table that it predicts them by, which is most of the bytes of a step."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(512, 32)
        self.inner = nn.Linear(32, 32)
        self.head = nn.Linear(32, 512, bias=False)
        self.head.weight = self.words.weight

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        return self.head(torch.tanh(self.inner(self.words(places))))


@pytest.mark.parametrize(("make", "tables"), [(lambda p: SGD(p, lr=0.1, momentum=0.9), 0), (OPTIMIZERS["momentum"], 1)])
def test_gradients_of_a_tied_table_are_one(make: Make, tables: int) -> None:
    """A momentum takes up both of them, where it is; Nesterov's reads their sum again, so one is added to the other."""
    example = (torch.randint(0, 512, (16,)), torch.randint(0, 512, (16,)))
    pair = Pair(Words(), make, nn.CrossEntropyLoss(), example)
    for _ in range(3):
        found, expected = pair.both(*example)
        assert found == pytest.approx(expected, rel=1e-5)
    pair.assert_same()
    table, scores = 512 * 32 * 4, 16 * 512 * 4
    assert tables * table <= pair.step.peak < (tables + 0.5) * table + scores
    assert any(each.reason is Reason.ADDED_WHERE_IT_LIES for each in pair.step.program.decisions())


def test_hooks_are_refused() -> None:
    example = (torch.randn(3, 32), torch.randn(3, 32))
    model = linear()
    optimizer = SGD(model.parameters(), lr=0.1)
    hook = optimizer.register_step_post_hook(lambda *_: None)
    with pytest.raises(OptionError, match="an optimizer without hooks"):
        hotdesk.compile_step(model, nn.MSELoss(), optimizer, example)
    hook.remove()
    cast(Any, next(model.parameters())).register_hook(torch.neg)
    with pytest.raises(OptionError, match="a hook of `0.weight`"):
        hotdesk.compile_step(model, nn.MSELoss(), optimizer, example)


def test_state_that_was_loaded_goes_on() -> None:
    example = (torch.randn(3, 32), torch.randn(3, 32))
    pair = Pair(linear(), lambda p: Adam(p, lr=1e-2), nn.MSELoss(), example)
    pair.both(*example)
    saved = copy.deepcopy((pair.like.state_dict(), pair.eager.state_dict()))
    pair.both(*example)
    pair.model.load_state_dict(saved[0])
    pair.optimizer.load_state_dict(copy.deepcopy(saved[1]))
    pair.step(*example)
    pair.assert_same()


class Frozen(nn.Module):
    """What is not trained is computed with before it meets what is."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 6).requires_grad_(False)
        self.norm = nn.BatchNorm1d(6).requires_grad_(False).eval()
        self.last = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.tanh(self.norm(self.first(x))))


def test_what_is_not_trained_may_be_loaded_anew() -> None:
    example = (torch.randn(4, 8), torch.randn(4, 3))
    pair = Pair(Frozen(), lambda p: SGD([each for each in p if each.requires_grad], lr=0.1), nn.MSELoss(), example)
    pair.both(*example)
    shifted = {
        name: each + torch.rand(each.shape) if each.is_floating_point() else each
        for name, each in pair.like.state_dict().items()
    }
    for model in (pair.model, pair.like):
        model.load_state_dict(shifted)
    for _ in range(2):
        found, expected = pair.both(*example)
        assert found == pytest.approx(expected, rel=1e-5)
    pair.assert_same()


def test_tensors_that_are_not_those_that_were_compiled_for_are_refused() -> None:
    """Parameters that are frozen, replaced or moved, and groups of others; what was put back goes on."""
    x, y = torch.randn(4, 8), torch.randn(4, 6)
    model = nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6))
    linear, norm, like = cast(nn.Linear, model[0]), cast(nn.BatchNorm1d, model[1]), copy.deepcopy(model[0])
    optimizer = SGD(model.parameters(), lr=0.1)
    step = hotdesk.compile_step(model, nn.MSELoss(), optimizer, (x, y))
    weight, mean, memory = linear.weight, norm.running_mean, linear.weight.data
    group = optimizer.param_groups[0]
    params = group["params"]
    changes: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        r"`0.weight`.*`requires_grad` True.*got `requires_grad` False": (
            lambda: weight.requires_grad_(False),
            lambda: weight.requires_grad_(True),
        ),
        r"`0.weight`.*expected the memory .* got memory elsewhere": (
            lambda: setattr(weight, "data", memory.clone()),
            lambda: setattr(weight, "data", memory),
        ),
        r"`0.weight`.*got another one": (
            lambda: model.__setitem__(0, like),
            lambda: model.__setitem__(0, linear),
        ),
        r"`0.weight`.*got none": (
            lambda: setattr(linear, "weight", None),
            lambda: setattr(linear, "weight", weight),
        ),
        r"`1.running_mean`.*got another one": (
            lambda: setattr(norm, "running_mean", torch.ones(6)),
            lambda: setattr(norm, "running_mean", mean),
        ),
        r"`2.weight` of the model: expected none, as when the step was compiled, got a tensor": (
            lambda: model.append(nn.Linear(6, 6)),
            lambda: model.pop(2),
        ),
        r"groups of the optimizer: expected the parameters that they had": (
            lambda: group.update(params=params[::-1]),
            lambda: group.update(params=params),
        ),
        r"a hook of `0.weight`": (
            lambda: weight.register_hook(torch.neg),
            lambda: cast(Any, weight)._backward_hooks.clear(),
        ),
    }
    before = {name: each.clone() for name, each in model.state_dict().items()}
    for message, (change, undo) in changes.items():
        change()
        with pytest.raises(OptionError, match=message):
            step(x, y)
        undo()
    torch.testing.assert_close(dict(model.state_dict()), before, atol=0, rtol=0)
    assert step(x, y).isfinite()
    assert not torch.equal(weight, before["0.weight"])


def test_a_loss_with_weights_of_classes() -> None:
    """They are read where they lie: the third step has others."""
    x, labels = torch.randn(4, 8), torch.randint(0, 3, (4,))
    loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 3.0]))
    pair = Pair(nn.Linear(8, 3), OPTIMIZERS["momentum"], loss, (x, labels))
    for factor in (1.0, 1.0, torch.tensor([4.0, 1.0, 0.5])):
        cast(torch.Tensor, loss.weight).mul_(factor)
        found, expected = pair.both(x, labels)
        assert found == pytest.approx(expected, rel=1e-5)
    pair.assert_same()


@pytest.mark.parametrize("weight", [None, torch.ones(3)])
def test_weights_of_classes_that_are_others_are_refused(weight: torch.Tensor | None) -> None:
    model, loss, labels = nn.Linear(8, 3), nn.CrossEntropyLoss(weight=weight), torch.randint(0, 3, (4,))
    step = hotdesk.compile_step(model, loss, SGD(model.parameters(), lr=0.1), (torch.randn(4, 8), labels))
    loss.weight = torch.ones(3)
    with pytest.raises(OptionError, match="buffer `weight` of the loss: expected"):
        step(torch.randn(4, 8), labels)
    loss.weight = weight
    assert step(torch.randn(4, 8), labels).isfinite()


class Blocks(nn.Module):
    """Residual blocks of convolutions of all kinds, whose gradients read padded, strided and transposed images."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Sequential(nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=2), nn.BatchNorm2d(8), nn.ReLU())
        self.thin = nn.Sequential(nn.Conv2d(8, 16, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 1))
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.last = nn.Conv2d(16, 5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = torch.relu(self.first(x))
        x = self.down(wide)
        x = x + self.thin(x)
        x = torch.relu(self.up(x))
        return self.last(self.pool(torch.cat([wide, x], dim=1)))


def segments() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(2, 3, 96, 96), torch.randint(0, 5, (2, 48, 48))


def test_less_is_kept_for_the_backward_pass() -> None:
    """The same numbers whether values are kept or made again, and fewer bytes."""
    model, example = Blocks().train(), segments()
    like = copy.deepcopy(model)
    kept = hotdesk.compile_step(
        like, nn.CrossEntropyLoss(), SGD(like.parameters(), lr=0.1), example, options=hotdesk.Options()
    )
    pair = Pair(model, OPTIMIZERS["momentum"], nn.CrossEntropyLoss(), example)
    assert pair.step.peak < 0.85 * kept.peak
    for _ in range(3):
        found, expected = pair.both(*segments())
        assert found == pytest.approx(expected, rel=1e-4)
    pair.assert_same()


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(211, 32)
        layers = [
            nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True, norm_first=True) for _ in range(3)
        ]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(32, 211)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.words(words))).flatten(0, 1)


def test_attention_is_made_again() -> None:
    """Weights of attention are not kept; labels of -100 are ignored."""
    words = torch.randint(0, 211, (2, 48))
    labels = torch.where(torch.rand(96) < 0.2, -100, words.flatten())
    model = Attending().train()
    pair = Pair(model, lambda p: SGD(p, lr=0.1, momentum=0.9), nn.CrossEntropyLoss(), (words, labels))
    assert any(str(each.outcome) == "recomputed" for each in pair.step.program.decisions())
    for _ in range(3):
        found, expected = pair.both(words, labels)
        assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
def test_a_budget_computes_again_what_it_would_keep() -> None:
    def deep() -> nn.Module:
        return nn.Sequential(*(layer for _ in range(3) for layer in (nn.Linear(16, 16), nn.GELU())))

    model, example = deep(), (torch.randn(512, 16), torch.randn(512, 16))
    free = hotdesk.compile_step(model, nn.MSELoss(), SGD(model.parameters(), lr=0.0), example).peak
    pair = Pair(deep(), lambda p: SGD(p, lr=0.1), nn.MSELoss(), example, budget=free - 32768)
    assert pair.step.peak <= free - 32768
    for _ in range(3):
        found, expected = pair.both(*example)
        assert found == pytest.approx(expected, rel=1e-4)
    with pytest.raises(PlanError, match="at most 1,000 bytes"):
        hotdesk.compile_step(model, nn.MSELoss(), SGD(model.parameters(), lr=0.1), example, budget=1000)


class Drawing(nn.Module):
    """Blocks with dropout that read a buffer, write to it, and read it again."""

    seen: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.ModuleList(nn.Linear(32, 128) for _ in range(2))
        self.narrow = nn.ModuleList(nn.Sequential(nn.LayerNorm(128), nn.Linear(128, 32)) for _ in range(2))
        self.drop = nn.Dropout(0.3)
        self.register_buffer("seen", torch.ones(64, 128))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for wide, narrow in zip(self.wide, self.narrow, strict=True):
            inner = self.drop(nn.functional.gelu(wide(x)) * self.seen.clone())
            self.seen.mul_(0.5).add_(inner.detach())
            x = x + narrow(inner + self.seen)
        return x


def test_what_is_made_again_draws_the_same_and_reads_state_as_it_was() -> None:
    model, example = Drawing().train(), (torch.randn(64, 32), torch.randn(64, 32))
    found: list[tuple[list[float], list[torch.Tensor]]] = []
    for again in (False, True):
        like = copy.deepcopy(model)
        options = hotdesk.Options(seed=3, recompute=again)
        step = hotdesk.compile_step(like, nn.MSELoss(), SGD(like.parameters(), lr=0.1), example, options=options)
        made = [each for each in step.program.decisions() if str(each.outcome) == "recomputed"]
        assert bool(made) == again
        found.append(([step(*example).item() for _ in range(3)], list(like.state_dict().values())))
    (losses, state), (losses_again, state_again) = found
    assert losses_again == losses
    for a, b in zip(state, state_again, strict=True):
        torch.testing.assert_close(b, a, rtol=0, atol=0)


def test_dropout_draws_at_every_step() -> None:
    model = nn.Sequential(nn.Linear(32, 32), nn.Dropout(0.5)).train()
    example = (torch.randn(8, 32), torch.zeros(8, 32))
    step = hotdesk.compile_step(model, nn.MSELoss(), SGD(model.parameters(), lr=0.0), example)
    first, second = step(*example).item(), step(*example).item()
    assert first != second
    step.program.seed(0)
    assert step(*example).item() == first


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"model": torch.relu}, ArgumentTypeError, "argument 'model': expected a Module, got builtin"),
        ({"optimizer": "sgd"}, ArgumentTypeError, "argument 'optimizer': expected a Optimizer, got str"),
        ({"optimizer": SGD(linear().parameters(), lr=0.1)}, OptionError, "expected parameters of the model"),
        ({"loss": lambda y, t: y - t}, OptionError, r"the loss: .* got one of shape \(3, 32\)"),
        ({"loss": lambda y, t: t.mean()}, OptionError, "that depends on the parameters"),
        ({"example": torch.zeros(3, 32)}, ArgumentTypeError, "argument 'example': expected a tuple, got Tensor"),
        ({"options": {}}, OptionError, r"options: expected hotdesk\.Options\(…\), or None, got dict"),
        ({"example": (torch.zeros(3, 32),)}, ExportError, r"those of Sequential\.forward: input, got 0 arguments"),
    ],
)
def test_what_cannot_be_a_step_is_refused(change: dict[str, Any], error: type[Exception], message: str) -> None:
    model = linear()
    given: dict[str, Any] = {
        "model": model,
        "loss": nn.MSELoss(),
        "optimizer": SGD(model.parameters(), lr=0.1),
        "example": (torch.zeros(3, 32), torch.zeros(3, 32)),
    }
    with pytest.raises(error, match=message):
        hotdesk.compile_step(**{**given, **change})


def test_an_optimizer_that_reads_a_number_out_of_a_tensor() -> None:
    """Adagrad takes its count of steps as a number: what it decays by is read at every step."""
    example = (torch.randn(3, 32), torch.randn(3, 32))
    pair = Pair(linear(), lambda p: Adagrad(p, lr=0.1, lr_decay=0.5), nn.MSELoss(), example)
    for _ in range(3):
        pair.both(*example)
    pair.assert_same()


def test_momentum_that_is_damped_has_to_have_begun() -> None:
    model, example = linear(), (torch.zeros(3, 32), torch.zeros(3, 32))
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9, dampening=0.5)
    with pytest.raises(OptionError, match="Run one step in eager PyTorch"):
        hotdesk.compile_step(model, nn.MSELoss(), optimizer, example)


class Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., nn.RNNBase]) -> None:
        super().__init__()
        self.rows = kind(6, 8, batch_first=True)
        self.last = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.rows(x)[0][:, -1])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers(kind: type[nn.RNNBase]) -> None:
    """Step by step: PyTorch's own op for the CPU hands its gradient memory whose size it does not tell; the process died."""
    torch.manual_seed(0)
    example = (torch.randn(3, 5, 6), torch.randint(0, 4, (3,)))
    pair = Pair(Recurrent(kind), OPTIMIZERS["momentum"], nn.CrossEntropyLoss(), example)
    assert not any("rnn" in name for name in pair.step.program.foreign)
    for _ in range(3):
        found, expected = pair.both(*example)
        assert found == pytest.approx(expected, rel=1e-4)
    pair.assert_same()


def test_attention_takes_memory_by_the_length() -> None:
    """Twice the queries and keys take about twice the bytes: no values of queries by keys are there at once."""

    class Attending(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inside, self.outside = nn.Linear(32, 96), nn.Linear(32, 32)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            query, key, value = self.inside(x).unflatten(-1, (3, 2, 16)).permute(2, 0, 3, 1, 4)
            attended = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            return self.outside(attended.transpose(1, 2).flatten(-2))

    peaks: list[int] = []
    for length in (512, 1024):
        example = (torch.randn(1, length, 32), torch.randn(1, length, 32))
        pair = Pair(Attending(), OPTIMIZERS["sgd"], nn.MSELoss(), example)
        loss, expected = pair.both(*example)
        assert loss == pytest.approx(expected, rel=1e-5)
        pair.assert_same()
        peaks.append(pair.step.peak)
    scores = 2 * 1024**2 * 4
    assert peaks[1] < scores
    assert peaks[1] < 2.5 * peaks[0]


def test_gradients_are_named_by_the_line_of_what_they_are_gradients_of() -> None:
    class Line(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(64, 64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x @ self.weight).tanh() @ self.weight

    example = (torch.randn(32, 64), torch.randn(32, 64))
    pair = Pair(Line(), OPTIMIZERS["momentum"], nn.MSELoss(), example)
    pair.both(*example)
    pair.assert_same()
    rates = [torch.tensor(0.1, dtype=torch.float64)]
    made = [each for each in pair.step.program.buffers(rates, *example) if each.name == "hotdesk.contract"]
    assert len(made) >= 3  # the gradients of both uses of the weight add up in its momentum
    line = Line.forward.__code__.co_firstlineno + 1
    assert {each.location for each in made} == {f"{__file__}:{line}"}


def deep() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 4))


def test_gradients_of_modules_and_updates_are_named() -> None:
    """The module's line stands for its gradients; the optimizer's step and the name of the parameter for an update."""
    example = (torch.randn(32, 16), torch.randn(32, 4))
    model = deep()
    step = hotdesk.compile_step(model, nn.MSELoss(), AdamW(model.parameters(), lr=1e-3), example)
    rates = [torch.tensor(0.1, dtype=torch.float64)]
    made = {each.location.rpartition(":")[0] for each in step.program.buffers(rates, *example)}
    assert {Path(file).name for file in made} <= {"linear.py", "activation.py", "loss.py", "adam.py", "adamw.py"}
    updated = {
        source.module for each in step.program.decisions() for source in each.because if "adam" in source.location
    }
    assert updated >= {"0.weight", "2.weight", "4.weight", "2.bias"}


@pytest.mark.parametrize("name", ["sgd", "decay"])
def test_a_gradient_is_taken_up_by_the_weights(name: str) -> None:
    """As by a momentum: the product is scaled before, so that it adds up where the weights are."""
    example = (torch.randn(32, 16), torch.randn(32, 4))
    pair = Pair(deep(), OPTIMIZERS[name], nn.MSELoss(), example)
    for _ in range(3):
        found, expected = pair.both(*example)
        assert found == pytest.approx(expected, rel=1e-5)
    pair.assert_same()
    momentum = Pair(deep(), lambda p: SGD(p, lr=0.1, momentum=0.9), nn.MSELoss(), example)
    assert pair.step.peak <= momentum.step.peak < 2 * 64 * 64 * 4 + 4096
