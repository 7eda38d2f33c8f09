"""Tensors compared all at once with those of the calls before: what is known of them, and when it is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from hotdesk.errors import ArgumentTypeError, HotdeskError, OutputOverlapError
from hotdesk.runtime.arguments.guards import TensorGuard
from hotdesk.runtime.arguments.tensors import glance
from hotdesk.runtime.interface import WeightRange
from hotdesk.runtime.program import Program
from tests.unit.runtime.programs import adding, stacking

MANY = 40
"""More calls than it takes to learn what tensors are like."""


def learned(tensors: Sequence[object], found: object = "found") -> TensorGuard[Any]:
    keys = [look[0] for tensor in tensors if (look := glance(tensor)) is not None]
    made = TensorGuard[Any]()
    for _ in range(MANY):
        made.learn(tensors, keys, found)
    return made


def called(program: Program, *inputs: Any, **kwargs: Any) -> Program:
    for _ in range(MANY):
        program(*inputs, **kwargs)
    return program


def test_what_is_known_and_addresses() -> None:
    tensors = [torch.zeros(2, 3), torch.zeros(4, dtype=torch.int64), torch.nn.Parameter(torch.zeros(1))]
    made = learned(tensors)
    assert made.seen(tensors) == ("found", [tensor.data_ptr() for tensor in tensors])
    others = [torch.ones(2, 3), torch.ones(4, dtype=torch.int64), torch.nn.Parameter(torch.ones(1))]
    assert made.seen(others) == ("found", [tensor.data_ptr() for tensor in others])
    assert made.seen(others[:2]) is None


@pytest.mark.parametrize(
    "other",
    [
        lambda: torch.zeros(3, 2),
        lambda: torch.zeros(6),
        lambda: torch.zeros(2, 3, dtype=torch.float64),
        lambda: torch.zeros(2, 3, dtype=torch.int32),
        lambda: torch.zeros(3, 2).T,
        lambda: torch.zeros(2, 6)[:, ::2],
        lambda: torch.zeros(1).expand(2, 3),
        lambda: torch._neg_view(torch.zeros(2, 3)),
        lambda: torch._efficientzerotensor(2, 3),
        lambda: torch.zeros(2, 3, device="meta"),
        lambda: torch.zeros(2, 3).to_sparse(),
        lambda: torch.zeros(25, dtype=torch.uint8)[1:].view(torch.uint8).numpy().view(np.float32).reshape(2, 3),
        lambda: torch.zeros(2, 3).as_subclass(_Tagged),
        lambda: np.zeros((2, 3), np.float32),
        lambda: None,
        lambda: 1.0,
    ],
)
def test_others_are_not_known(other: Callable[[], object]) -> None:
    made = learned([torch.zeros(2, 3)])
    assert made.seen([torch.zeros(2, 3)]) is not None
    assert made.seen([other()]) is None
    assert made.seen([torch.zeros(2, 3), other()]) is None
    assert made.seen([]) is None


class _Tagged(torch.Tensor):
    pass


def test_a_conjugate_view_is_not_known() -> None:
    z = torch.zeros(3, dtype=torch.complex64)
    assert learned([z]).seen([z]) is not None
    assert learned([z]).seen([z.conj()]) is None


def test_memory_that_is_not_aligned_or_gone_is_not_known() -> None:
    made = learned([torch.zeros(3)])
    bytes_ = torch.zeros(64, dtype=torch.uint8)
    unaligned = torch.frombuffer(memoryview(bytearray(64))[1:], dtype=torch.float32, count=3)
    assert (made.seen([unaligned]) is None) == bool(unaligned.data_ptr() % 4)
    assert made.seen([bytes_[4:16].view(torch.float32)]) is not None
    gone = torch.zeros(3)
    gone.untyped_storage().resize_(0)
    assert made.seen([gone]) is None


def test_one_that_was_resized_is_not_known() -> None:
    x = torch.zeros(4, 4)
    made = learned([x])
    assert made.seen([x]) is not None
    x.resize_(2, 2)
    assert made.seen([x]) is None


def test_few_calls_teach_nothing_and_others_make_it_forget() -> None:
    x, y = torch.zeros(3), torch.zeros(4)
    (x_key, _), (y_key, _) = glance(x), glance(y)  # pyright: ignore[reportGeneralTypeIssues]
    made = TensorGuard[str]()
    made.learn([x], [x_key], "x")
    assert made.seen([x]) is None
    for _ in range(MANY):
        made.learn([x], [x_key], "x")
        made.learn([y], [y_key], "y")
    assert made.seen([x]) is made.seen([y]) is None
    for _ in range(MANY):
        made.learn([x], [x_key], "x")
    assert made.seen([x]) == ("x", [x.data_ptr()])
    made.learn([y], [y_key], "y")
    assert made.seen([x]) is None


def test_a_tensor_that_changes_meanwhile_teaches_nothing() -> None:
    x = torch.zeros(3)
    (key, _) = glance(x)  # pyright: ignore[reportGeneralTypeIssues]
    x.resize_(2)
    made = TensorGuard[str]()
    for _ in range(MANY):
        made.learn([x], [key], "three elements")
    assert made.seen([torch.zeros(2)]) is made.seen([torch.zeros(3)]) is None


def test_arrays_of_numpy_are_looked_at_one_by_one() -> None:
    arrays = [np.zeros(3), np.zeros(3)]
    assert learned(arrays).seen(arrays) is None


def test_without_what_compares_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch._C._dynamo.guards, "TensorGuards")
    x = torch.zeros(3)
    assert learned([x]).seen([x]) is None
    y = torch.ones(2, 3)
    assert called(Program(adding()), y, y)(y, y).tolist() == [[2.0] * 3] * 2


def test_a_version_of_pytorch_that_was_not_tried_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_tensors: object, **_sizes: object) -> None:
        pytest.fail("a private function of a PyTorch that was not tried is called")

    monkeypatch.setattr(torch._C._dynamo.guards, "TensorGuards", asked)
    monkeypatch.setattr(torch, "__version__", "2.99.0+cpu")
    x = torch.zeros(3)
    assert learned([x]).seen([x]) is None


def test_calls_with_tensors_like_those_before() -> None:
    fake = adding()
    x, y = torch.ones(2, 3), torch.full((2, 3), 2.0)
    program = called(Program(fake), x, y)
    assert program._admission._guard.seen([x, y]) is not None  # pyright: ignore[reportPrivateUsage]
    assert program(y, x).tolist() == [[3.0] * 3] * 2
    assert fake.runs[-1][0] == [y.data_ptr(), x.data_ptr()]
    assert program(x, x).tolist() == [[2.0] * 3] * 2
    assert program(x, torch.full((3, 2), 5.0).T).tolist() == [[6.0] * 3] * 2
    assert program(x, torch._neg_view(y)).tolist() == [[-1.0] * 3] * 2
    assert program(x.numpy(), y).tolist() == [[3.0] * 3] * 2
    with torch.inference_mode():
        assert called(program, x, y)(x, y).tolist() == [[3.0] * 3] * 2
    for wrong in (x.double(), x[:1], x[:, :2], x[0], None, 3, torch.zeros(2, 3, device="meta")):
        with pytest.raises(HotdeskError):
            program(x, wrong)
    with pytest.raises(HotdeskError):
        program(x)
    with pytest.raises(HotdeskError):
        torch.vmap(lambda each: program(each, y))(torch.ones(4, 2, 3))


def test_outputs_like_those_before() -> None:
    fake = adding()
    x, y, out = torch.ones(2, 3), torch.ones(2, 3), torch.empty(2, 3)
    program = called(Program(fake), x, y, out=out)
    other = torch.empty(2, 3)
    version = other._version
    assert program(x, y, out=(other,)) is other
    assert other.tolist() == [[2.0] * 3] * 2
    assert fake.runs[-1][1] == [other.data_ptr()]
    assert other._version == version + 1
    with torch.inference_mode():
        assert program(x, y, out=torch.empty(2, 3)).tolist() == [[2.0] * 3] * 2
    calls = len(fake.runs)
    memory = torch.zeros(9)
    program(memory[:6].view(2, 3), y, out=out)
    for given in (x, y, x.view(2, 3)):
        with pytest.raises(OutputOverlapError, match="24 bytes shared with argument"):
            program(x, y, out=given)
    with pytest.raises(OutputOverlapError, match="12 bytes shared with argument"):
        program(memory[:6].view(2, 3), y, out=memory[3:].view(2, 3))
    for grad in (True, False):
        with torch.set_grad_enabled(grad), pytest.raises(ArgumentTypeError, match="without requires_grad"):
            program(x, y, out=torch.empty(2, 3, requires_grad=True))
    for wrong in (out.double(), out[:1], out.T, torch.empty(1).expand(2, 3), (out, out), (), 3):
        with pytest.raises(HotdeskError):
            program(x, y, out=wrong)
    assert len(fake.runs) == calls + 1


def test_weights_are_no_outputs_after_many_calls() -> None:
    weight, x, out = torch.ones(2, 3), torch.ones(2, 3), torch.empty(2, 3)
    program = Program(adding(), weights=[WeightRange("w", weight.data_ptr(), 24)])
    called(program, x, x, out=out)
    with pytest.raises(OutputOverlapError, match="weight 'w'"):
        program(x, x, out=weight)


def test_threads_that_call_with_other_sizes() -> None:
    program = Program(stacking())
    wrong: list[object] = []

    def run(size: int) -> None:
        for i in range(200):
            x, y = torch.full((size, 3), float(i)), torch.ones(2 * size, 3)
            total, flat = program(x, y)
            if total.shape != y.shape or flat.shape != (3 * size,) or not bool((total == i + 1).all()):
                wrong.append(total)

    threads = [threading.Thread(target=run, args=(size,)) for size in (1, 2, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
