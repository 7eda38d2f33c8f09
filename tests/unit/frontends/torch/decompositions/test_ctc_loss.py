"""`ctc_loss` is eager PyTorch's for lengths in tensors, targets in rows or one behind the other, and sizes that vary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import ctc_loss

import hotdesk
from hotdesk.errors import ExecutionError, HotdeskError

STEPS, BATCH, CLASSES, MOST = 20, 3, 6, 7
LENGTHS, COUNTS = torch.tensor([20, 18, 15]), torch.tensor([7, 5, 4])


def example() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Labels that repeat, and blanks among them."""
    torch.manual_seed(0)
    targets = torch.randint(0, CLASSES, (BATCH, MOST))
    targets[:, 2] = targets[:, 1]
    return torch.randn(STEPS, BATCH, CLASSES).log_softmax(-1), targets, LENGTHS, COUNTS


def flat(targets: Tensor) -> Tensor:
    return torch.cat([row[: int(count)] for row, count in zip(targets, COUNTS, strict=True)])


def require_as_eager(function: Callable[..., Tensor], *args: Any) -> hotdesk.Program:
    program = hotdesk.compile(function, args)
    torch.testing.assert_close(program(*args), function(*args), equal_nan=True)
    return program


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("of_rows", [True, False])
def test_lengths_in_tensors(reduction: str, of_rows: bool) -> None:
    x, targets, *lengths = example()
    given = targets if of_rows else flat(targets)
    require_as_eager(lambda *args: ctc_loss(*args, reduction=reduction), x, given, *lengths)


def test_lengths_that_are_numbers() -> None:
    x, targets, *_ = example()
    lengths, counts = LENGTHS.tolist(), COUNTS.tolist()
    require_as_eager(lambda a, b: ctc_loss(a, b, lengths, counts, reduction="none"), x, flat(targets))


def test_the_module_and_the_functions_of_torch() -> None:
    args = example()
    require_as_eager(torch.nn.CTCLoss(blank=2, zero_infinity=True), *args)
    require_as_eager(lambda a, b, c, d: torch.ctc_loss(a, b, c, d, 1, 2, False), *args)
    require_as_eager(lambda *args: torch.ctc_loss(*args), *args)  # which reduces nothing by default


def test_steps_are_made_of_vectors() -> None:
    """Logarithms are not taken in the loop that looks labels up and checks them, and rows are whole vectors."""
    x, targets = torch.randn(5, 2, 9).log_softmax(-1), torch.randint(1, 9, (2, 30))
    lengths, counts = torch.tensor([5, 5]), torch.tensor([2, 1])
    program = hotdesk.compile(ctc_loss, (x, targets, lengths, counts), options=hotdesk.Options(keep_ir=True))
    loops = [each.partition("linalg.yield")[0] for each in program.ir("fuse").split("linalg.generic")]
    steps = [each for each in loops if "math.log" in each and ": tensor<2x64xf32>) {" in each]
    assert steps
    assert not any("cf.assert" in each for each in steps)
    torch.testing.assert_close(program(x, targets, lengths, counts), ctc_loss(x, targets, lengths, counts))


def test_what_pads_targets_is_not_read() -> None:
    x, targets, lengths, counts = example()
    padded = torch.where(torch.arange(MOST) < counts.unsqueeze(1), targets, -1)
    program = require_as_eager(lambda *args: ctc_loss(*args, reduction="none"), x, padded, lengths, counts)
    padded[padded == -1] = CLASSES
    torch.testing.assert_close(
        program(x, padded, lengths, counts), ctc_loss(x, padded, lengths, counts, reduction="none")
    )


def test_one_sequence() -> None:
    x, targets, lengths, counts = example()
    require_as_eager(lambda *args: ctc_loss(*args, reduction="none"), x[:, 0], targets[0], lengths[0], counts[0])


def test_inputs_that_are_too_short_and_targets_without_labels() -> None:
    x, targets, *_ = example()
    args = x.double(), targets, torch.tensor([3, 0, 0]), torch.tensor([7, 0, 2])
    program = require_as_eager(lambda *args: ctc_loss(*args, reduction="none"), *args)
    assert program(*args).tolist() == [torch.inf, 0, torch.inf]
    require_as_eager(lambda *args: ctc_loss(*args, zero_infinity=True), *args)


def test_targets_that_are_all_empty() -> None:
    x, targets, lengths, _ = example()
    for empty in (targets[:, :0].clone(), flat(targets)[:0].clone()):
        require_as_eager(lambda *args: ctc_loss(*args, reduction="none"), x, empty, lengths, torch.zeros_like(lengths))


def test_lengths_that_do_not_go_are_errors_of_the_call() -> None:
    x, targets, lengths, counts = example()
    rows = hotdesk.compile(ctc_loss, (x, targets, lengths, counts))
    behind = hotdesk.compile(ctc_loss, (x, flat(targets), lengths, counts))
    with pytest.raises(ExecutionError):
        rows(x, targets, lengths + 1, counts)
    with pytest.raises(ExecutionError):
        rows(x, targets, lengths, counts + 1)
    with pytest.raises(ExecutionError):
        rows(x, targets, -lengths, counts)
    with pytest.raises(ExecutionError):
        rows(x, targets + CLASSES, lengths, counts)
    for off in (-1, 1):
        with pytest.raises(ExecutionError):
            behind(x, flat(targets), lengths, counts + off)


def test_sizes_that_vary() -> None:
    steps, batch, most = (torch.export.Dim(name) for name in ("steps", "batch", "most"))
    shapes = ({0: steps, 1: batch}, {0: batch, 1: most}, {0: batch}, {0: batch})
    program = hotdesk.compile(ctc_loss, example(), dynamic_shapes=shapes)
    for count, rows, labels in ((20, 3, 7), (5, 2, 2), (31, 4, 9)):
        x = torch.randn(count, rows, CLASSES).log_softmax(-1)
        args = (
            x,
            torch.randint(1, CLASSES, (rows, labels)),
            torch.full((rows,), count),
            torch.randint(0, labels, (rows,)),
        )
        torch.testing.assert_close(program(*args), ctc_loss(*args))


def test_what_pytorch_refuses_is_refused() -> None:
    x, targets, lengths, counts = example()
    for args in (
        (x, targets, lengths[:2], counts),
        (x, targets, lengths.float(), counts),
        (x.half(), targets, lengths, counts),
    ):
        with pytest.raises(RuntimeError):
            ctc_loss(*args)
        with pytest.raises(HotdeskError):
            hotdesk.compile(ctc_loss, args)
