"""The gradient of `ctc_loss` is eager PyTorch's, under `torch.compile` and in a step of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.exc import Unsupported
from torch.nn.functional import ctc_loss

import hotdesk
from hotdesk.errors import ExecutionError
from hotdesk.torch_compile.backend import backend

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

STEPS, CLASSES = 12, 6
ROWS = torch.tensor([[1, 3, 3, 4, 5], [5, 1, 1, 1, 2], [4, 4, 4, 4, 4], [3, 1, 2, 5, 1]])
LENGTHS, COUNTS = [12, 9, 7, 0], [5, 3, 5, 2]
"""Labels that repeat, two sequences of which no alignment is as short as the input, one of them of no step."""


def padded() -> Tensor:
    return torch.where(torch.arange(5) < torch.tensor(COUNTS).unsqueeze(1), ROWS, -1)


def flat() -> Tensor:
    return torch.cat([row[:count] for row, count in zip(ROWS, COUNTS, strict=True)])


def tensors(*numbers: Any) -> tuple[Tensor, ...]:
    return tuple(torch.tensor(each) for each in numbers)


def weighted(x: Tensor) -> Tensor:
    return (x * torch.arange(-1.0, 3.0, dtype=x.dtype)).sum()


Loss = Callable[..., Tensor]
CASES: dict[str, tuple[Loss, tuple[Tensor, ...]]] = {
    "rows": (
        lambda x, *rest: weighted(ctc_loss(x, *rest, reduction="none")),
        (padded(), *tensors(LENGTHS, COUNTS)),
    ),
    "rows-without-infinity": (
        lambda x, rows: weighted(ctc_loss(x, rows, LENGTHS, COUNTS, reduction="none", zero_infinity=True)),
        (ROWS,),
    ),
    "one-behind-the-other": (nn.CTCLoss(zero_infinity=True), (flat().int(), *tensors(LENGTHS, COUNTS))),
    "another-blank": (lambda x, labels: ctc_loss(x, labels, [12, 11, 12, 9], COUNTS, blank=5), (flat() % 5,)),
    "no-labels": (
        lambda x, *rest: ctc_loss(x, *rest, reduction="sum"),
        (ROWS[0, :0].clone(), *tensors(LENGTHS, [0] * 4)),
    ),
    "rows-of-no-labels": (lambda x, rows: ctc_loss(x, rows, LENGTHS, [0] * 4), (ROWS[:, :0].clone(),)),
    "one-sequence": (
        lambda x, *rest: ctc_loss(x[:, 0], *rest, reduction="sum"),
        (ROWS[0, :4].clone(), *tensors(11, 4)),
    ),
}

NAMES = [name if name == "rows" else pytest.param(name, marks=pytest.mark.slow) for name in CASES]


def example(dtype: torch.dtype = torch.float32) -> Tensor:
    """One class is impossible at one step, of which eager PyTorch's gradient is no number."""
    x = torch.randn(STEPS, 4, CLASSES, dtype=dtype).log_softmax(-1)
    x[5, 0, 2] = -torch.inf
    return x


def eager(loss: Loss, x: Tensor, *rest: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone().requires_grad_()
    total = loss(x, *rest)
    total.backward()
    assert x.grad is not None
    return total.detach(), x.grad


class Given(nn.Module):
    """The loss of a parameter, as it is: not of what log-softmax makes of it, whose gradient hides what sums to zero."""

    def __init__(self, x: Tensor, loss: Loss) -> None:
        super().__init__()
        self.x = nn.Parameter(x.clone())
        self.loss = loss

    def forward(self, *rest: Tensor) -> Tensor:
        return self.loss(self.x, *rest)


@pytest.mark.parametrize("name", NAMES)
def test_graphs_of_dynamo(name: str) -> None:
    (loss, rest), x = CASES[name], example()
    expected = eager(loss, x, *rest)
    given = x.clone().requires_grad_()
    total = torch.compile(loss, backend=backend, fullgraph=True)(given, *rest)
    total.backward()
    torch.testing.assert_close((total, given.grad), expected, equal_nan=True, atol=1e-5, rtol=1e-5)
    assert [graph.kind for graph in hotdesk.dynamo_report().compiled] == ["forward", "backward"]


@pytest.mark.parametrize("name", NAMES)
def test_steps_of_training(name: str) -> None:
    (loss, rest), x = CASES[name], example(torch.float64)
    total, gradient = eager(loss, x, *rest)
    model = Given(x, loss)
    step = hotdesk.compile_step(model, None, torch.optim.SGD(model.parameters(), lr=1.0), rest)
    torch.testing.assert_close(step(*rest), total, equal_nan=True)
    torch.testing.assert_close(x - model.x.detach(), gradient, equal_nan=True)


class Sequences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, CLASSES)

    def forward(self, x: Tensor, targets: Tensor, lengths: Tensor, counts: Tensor) -> Tensor:
        return ctc_loss(self.layer(x).log_softmax(-1), targets, lengths, counts)


def test_a_step_checks_lengths_and_labels_before_it_changes_anything() -> None:
    model = Sequences()
    args = (torch.randn(STEPS, 4, 3), ROWS, *tensors([12, 12, 12, 12], COUNTS))
    step = hotdesk.compile_step(model, None, torch.optim.SGD(model.parameters(), lr=0.1), args)
    expected = model(*args).item()
    x, targets, lengths, counts = args
    before = [each.detach().clone() for each in model.parameters()]
    for wrong, told in (
        ((x, targets, lengths + 1, counts), "not within its steps"),
        ((x, targets, lengths, counts + 1), "not within its labels"),
        ((x, targets + CLASSES, lengths, counts), "none of its classes"),
    ):
        with pytest.raises(ExecutionError, match=told):
            step(*wrong)
    for found, kept in zip(model.parameters(), before, strict=True):
        assert torch.equal(found, kept)
    assert step(*args).item() == pytest.approx(expected, rel=1e-5)


def test_a_call_checks_lengths_under_torch_compile() -> None:
    x, lengths, counts = example().requires_grad_(), *tensors([12, 12, 12, 12], COUNTS)
    compiled = torch.compile(ctc_loss, backend=backend, fullgraph=True)
    compiled(x, ROWS, lengths, counts).backward()
    with pytest.raises(ExecutionError, match="not within its steps"):
        compiled(x, ROWS, lengths + 1, counts)


def test_the_gradient_keeps_one_tensor_for_each_step_and_place() -> None:
    """In a step of training: of places among the labels as many as there are, twice and one more, and the scores themselves."""
    steps, batch, classes, most = 200, 4, 40, 15
    model = Given(torch.randn(steps, batch, classes), lambda x, *rest: ctc_loss(x.log_softmax(-1), *rest))
    rest = (torch.randint(1, classes, (batch, most)), *tensors([steps] * batch, [most] * batch))
    step = hotdesk.compile_step(model, None, torch.optim.SGD(model.parameters(), lr=0.1), rest)
    scores, kept = 4 * steps * batch * classes, 4 * steps * batch * (2 * most + 1)
    assert step.peak < 1.1 * (2 * scores + kept)


def test_other_backends_break_their_graphs_as_before() -> None:
    for lengths in (tensors([12] * 4, COUNTS), ([12] * 4, COUNTS)):
        compiled = torch.compile(ctc_loss, backend="aot_eager", fullgraph=True)
        with pytest.raises(Unsupported, match="Dynamic shape operator"):
            compiled(example(), ROWS, *lengths)


@pytest.mark.slow
def test_sizes_that_vary() -> None:
    compiled = torch.compile(ctc_loss, backend=backend, fullgraph=True, dynamic=True)
    for steps, batch, most in ((12, 3, 4), (17, 5, 6), (9, 2, 3)):
        x = torch.randn(steps, batch, CLASSES).log_softmax(-1)
        rest = (torch.randint(1, CLASSES, (batch, most)), torch.full((batch,), steps), torch.full((batch,), most))
        given = x.clone().requires_grad_()
        total = compiled(given, *rest)
        total.backward()
        expected = eager(ctc_loss, x, *rest)
        torch.testing.assert_close((total, given.grad), expected, atol=1e-5, rtol=1e-5)
