"""Checks that end a call go in front of what it writes: state is as it was."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import pytest
import torch

import hotdesk
from hotdesk.errors import ExecutionError
from hotdesk.explain import Reason


class Checked(torch.nn.Module):
    """Counts calls, looks up ids, and keeps what it found in two caches."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Any
        self.keys: Any
        self.values: Any
        self.table = torch.nn.Parameter(torch.ones(10, 4))
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("keys", torch.zeros(8, 4))
        self.register_buffer("values", torch.zeros(8, 4))

    def forward(self, ids: Any, position: Any) -> Any:
        self.calls += 1
        x = torch.nn.functional.embedding(ids, self.table)
        self.keys.index_copy_(0, position, x)
        self.values.index_copy_(0, position, x * 2)
        return x + self.keys.sum()


def test_a_call_that_a_check_ends_changes_no_state() -> None:
    model = Checked().requires_grad_(False)
    program = hotdesk.compile(model, (torch.tensor([1]), torch.tensor([0])))
    reasons = {d.reason for d in program.decisions() if d.subject == "check of linalg.generic"}
    assert reasons == {Reason.CHECKED_FIRST}
    program(torch.tensor([1]), torch.tensor([3]))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    for wrong in ((12, 1), (-1, 1), (1, 9), (1, -9)):
        with pytest.raises(ExecutionError):
            program(*(torch.tensor([each]) for each in wrong))
        assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items()), wrong
    program(torch.tensor([9]), torch.tensor([7]))
    assert (model.calls, model.keys[7].tolist()) == (2, [1] * 4)
