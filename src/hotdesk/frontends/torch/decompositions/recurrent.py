"""LSTM, GRU and Elman networks as loops over the steps of a sequence: one step's kernels, for any number of steps.

    lstm(x, (h, c), [w, u, b, d])    ->    gates = x @ w.T + b + d;  scan((h, c), gates): step of one cell

* what each step reads of the sequence is one product in front of the loop;
* the backward direction runs over the reversed sequence, and what it hands out is reversed again;
* a sequence of one step is no loop, nor one of no step, which PyTorch refuses.

What PyTorch does step by step, so that all steps are in the graph, is left for packed sequences.
"""

# Sizes may be symbolic, and `scan` is not annotated.
# pyright: reportUnnecessaryIsInstance=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor
from torch._higher_order_ops.scan import scan_op
from torch.nn.functional import linear

aten: Any = torch.ops.aten

State = tuple[Tensor, ...]
"""What a cell hands from step to step: `[batch, width]` each."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """Of one layer in one direction.

    Attributes:
        given: of the sequence: a matrix and a bias.
        held: of the state: a matrix and a bias.
        projection: of the hidden state that an LSTM hands on, `[projected, width]`.
    """

    given: tuple[Tensor, Tensor | None]
    held: tuple[Tensor, Tensor | None]
    projection: Tensor | None

    @property
    def of_step(self) -> tuple[Tensor, ...]:
        """Those that a step reads."""
        return tuple(each for each in (*self.held, self.projection) if each is not None)


Cell = Callable[[_Weights, State, Tensor], State]
"""Given the weights, the state, and what the step reads of the sequence: the next state, of which the first one is handed out."""


def _lstm_cell(weights: _Weights, state: State, gates: Tensor) -> State:
    hidden, cell = state
    inlet, forget, change, outlet = (gates + linear(hidden, *weights.held)).chunk(4, 1)
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(inlet) * torch.tanh(change)
    hidden = torch.sigmoid(outlet) * torch.tanh(cell)
    return (hidden if weights.projection is None else linear(hidden, weights.projection)), cell


def _gru_cell(weights: _Weights, state: State, gates: Tensor) -> State:
    (hidden,) = state
    reset, update, change = gates.chunk(3, 1)
    of_reset, of_update, of_change = linear(hidden, *weights.held).chunk(3, 1)
    change = torch.tanh(change + torch.sigmoid(reset + of_reset) * of_change)
    return (change + torch.sigmoid(update + of_update) * (hidden - change),)


def _elman_cell(activation: Callable[[Tensor], Tensor]) -> Cell:
    def step(weights: _Weights, state: State, gates: Tensor) -> State:
        return (activation(gates + linear(state[0], *weights.held)),)

    return step


def _weights(params: Sequence[Tensor], has_biases: bool, layers: int) -> Iterator[_Weights]:
    """By layer, the backward direction behind the forward one."""
    each = len(params) // layers
    for begin in range(0, len(params), each):
        given, held, *rest = params[begin : begin + each]
        biases = (rest[0], rest[1]) if has_biases else (None, None)
        projection = rest[-1] if len(rest) % 2 else None
        yield _Weights((given, biases[0]), (held, biases[1]), projection)


def _along(cell: Cell, weights: _Weights, state: State, x: Tensor, *, backward: bool) -> tuple[State, Tensor]:
    """The last state, and what each step hands out, `[steps, batch, width]`."""
    gates = linear(torch.flip(x, [0]) if backward else x, *weights.given)
    if isinstance(x.size(0), int) and x.size(0) == 1:
        state = cell(weights, state, gates[0])
        return state, state[0].unsqueeze(0)
    count = len(state)

    def step(*values: Any) -> list[Tensor]:
        matrix, *rest = values[count + 1 :]
        bias = rest.pop(0) if weights.held[1] is not None else None
        read = _Weights(weights.given, (matrix, bias), rest[0] if rest else None)
        new = cell(read, values[:count], values[count])
        return [*new, new[0].clone()]

    *last, handed = cast("list[Tensor]", scan_op(step, list(state), [gates], weights.of_step))
    return tuple(last), torch.flip(handed, [0]) if backward else handed


def _recurrent(
    cell: Cell,
    x: Tensor,
    begin: Sequence[State],
    weights: Sequence[_Weights],
    layers: int,
    dropout: float,
    *,
    batch_first: bool,
) -> tuple[Tensor, list[State]]:
    """What the last layer hands out, and the last states, by layer and direction; `begin` are the first ones.

    Of what a layer hands to the next one, as much is dropped as `dropout` says.
    """
    x = x.transpose(0, 1) if batch_first else x
    directions = len(begin) // layers
    states: list[State] = []
    for layer in range(layers):
        handed: list[Tensor] = []
        for direction in range(directions):
            place = layer * directions + direction
            state, each = _along(cell, weights[place], begin[place], x, backward=direction == 1)
            states.append(state)
            handed.append(each)
        x = torch.cat(handed, 2) if directions > 1 else handed[0]
        if dropout and layer < layers - 1:
            x = torch.dropout(x, dropout, train=True)
    return x.transpose(0, 1) if batch_first else x, states


def _is_empty(x: Tensor) -> bool:
    return isinstance(x.numel(), int) and x.numel() == 0


def _layers(cell: Cell) -> Callable[..., tuple[Tensor, ...]]:
    """The op of a cell: `hx` is the one state of all layers and directions, or a list of them."""

    def decomposed(
        x: Tensor,
        hx: Tensor | list[Tensor],
        params: list[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Tensor, ...]:
        if _is_empty(x):
            return NotImplemented
        count = num_layers * (2 if bidirectional else 1)
        given = [hx] if isinstance(hx, Tensor) else hx
        begin = [tuple(each[place] for each in given) for place in range(count)]
        weights = list(_weights(params, has_biases, count))
        x, states = _recurrent(cell, x, begin, weights, num_layers, dropout if train else 0.0, batch_first=batch_first)
        return x, *(torch.stack(each) for each in zip(*states, strict=True))

    return decomposed


RECURRENT: dict[Any, Callable[..., Any]] = {
    aten.lstm.input: _layers(_lstm_cell),
    aten.gru.input: _layers(_gru_cell),
    aten.rnn_tanh.input: _layers(_elman_cell(torch.tanh)),
    aten.rnn_relu.input: _layers(_elman_cell(torch.relu)),
}


def _of_padded(op: Callable[..., Any]) -> Callable[..., Any]:
    """The form of a layer that takes a tensor; the other one is that of packed sequences."""

    def layer(*args: Any) -> Any:
        return op(*args) if len(args) == 9 and isinstance(args[3], bool) else NotImplemented

    return layer


LAYERS: dict[Any, Callable[..., Any]] = {
    torch.lstm: _of_padded(RECURRENT[aten.lstm.input]),
    torch.gru: _of_padded(RECURRENT[aten.gru.input]),
    torch.rnn_tanh: _of_padded(RECURRENT[aten.rnn_tanh.input]),
    torch.rnn_relu: _of_padded(RECURRENT[aten.rnn_relu.input]),
}
"""What the layers of `torch.nn` call: PyTorch itself would go through all steps, and fix their number."""
