"""Checks that end a call go in front of what it writes, or that is put back: state is as it was."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch._higher_order_ops import while_loop

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


def _refused(program: Any, *arguments: Any) -> None:
    with pytest.raises((ExecutionError, RuntimeError)):
        program(*arguments)


class Steps(torch.nn.Module):
    """A loop that writes one row of a cache after the other, from a place on."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: Any
        self.calls: Any
        self.mix = torch.nn.Linear(4, 4).requires_grad_(False)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("cache", torch.zeros(8, 4))

    def forward(self, x: Any, first: Any, steps: Any) -> Any:
        self.calls += 1

        def step(i: Any, at: Any, x: Any, cache: Any) -> Any:
            return i + 1, at + 2, torch.tanh(self.mix(x)), torch.index_copy(cache, 0, at.reshape(1), x)

        start = (torch.tensor(0), first + 0, x, self.cache)
        *_, x, cache = while_loop(lambda i, at, x, cache: i < steps, step, start)
        self.cache.copy_(cache)
        return x


def test_a_place_in_a_loop_is_checked_before_it_runs_and_the_cache_not_copied() -> None:
    model, eager = Steps(), Steps()
    eager.load_state_dict(model.state_dict())
    given = torch.ones(1, 4), torch.tensor(0), torch.tensor(1)
    program = hotdesk.compile(model, given)
    decisions = program.decisions()
    assert {d.reason for d in decisions if d.subject.startswith("check of")} == {Reason.CHECKED_FIRST}
    assert not [d for d in decisions if d.reason is Reason.KEPT_FOR_CHECKS]
    for first, steps in ((0, 4), (3, 3), (1, 0)):
        given = torch.randn(1, 4), torch.tensor(first), torch.tensor(steps)
        torch.testing.assert_close(program(*given), eager(*given))
        torch.testing.assert_close(model.cache, eager.cache)
    before = model.cache.clone(), model.calls.clone()
    for first, steps in ((0, 5), (7, 2), (-1, 1)):
        _refused(program, torch.ones(1, 4), torch.tensor(first), torch.tensor(steps))
        assert torch.equal(model.cache, before[0]), (first, steps)
        assert torch.equal(model.calls, before[1])


class Greedy(torch.nn.Module):
    """A loop that looks up what it has computed, and writes it down: such a check cannot be made before."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: Any
        self.head = torch.nn.Linear(4, 2048).requires_grad_(False)
        self.table = torch.nn.Parameter(torch.linspace(-1, 1, 2048 * 4).reshape(2048, 4), requires_grad=False)
        self.register_buffer("cache", torch.zeros(8, 4))

    def forward(self, x: Any, scale: Any) -> Any:
        def step(i: Any, x: Any, cache: Any) -> Any:
            cache = torch.index_copy(cache, 0, i.reshape(1), x)
            best = self.head(x).softmax(-1).sum().round().long() * scale
            return i + 1, torch.nn.functional.embedding(best.reshape(1), self.table), cache

        start = (torch.tensor(0), x, self.cache)
        _, x, cache = while_loop(lambda i, x, cache: i < 8, step, start)
        self.cache.copy_(cache)
        return x


def test_what_a_loop_has_written_is_put_back() -> None:
    model = Greedy()
    program = hotdesk.compile(model, (torch.ones(1, 4), torch.tensor(1)))
    (kept,) = [d for d in program.decisions() if d.reason is Reason.KEPT_FOR_CHECKS]
    assert kept.bytes == 8 * 4 * 4
    memory = program.memory()
    assert memory.arena == memory.lower_bound
    result = program(torch.ones(1, 4), torch.tensor(5))
    torch.testing.assert_close(result, model.table[5:6])
    before = model.cache.clone()
    assert before.any(-1).all()
    with pytest.raises(ExecutionError, match="what it changes in place is as before it"):
        program(torch.full((1, 4), 2.0), torch.tensor(2048))
    assert torch.equal(model.cache, before)
    with pytest.raises(ExecutionError):
        program.profile(torch.full((1, 4), 2.0), torch.tensor(2048))
    assert torch.equal(model.cache, before)


def test_what_a_loop_has_written_stays_where_nothing_is_put_back() -> None:
    model = Greedy()
    options = hotdesk.Options(roll_back=False)
    program = hotdesk.compile(model, (torch.ones(1, 4), torch.tensor(1)), options=options)
    assert not [d for d in program.decisions() if d.reason is Reason.KEPT_FOR_CHECKS]
    kept = hotdesk.compile(Greedy(), (torch.ones(1, 4), torch.tensor(1)))
    assert program.memory().arena < kept.memory().arena
    with pytest.raises(ExecutionError, match="unless the program was compiled with `roll_back=False`"):
        program(torch.full((1, 4), 2.0), torch.tensor(2048))
    assert model.cache.any(-1).tolist() == [True] + [False] * 7
    before = model.cache.clone()
    torch.testing.assert_close(program(torch.ones(1, 4), torch.tensor(5)), model.table[5:6])
    assert not torch.equal(model.cache, before)


class Looks(torch.nn.Module):
    """`Greedy` without a matrix product, quick to compile: it fails in the second iteration where the table lacks `row`."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: Any
        self.table = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4), requires_grad=False)
        self.register_buffer("cache", torch.zeros(8, 4))

    def forward(self, x: Any, row: Any) -> Any:
        def step(i: Any, x: Any, cache: Any) -> Any:
            cache = torch.index_copy(cache, 0, i.reshape(1), x)
            found = x.softmax(-1).sum().round().long() * row
            return i + 1, torch.nn.functional.embedding(found.reshape(1), self.table), cache

        _, x, cache = while_loop(lambda i, x, cache: i < 8, step, (torch.tensor(0), x, self.cache))
        self.cache.copy_(cache)
        return x


def test_options_of_torch_compile_say_whether_it_is_put_back() -> None:
    for options, rows in (({}, 0), ({"roll_back": False}, 1)):
        model = Looks()
        compiled: Any = torch.compile(model, backend="hotdesk", options={"fallback": False, **options})
        _refused(compiled, torch.ones(1, 4), torch.tensor(3))
        assert int(model.cache.any(-1).sum()) == rows


def test_saved_programs_put_back_what_was_asked_for(tmp_path: Path) -> None:
    for put_back, rows in ((True, 0), (False, 1)):
        options, path = hotdesk.Options(roll_back=put_back), tmp_path / f"{put_back}.hotdesk"
        program = hotdesk.compile(Looks(), (torch.ones(1, 4), torch.tensor(1)), options=options)
        program.save(path, weights="given")
        model = Looks()
        loaded = hotdesk.load(path, weights=model.state_dict())
        assert loaded.memory() == program.memory()
        _refused(loaded, torch.ones(1, 4), torch.tensor(3))
        assert int(model.cache.any(-1).sum()) == rows


def test_places_of_a_scatter_are_checked_before_state_is_written() -> None:
    """Each has several columns, computed from one number that data says."""

    class Scattered(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls: Any
            self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

        def forward(self, x: Any, grad: Any, places: Any) -> Any:
            self.calls += 1
            two, one = [2, 2], [1, 1]
            return torch.ops.aten.max_pool2d_with_indices_backward(grad, x, two, two, [0, 0], one, False, places)

    model, eager = Scattered(), Scattered()
    x, grad = torch.randn(1, 2, 4, 6), torch.randn(1, 2, 2, 3)
    _, places = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    program = hotdesk.compile(model, (x, grad, places))
    (found,) = [d.reason for d in program.decisions() if d.subject.startswith(("check of", "argument"))]
    assert found is Reason.CHECKED_FIRST
    torch.testing.assert_close(program(x, grad, places), eager(x, grad, places))
    for wrong in (24, -1, 2**40):
        other = places.clone()
        other[0, 1, 1, 2] = wrong
        _refused(program, x, grad, other)
        assert model.calls == 1


def test_a_step_of_training_keeps_no_weights_for_a_pooling() -> None:
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.MaxPool2d(3, 2, 1), torch.nn.Flatten(), torch.nn.Linear(18, 3)
    )
    given = torch.randn(2, 1, 6, 6), torch.tensor([0, 2])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    step = hotdesk.compile_step(model, torch.nn.CrossEntropyLoss(), optimizer, given)
    assert not [d for d in step.program.decisions() if d.reason is Reason.KEPT_FOR_CHECKS]
    before = {name: each.clone() for name, each in model.state_dict().items()}
    _refused(step, given[0], torch.tensor([0, 3]))
    torch.testing.assert_close(dict(model.state_dict()), before, atol=0, rtol=0)
    assert step(*given).isfinite()
    assert not torch.equal(model.state_dict()["0.weight"], before["0.weight"])


class LateCheck(torch.nn.Module):
    """Counts its calls, doubles a donated tensor, and looks up what it has computed."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Any
        self.table = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4), requires_grad=False)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Any, bias: Any) -> Any:
        self.calls += 1
        x = x * 2 + bias
        row = x.flatten().softmax(0).sum().round().long() * x.sum().long()
        return x, torch.nn.functional.embedding(row, self.table)


def test_a_failing_call_leaves_all_but_what_is_donated_as_it_was() -> None:
    model, bias = LateCheck(), torch.zeros(8, 4)
    program = hotdesk.compile(model, (torch.zeros(8, 4), bias), donate="x")
    x = torch.ones(8, 4)
    version = x._version
    with pytest.raises(ExecutionError):
        program(x, bias)
    assert x._version > version
    gaps = torch.ones(4, 8).t()  # a call works on a copy of it
    with pytest.raises(ExecutionError):
        program(gaps, bias)
    assert torch.equal(gaps, torch.ones(8, 4))
    assert not bias.any()
    assert model.calls == 0
    assert model.table.flatten().tolist() == list(range(12))
    x.zero_()[0, 0] = 1
    first, second = program(x, bias)
    assert first.data_ptr() == x.data_ptr()
    assert (first.sum(), second.tolist(), int(model.calls)) == (2, [8, 9, 10, 11], 1)


class Factored(torch.nn.Module):
    """Counts its calls, and has PyTorch factorize a matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Any
        self.seen: Any
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("seen", torch.zeros(3, 3))

    def forward(self, x: Any) -> Any:
        self.calls += 1
        self.seen.add_(x)
        y = torch.linalg.cholesky(self.seen)
        self.seen.mul_(2)
        return y


def test_a_kernel_of_pytorch_that_fails_leaves_state_as_it_was() -> None:
    model = Factored()
    program = hotdesk.compile(model, (torch.eye(3),))
    program(torch.eye(3))
    _refused(program, -4 * torch.eye(3))
    with pytest.raises(ExecutionError, match=r"aten\.linalg_cholesky_ex|linalg_cholesky"):
        program.check(-4 * torch.eye(3))
    assert model.calls == 1
    assert torch.equal(model.seen, 2 * torch.eye(3))
    torch.testing.assert_close(program(2 * torch.eye(3)), 2 * torch.eye(3))
    assert model.calls == 2


def test_a_row_that_is_looked_up_into_state_is_checked_first() -> None:
    class Looked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rows: Any
            self.table = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4), requires_grad=False)
            self.register_buffer("rows", torch.zeros(2, 4))

        def forward(self, ids: Any) -> Any:
            self.rows.copy_(self.table[ids])
            return ids + 1

    model = Looked()
    program = hotdesk.compile(model, (torch.tensor([0, 1]),))
    program(torch.tensor([2, 0]))
    before = model.rows.clone()
    for wrong in ([0, 3], [5, 1]):
        with pytest.raises(ExecutionError):
            program(torch.tensor(wrong))
        assert torch.equal(model.rows, before)
    assert not [d for d in program.decisions() if d.reason is Reason.KEPT_FOR_CHECKS]


MEMREFS = """
func.func @main(%s: memref<?x3xf32, strided<[?, 1], offset: ?>>, %at: tensor<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %rows = memref.dim %s, %c0 : memref<?x3xf32, strided<[?, 1], offset: ?>>
  %n = tensor.dim %at, %c0 : tensor<?xindex>
  scf.for %i = %c0 to %n step %c1 {
    %row = tensor.extract %at[%i] : tensor<?xindex>
    %below = arith.cmpi ult, %row, %rows : index
    cf.assert %below, "a row"
    memref.store %one, %s[%row, %i] : memref<?x3xf32, strided<[?, 1], offset: ?>>
  }
  return
}"""
DEEP = """
func.func @main(%s: memref<2xf32>, %t: tensor<index>) {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %t[] : tensor<index>
  %one = arith.constant 1.0 : f32
  memref.store %one, %s[%c0] : memref<2xf32>
  call @again(%s, %n) : (memref<2xf32>, index) -> ()
  return
}
func.func private @again(%s: memref<2xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %more = arith.cmpi ugt, %n, %c0 : index
  scf.if %more {
    memref.store %two, %s[%c1] : memref<2xf32>
    %less = arith.subi %n, %c1 : index
    func.call @again(%s, %less) : (memref<2xf32>, index) -> ()
    %found = memref.load %s[%c0] : memref<2xf32>
    %sum = arith.addf %found, %two : f32
    memref.store %sum, %s[%c0] : memref<2xf32>
  }
  return
}"""
BLOCKS = """
func.func @main(%s: memref<4xi64>, %t: tensor<i64>) {
  %n = tensor.extract %t[] : tensor<i64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  cf.br ^head(%c0 : i64)
^head(%i: i64):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^end
^body:
  %below = arith.cmpi sle, %i, %c3 : i64
  cf.assert %below, "few"
  %place = arith.index_cast %i : i64 to index
  memref.store %n, %s[%place] : memref<4xi64>
  %next = arith.addi %i, %c1 : i64
  cf.br ^head(%next : i64)
^end:
  return
}"""


def test_memrefs_of_the_caller_are_put_back() -> None:
    table = np.zeros((4, 6), np.float32)
    program = hotdesk.compile(MEMREFS)
    with pytest.raises(ExecutionError, match="a row"):
        program(table[1:, 2:5], np.array([0, 2, 3]))
    assert not table.any()
    program(table[1:, 2:5], np.array([0, 2, 1]))
    assert sorted(map(tuple, np.argwhere(table))) == [(1, 2), (2, 4), (3, 3)]
    pair = np.zeros(2, np.float32)
    deep = hotdesk.compile(DEEP)
    with pytest.raises(ExecutionError, match="of the stack"):
        deep(pair, np.array(10**7))
    assert not pair.any()
    deep(pair, np.array(3))
    assert pair.tolist() == [7, 2]
    four = np.zeros(4, np.int64)
    blocks = hotdesk.compile(BLOCKS)
    with pytest.raises(ExecutionError, match="few"):
        blocks(four, np.array(5))
    assert not four.any()
    blocks(four, np.array(4))
    assert four.tolist() == [4] * 4


def _said(text: str, said: str) -> str:
    """A program whose first function says whether calls that fail are put back."""
    return text.replace(") {", f") attributes {{hotdesk.roll_back = {said}}} {{", 1)


def test_functions_say_whether_calls_are_put_back() -> None:
    recursive = (
        DEEP[DEEP.index("func.func private") :].replace("private ", "").replace("%n: index", "%t: tensor<index>")
    )
    recursive = recursive.replace("  %more", "  %n = tensor.extract %t[] : tensor<index>\n  %more")
    recursive = recursive.replace(
        "    func.call", "    %rest = tensor.from_elements %less : tensor<index>\n    func.call"
    )
    recursive = recursive.replace(
        "(%s, %less) : (memref<2xf32>, index)", "(%s, %rest) : (memref<2xf32>, tensor<index>)"
    )
    for said, left in (("true", False), ("false", True)):
        table = np.zeros((4, 6), np.float32)
        with pytest.raises(ExecutionError, match="a row"):
            hotdesk.compile(_said(MEMREFS, said))(table[1:, 2:5], np.array([0, 2, 3]))
        assert table.any() == left
        for text in (DEEP, recursive):
            pair = np.zeros(2, np.float32)
            with pytest.raises(ExecutionError, match="of the stack"):
                hotdesk.compile(_said(text, said))(pair, np.array(10**7))
            assert pair.any() == left
    table = np.zeros((4, 3), np.float32)
    program = hotdesk.compile(_said(MEMREFS, "true"), options=hotdesk.Options(roll_back=False))
    with pytest.raises(ExecutionError, match="a row"):
        program(table, np.array([0, 4]))
    assert table.any()


def test_programs_on_memrefs_take_the_memory_that_they_name() -> None:
    """Nothing is kept, so what a failing call has written by then stays."""
    text = (
        MEMREFS.replace("tensor<", "memref<")
        .replace("tensor.dim", "memref.dim")
        .replace("tensor.extract", "memref.load")
    )
    program = hotdesk.compile(text)
    table, places = np.zeros((2, 3), np.float32), np.array([1, 2])
    assert program.memory(table, places).arena == 0
    with pytest.raises(ExecutionError, match="a row"):
        program(table, places)
    assert table.tolist() == [[0, 0, 0], [1, 0, 0]]


TENSORS = """
func.func @main(%s: memref<8xi64>, %t: tensor<?xi64>, %w: tensor<1xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : i64
  %wi = tensor.extract %w[%c0] : tensor<1xi64>
  %i = arith.index_cast %wi : i64 to index
  %size = tensor.dim %t, %c0 : tensor<?xi64>
  %in = arith.cmpi ult, %i, %size : index
  cf.assert %in, "in the table"
  %piece = tensor.extract_slice %t[%i] [1] [1] : tensor<?xi64> to tensor<1xi64>
  %n = tensor.extract %piece[%c0] : tensor<1xi64>
  %k = arith.index_cast %n : i64 to index
  %old = bufferization.to_tensor %s restrict writable : memref<8xi64> to tensor<8xi64>
  %new = scf.for %j = %c0 to %k step %c1 iter_args(%a = %old) -> tensor<8xi64> {
    %ji = arith.index_cast %j : index to i64
    %below = arith.cmpi slt, %ji, %c8 : i64
    cf.assert %below, "eight"
    %next = tensor.insert %n into %a[%j] : tensor<8xi64>
    scf.yield %next : tensor<8xi64>
  }
  bufferization.materialize_in_destination %new in restrict writable %s : (tensor<8xi64>, memref<8xi64>) -> ()
  return
}"""


def test_what_a_check_says_is_there_is_read_behind_it() -> None:
    program = hotdesk.compile(TENSORS)
    state, table = np.zeros(8, np.int64), np.array([1, 2, 3, 9])
    for place, told in ((4, "in the table"), (10**9, "in the table"), (3, "eight")):
        with pytest.raises(ExecutionError, match=told):
            program(state, table, np.array([place]))
        assert not state.any()
    program(state, table, np.array([2]))
    assert state.tolist() == [3, 3, 3, 0, 0, 0, 0, 0]


ENDED = """
func.func @main(%s: memref<8xf32>, %t: tensor<i64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %one = arith.constant 1.0 : f32
  %five = arith.constant 5.0 : f32
  %step = tensor.extract %t[] : tensor<i64>
  %old = bufferization.to_tensor %s restrict writable : memref<8xf32> to tensor<8xf32>
  %r:2 = scf.while (%i = %zero, %a = %old) : (i64, tensor<8xf32>) -> (i64, tensor<8xf32>) {
    %more = arith.cmpi slt, %i, %c8 : i64
    scf.condition(%more) %i, %a : i64, tensor<8xf32>
  } do {
  ^bb0(%i: i64, %a: tensor<8xf32>):
    %e = tensor.extract %a[%c0] : tensor<8xf32>
    %less = arith.cmpf olt, %e, %five : f32
    cf.assert %less, "less than five"
    %few = arith.cmpi sge, %i, %zero : i64
    cf.assert %few, "not below zero"
    %f = arith.addf %e, %one : f32
    %b = tensor.insert %f into %a[%c0] : tensor<8xf32>
    %j = arith.addi %i, %step : i64
    scf.yield %j, %b : i64, tensor<8xf32>
  }
  bufferization.materialize_in_destination %r#1 in restrict writable %s : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}"""
BRANCH = """
func.func @main(%s: memref<8xf32>, %t: tensor<i64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %one = arith.constant 1.0 : f32
  %step = tensor.extract %t[] : tensor<i64>
  %old = bufferization.to_tensor %s restrict writable : memref<8xf32> to tensor<8xf32>
  %e = tensor.extract %old[%c0] : tensor<8xf32>
  %f = arith.addf %e, %one : f32
  %new = tensor.insert %f into %old[%c0] : tensor<8xf32>
  %low = arith.cmpi slt, %step, %c8 : i64
  scf.if %low {
    %g = tensor.extract %new[%c0] : tensor<8xf32>
    %h = arith.fptosi %g : f32 to i64
    %k = arith.subi %h, %step : i64
    %less = arith.cmpi slt, %k, %h : i64
    cf.assert %less, "steps go up"
  }
  %r:2 = scf.while (%i = %zero, %a = %new) : (i64, tensor<8xf32>) -> (i64, tensor<8xf32>) {
    %more = arith.cmpi slt, %i, %c8 : i64
    scf.condition(%more) %i, %a : i64, tensor<8xf32>
  } do {
  ^bb0(%i: i64, %a: tensor<8xf32>):
    %other = arith.cmpi ne, %i, %step : i64
    %first = arith.cmpi slt, %step, %c8 : i64
    %fine = arith.ori %other, %first : i1
    cf.assert %fine, "no step"
    %u = tensor.extract %a[%c0] : tensor<8xf32>
    %v = arith.addf %u, %one : f32
    %b = tensor.insert %v into %a[%c0] : tensor<8xf32>
    %j = arith.addi %i, %step : i64
    scf.yield %j, %b : i64, tensor<8xf32>
  }
  bufferization.materialize_in_destination %r#1 in restrict writable %s : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}"""


def test_a_loop_that_a_check_ends_ends() -> None:
    for text, told, ends in ((ENDED, "less than five", ((2, 4), (8, 1))), (BRANCH, "steps go up", ((2, 5), (9, 2)))):
        program, state = hotdesk.compile(text), np.zeros(8, np.float32)
        with pytest.raises(ExecutionError, match=told):
            program(state, np.array(0))
        assert not state.any()
        for step, first in ends:
            state[:] = 0
            program(state, np.array(step))
            assert state[0] == first


def test_what_an_entry_reads_of_state_is_no_weight_to_the_checker() -> None:
    """One entry counts, the other one reads the count, and prepares weights."""

    class Shared(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls: Any
            self.register_buffer("calls", torch.zeros(()))
            self.norm = torch.nn.BatchNorm1d(4).eval().requires_grad_(False)

    class Counts(torch.nn.Module):
        def __init__(self, shared: Any) -> None:
            super().__init__()
            self.shared = shared

        def forward(self, x: Any) -> Any:
            self.shared.calls += 1
            return x + self.shared.calls

    class Reads(Counts):
        def forward(self, x: Any) -> Any:
            return self.shared.calls + self.shared.norm(x)

    shared, x = Shared().eval(), torch.ones(1, 4, 5)
    programs = hotdesk.compile_many({"counts": (Counts(shared), (x,)), "reads": (Reads(shared).eval(), (x,))})
    programs["counts"](x)
    assert programs["reads"].memory().prepared > 0
    report = programs["reads"].check(x)
    assert not report.faults
    torch.testing.assert_close(programs["reads"](x), 1 + shared.norm(x))
