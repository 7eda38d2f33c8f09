"""The CTC loss (connectionist temporal classification) as a scan over the steps of a sequence, its lengths tensors or numbers.

Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist Temporal Classification", ICML 2006, section 4.1, in logarithms.

    ctc_loss(x, targets, lengths)    ->    scan(a, x):  a[s] = logsumexp(a[s], a[s - 1], a[s - 2]) + x[label[s]]

* `a[s]` is the logarithm of the probability that the first `s` of the labels have been told, blanks between them counted;
* `a[s - 2]` counts only for a label that is not the one before it;
* a sequence that has ended keeps what it has; PyTorch's own op reads the lengths as numbers, which no graph has.
"""

# Sizes may be symbolic, and `scan` is not annotated.
# pyright: reportUnnecessaryIsInstance=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch._higher_order_ops.scan import scan_op

from hotdesk.frontends.torch.decompositions.asserted import demand

_REDUCTIONS = ("none", "mean", "sum")
Lengths = Tensor | Sequence[int]


def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """As `torch.nn.functional.ctc_loss`: of log_probs `[steps, batch, classes]`, or `[steps, classes]` of one sequence."""
    batched = log_probs.dim() == 3
    each = log_probs if batched else log_probs.unsqueeze(1)
    if reduction not in _REDUCTIONS or not _takes(each, targets, input_lengths, target_lengths, blank):
        return NotImplemented
    steps, counts = _lengths(input_lengths), _lengths(target_lengths)
    demand((steps >= 0) & (steps <= each.size(0)), "a length of an input of ctc_loss is not within its steps")
    labels = _padded(targets, counts, target_lengths, blank)
    demand((counts >= 0) & (counts <= labels.size(1)), "a length of a target of ctc_loss is not within its labels")
    loss = _negative_log_likelihood(each, labels, steps, counts, blank)
    if zero_infinity:
        loss = torch.where(loss == torch.inf, 0.0, loss)
    if reduction == "mean":
        return (loss / counts.clamp_min(1).to(loss.dtype)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss if batched else loss.squeeze(0)


def _takes(log_probs: Tensor, targets: Tensor, steps: Lengths, counts: Lengths, blank: int) -> bool:
    """Whether a call is one that PyTorch takes too; it says best itself what is wrong with any other."""
    if log_probs.dim() != 3 or targets.dim() not in (1, 2) or log_probs.dtype not in (torch.float32, torch.float64):
        return False
    sizes = (*log_probs.shape, *targets.shape)
    if any(isinstance(size, int) and size == 0 for size in sizes) or not isinstance(log_probs.size(2), int):
        return False
    batch = log_probs.size(1)
    for given in (steps, counts):
        if isinstance(given, Tensor):
            if given.dim() > 1 or given.is_floating_point() or given.dtype == torch.bool or given.numel() != batch:
                return False
        elif len(given) != batch or not all(isinstance(length, int) for length in given):
            return False
    if targets.dtype not in (torch.int32, torch.int64) or (targets.dim() == 2 and targets.size(0) != batch):
        return False
    return 0 <= blank < log_probs.size(2)


def _lengths(given: Lengths) -> Tensor:
    return given.reshape([-1]).to(torch.int64) if isinstance(given, Tensor) else torch.tensor(list(given))


def _padded(targets: Tensor, counts: Tensor, given: Lengths, blank: int) -> Tensor:
    """Labels `[batch, most]`, of targets that lie one behind the other as well; what is behind the end of one is some label."""
    if targets.dim() == 2:  # padded with anything, such as -1
        return torch.where(torch.arange(targets.size(1)) < counts.unsqueeze(1), targets.to(torch.int64), blank)
    demand(counts.sum() == targets.size(0), "the lengths of the targets of ctc_loss do not add up to the labels given")
    most = targets.size(0) if isinstance(given, Tensor) else max(1, *given)
    places = (counts.cumsum(0) - counts).unsqueeze(1) + torch.arange(most)
    return targets.to(torch.int64)[places.clamp(0, targets.size(0) - 1)]


def _negative_log_likelihood(log_probs: Tensor, labels: Tensor, steps: Tensor, counts: Tensor, blank: int) -> Tensor:
    """`[batch]`: infinite where no alignment is as short as the input."""
    batch, most = labels.shape
    blanks = torch.full_like(labels, blank)
    told = torch.cat([torch.stack([blanks, labels], 2).reshape([batch, 2 * most]), blanks[:, :1]], 1)
    differs = labels != _moved(labels, 1, blank)
    no = torch.zeros_like(differs)
    skips = torch.cat([torch.stack([no, differs], 2).reshape([batch, 2 * most]), no[:, :1]], 1)
    begin = torch.where(torch.arange(2 * most + 1) == 0, 0.0, -torch.inf).to(log_probs.dtype).expand(told.shape).clone()
    going = torch.arange(log_probs.size(0)).unsqueeze(1) < steps

    def step(*values: Tensor) -> list[Tensor]:
        state, row, goes, told, skips = values
        third = torch.where(skips, _moved(state, 2, -torch.inf), -torch.inf)
        new = _logsumexp(state, _moved(state, 1, -torch.inf), third) + row.gather(1, told)
        return [torch.where(goes.unsqueeze(1), new, state)]

    (last,) = cast("list[Tensor]", scan_op(step, [begin], [log_probs, going], (told, skips)))[:1]
    ends = last.gather(1, (2 * counts).unsqueeze(1)).squeeze(1)
    label_ends = last.gather(1, (2 * counts - 1).clamp_min(0).unsqueeze(1)).squeeze(1)
    never = torch.full_like(ends, -torch.inf)
    return -_logsumexp(ends, torch.where(counts > 0, label_ends, never), never)


def _moved(x: Tensor, count: int, value: float) -> Tensor:
    """Rows with `count` times the value in front, as long as they were."""
    return torch.nn.functional.pad(x, [count, 0], value=value)[:, : x.size(1)]


def _logsumexp(first: Tensor, second: Tensor, third: Tensor) -> Tensor:
    """Minus infinity of three of these."""
    most = torch.maximum(torch.maximum(first, second), third)
    base = torch.where(most == -torch.inf, 0.0, most)
    return ((first - base).exp() + (second - base).exp() + (third - base).exp()).log() + base


def _ctc_loss_of_number(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """As `torch.ctc_loss`, which numbers reductions."""
    named = _REDUCTIONS[reduction] if 0 <= reduction < len(_REDUCTIONS) else ""
    return _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, named, zero_infinity)


CTC_LOSSES: dict[Any, Callable[..., Any]] = {
    torch.nn.functional.ctc_loss: _ctc_loss,
    torch.ctc_loss: _ctc_loss_of_number,
}
