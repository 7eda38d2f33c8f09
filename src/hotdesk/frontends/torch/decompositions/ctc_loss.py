"""The CTC loss (connectionist temporal classification) as a scan over the steps of a sequence, its lengths tensors or numbers.

Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist Temporal Classification", ICML 2006, section 4.1, in logarithms.

    ctc_loss(x, targets, lengths)    ->    scan(a, x):  a[s] = logsumexp(a[s], a[s - 1], a[s - 2]) + x[label[s]]

* `a[s]` is the logarithm of the probability that the first `s` of the labels have been told, blanks between them counted;
* `a[s - 2]` counts only for a label that is not the one before it;
* a sequence that has ended keeps what it has; PyTorch's own op reads the lengths as numbers, which no graph has.

The gradient is a scan from the last step to the first, of `b`, the same seen from the end (equations 10 and 16 there):

    gradient of x[t, c] = exp(x[t, c]) - sum of exp(a[t, s] + b[t, s] + loss) over the places s whose label is c

* `a` of all steps is kept for it, `b` of one step, and each step writes its row of the gradient;
* as PyTorch's, it takes `x` for what log-softmax gave, and is no number where no alignment or a class is possible.
"""

# Sizes may be symbolic, and `scan` is not annotated.
# pyright: reportUnnecessaryIsInstance=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import torch
from torch import Tensor
from torch._higher_order_ops.scan import scan_op
from torch._subclasses.fake_impls import register_op_impl
from torch.overrides import TorchFunctionMode

from hotdesk.frontends.torch.decompositions.asserted import demand
from hotdesk.frontends.torch.decompositions.autograd_kernels import COMPOSITE

aten: Any = torch.ops.aten

_REDUCTIONS = ("none", "mean", "sum")
_VECTOR = 16  # floats
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
    told = _Told.of(each, targets, input_lengths, target_lengths, blank)
    loss, _ = _forward(each, told)
    if zero_infinity:
        loss = torch.where(loss == torch.inf, 0.0, loss)
    if reduction == "mean":
        return (loss / told.counts.clamp_min(1).to(loss.dtype)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss if batched else loss.squeeze(0)


def _ctc_loss_of_number(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """As `torch.ctc_loss`, which numbers reductions; called from Python it takes none by default, other than its schema says."""
    named = _REDUCTIONS[reduction] if 0 <= reduction < len(_REDUCTIONS) else ""
    return _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, named, zero_infinity)


def _losses(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """As `aten._ctc_loss`: the loss of each sequence, and `a` of each step, which is what the gradient reads."""
    if not _takes(log_probs, targets, input_lengths, target_lengths, blank):
        return NotImplemented
    told = _Told.of(log_probs, targets, input_lengths, target_lengths, blank)
    return _forward(log_probs, told)


def _gradient(
    gradient: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    loss: Tensor,
    before: Tensor,
    blank: int,
    zero_infinity: bool = False,
) -> Tensor:
    """As `aten._ctc_loss_backward`: of `log_probs`."""
    if not _takes(log_probs, targets, input_lengths, target_lengths, blank):
        return NotImplemented
    told = _Told.of(log_probs, targets, input_lengths, target_lengths, blank, checked=True)
    return _backward(gradient, log_probs, told, loss, before, zero_infinity=zero_infinity)


def _takes(log_probs: Tensor, targets: Tensor, steps: Lengths, counts: Lengths, blank: int) -> bool:
    """Whether a call is one that PyTorch takes too; it says best itself what is wrong with any other."""
    if log_probs.dim() != 3 or targets.dim() not in (1, 2) or log_probs.dtype not in (torch.float32, torch.float64):
        return False
    if any(isinstance(size, int) and size == 0 for size in log_probs.shape):
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


@dataclass(frozen=True, slots=True)
class _Told:
    """What is to be told by each sequence.

    Attributes:
        steps, counts: how many steps each has, and how many labels: `[batch]`.
        labels: with blanks before, between and behind them, `[batch, _width(most)]`; what is behind the end is some label.
        skips: whether the blank in front may be left out.
    """

    steps: Tensor
    counts: Tensor
    labels: Tensor
    skips: Tensor

    @classmethod
    def of(
        cls,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Lengths,
        target_lengths: Lengths,
        blank: int,
        *,
        checked: bool = False,
    ) -> _Told:
        """`checked` says whether lengths and labels are known to be in range."""
        steps, counts = _lengths(input_lengths), _lengths(target_lengths)
        labels = _padded(targets, counts, target_lengths, blank)
        if not checked:
            demand(
                (steps >= 0) & (steps <= log_probs.size(0)), "a length of an input of ctc_loss is not within its steps"
            )
            most = targets.size(1) if targets.dim() == 2 else labels.size(1)
            demand((counts >= 0) & (counts <= most), "a length of a target of ctc_loss is not within its labels")
            demand(((labels >= 0) & (labels < log_probs.size(2))).all(), "a label of ctc_loss is none of its classes")
            if targets.dim() == 1:
                unequal = "the lengths of the targets of ctc_loss do not add up to the labels given"
                demand(counts.sum() == targets.size(0), unequal)
        batch, most = labels.shape
        blanks = torch.full_like(labels, blank)
        behind = [batch, _width(most) - 2 * most]
        between = torch.cat(
            [torch.stack([blanks, labels], 2).reshape([batch, 2 * most]), blanks[:, :1].expand(behind)], 1
        )
        differs = labels != _moved(labels, 1, blank)
        no = torch.zeros_like(differs)
        skips = torch.cat([torch.stack([no, differs], 2).reshape([batch, 2 * most]), no[:, :1].expand(behind)], 1)
        return cls(steps, counts, between, skips)

    def places(self) -> Tensor:
        return torch.arange(self.labels.size(1))


def _width(most: int) -> int:
    """How many places there are for so many labels: whole vectors if these are no quarter more, as rests are slow."""
    width = 2 * most + 1
    if not isinstance(width, int):
        return width
    whole = -(-width // _VECTOR) * _VECTOR
    return whole if 4 * whole <= 5 * width else width


def _lengths(given: Lengths) -> Tensor:
    return given.reshape([-1]).to(torch.int64) if isinstance(given, Tensor) else torch.tensor(list(given))


def _padded(targets: Tensor, counts: Tensor, given: Lengths, blank: int) -> Tensor:
    """Labels `[batch, most]`, of targets that lie one behind the other as well; what is behind the end of one is some label.

    Of targets without a label, which all are empty, `most` is 1.
    """
    if isinstance(targets.numel(), int) and targets.numel() == 0:
        return torch.full([counts.size(0), 1], blank)
    if targets.dim() == 2:  # padded with anything, such as -1
        return torch.where(torch.arange(targets.size(1)) < counts.unsqueeze(1), targets.to(torch.int64), blank)
    most = targets.size(0) if isinstance(given, Tensor) else max(1, *given)
    places = (counts.cumsum(0) - counts).unsqueeze(1) + torch.arange(most)
    return targets.to(torch.int64)[places.clamp(0, targets.size(0) - 1)]


def _forward(log_probs: Tensor, told: _Told) -> tuple[Tensor, Tensor]:
    """`[batch]`: infinite where no alignment is as short as the input; and `a` of each step, `[steps, batch, _width(most)]`."""
    begin = torch.where(told.places() == 0, 0.0, -torch.inf).to(log_probs.dtype).expand(told.labels.shape).clone()
    going = torch.arange(log_probs.size(0)).unsqueeze(1) < told.steps

    def step(*values: Tensor) -> list[Tensor]:
        state, row, goes, labels, skips = values
        third = torch.where(skips, _moved(state, 2, -torch.inf), -torch.inf)
        new = _logsumexp(state, _moved(state, 1, -torch.inf), third) + _in_own_memory(row.gather(1, labels))
        last = torch.where(goes.unsqueeze(1), new, state)
        return [last, last.clone()]

    last, each = cast("list[Tensor]", scan_op(step, [begin], [log_probs, going], (told.labels, told.skips)))
    counts = told.counts.unsqueeze(1)
    ends = last.gather(1, 2 * counts).squeeze(1)
    label_ends = last.gather(1, (2 * counts - 1).clamp_min(0)).squeeze(1)
    never = torch.full_like(ends, -torch.inf)
    return -_logsumexp(ends, torch.where(told.counts > 0, label_ends, never), never), each


def _backward(
    gradient: Tensor, log_probs: Tensor, told: _Told, loss: Tensor, before: Tensor, *, zero_infinity: bool
) -> Tensor:
    counts = 2 * told.counts.unsqueeze(1)
    is_end = (told.places() == counts) | (told.places() == counts - 1)
    ends = torch.where(is_end, 0.0, -torch.inf).to(log_probs.dtype)
    behind = torch.full_like(ends, -torch.inf)
    skipped = told.skips[:, 2:]
    skipped = torch.nn.functional.pad(skipped, [0, 2])
    backwards = torch.arange(log_probs.size(0) - 1, -1, -1)
    left_out = (loss == torch.inf) if zero_infinity else torch.zeros_like(loss, dtype=torch.bool)

    def step(*values: Tensor) -> list[Tensor]:
        state, found, at, log_probs, before, labels, skipped, ends, steps, loss, gradient, left_out = values
        row = log_probs.index_select(0, at.reshape([1])).squeeze(0)
        told_before = before.index_select(0, at.reshape([1])).squeeze(0)
        third = torch.where(skipped, _moved_back(state, 2), -torch.inf)
        come = _logsumexp(state, _moved_back(state, 1), third)
        come = torch.where((at == steps - 1).unsqueeze(1), ends, come)
        goes = (at < steps).unsqueeze(1)
        share = (told_before + come + loss.unsqueeze(1)).exp()
        of_row = row.exp().scatter_add(1, labels, -share)
        is_known = (row > -torch.inf) & (loss < torch.inf).unsqueeze(1)
        of_row = torch.where(is_known, of_row, torch.nan) * gradient.unsqueeze(1)
        of_row = torch.where(goes & ~left_out.unsqueeze(1), of_row, 0.0)
        state = torch.where(goes, come + row.gather(1, labels), -torch.inf)
        return [state, found.index_copy(0, at.reshape([1]), of_row.unsqueeze(0))]

    read = (log_probs, before, told.labels, skipped, ends, told.steps, loss, gradient, left_out)
    return cast("list[Tensor]", scan_op(step, [behind, torch.zeros_like(log_probs)], [backwards], read))[1]


def _moved(x: Tensor, count: int, value: float) -> Tensor:
    """Rows with `count` times the value in front, as long as they were."""
    return torch.nn.functional.pad(x, [count, 0], value=value)[:, : x.size(1)]


def _in_own_memory(x: Tensor) -> Tensor:
    """The same, not fused with what reads it: a loop that gathers and one of elementary functions are no vectors together."""
    return torch.nn.functional.pad(x, [1, 0])[:, 1:]


def _moved_back(x: Tensor, count: int) -> Tensor:
    """Rows without the first `count`, as long as they were."""
    return torch.nn.functional.pad(x[:, count:], [0, count], value=-torch.inf)


def _logsumexp(first: Tensor, second: Tensor, third: Tensor) -> Tensor:
    """Minus infinity of three of these."""
    most = torch.maximum(torch.maximum(first, second), third)
    base = torch.where(most == -torch.inf, 0.0, most)
    return ((first - base).exp() + (second - base).exp() + (third - base).exp()).log() + base


CTC_LOSSES: dict[Any, Callable[..., Any]] = {
    torch.nn.functional.ctc_loss: _ctc_loss,
    torch.ctc_loss: _ctc_loss_of_number,
}
"""Of functions, while a model is exported."""

CTC: dict[Any, Callable[..., Any]] = {
    aten._ctc_loss.Tensor: _losses,
    aten._ctc_loss_backward.Tensor: _gradient,
}
"""Of ops, where gradients are traced too."""


def _by_tensors(
    op: Any, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, *more: Any, **named: Any
) -> Tensor:
    """A CTC loss with its lengths in tensors: where they are numbers PyTorch writes them to memory, which no trace has."""
    if isinstance(input_lengths, Tensor) or isinstance(target_lengths, Tensor):
        return NotImplemented
    counts = _lengths(target_lengths)
    if targets.dim() == 1 and targets.size(0) == sum(target_lengths):
        targets = _padded(
            targets, counts, target_lengths, 0
        )  # rows as long as the longest one, which tensors do not tell
    return op(log_probs, targets, _lengths(input_lengths), counts, *more, **named)


class CtcByTensors(TorchFunctionMode):
    """While it is there, lengths that are numbers are given to `ctc_loss` in tensors."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        made = _by_tensors(func, *args, **named) if func in CTC_LOSSES else NotImplemented
        return func(*args, **named) if made is NotImplemented else made


@cache
def tell_dynamo(is_ours: Callable[[], bool]) -> None:
    """Has Dynamo capture the loss where `is_ours` says so; it breaks the graph otherwise, as one size depends on the lengths.

    That is the size of what PyTorch's kernel keeps for its gradient; ours keeps as much for all lengths. Done once in a process,
    however often it is called.
    """

    def sizes(
        mode: Any, op: Any, log_probs: Tensor, targets: Tensor, steps: Tensor, counts: Tensor, blank: int = 0, *_: Any
    ) -> tuple[Tensor, Tensor]:
        if not is_ours() or not _takes(log_probs, targets, steps, counts, blank):
            return NotImplemented
        with mode:
            most = _padded(targets, _lengths(counts), counts, blank).size(1)
            each = log_probs.size(1)
            return log_probs.new_empty([each]), log_probs.new_empty([log_probs.size(0), each, _width(most)])

    def of_lists(*args: Any) -> Tensor:
        made = _by_tensors(aten.ctc_loss.Tensor, *args) if is_ours() else NotImplemented
        return of_numbers._op_dk(COMPOSITE, *args) if made is NotImplemented else made

    of_numbers = aten.ctc_loss.IntList
    of_numbers.py_impl(COMPOSITE)(of_lists)
    cast(Any, register_op_impl)(aten._ctc_loss.Tensor)(sizes)
