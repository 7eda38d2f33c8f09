"""Programs from the cache on disk are those that compiling makes: the same results, report, decisions and checks."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

import hotdesk
from examples.models import MODELS
from examples.models.spec import ModelSpec
from hotdesk.compiling import program_cache
from hotdesk.compiling.compile import compile as compile_model
from hotdesk.runtime.cache import FORMAT
from tests.e2e.small_models import SMALL_MODELS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that keeps programs; machine code that all programs share goes there, too."""
    monkeypatch.setenv("HOTDESK_CACHE", "1")
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path))
    return tmp_path


def _is_from_cache(program: hotdesk.Program) -> bool:
    return "bufferize" not in program.timings


def _same(first: hotdesk.Program, second: hotdesk.Program, inputs: tuple[Any, ...]) -> None:
    """Two programs that tell and compute the same, the second one from the cache."""
    assert not _is_from_cache(first)
    assert _is_from_cache(second)
    assert first.report(*inputs) == second.report(*inputs)
    assert first.decisions(*inputs) == second.decisions(*inputs)
    assert repr(first.decisions(*inputs)) == repr(second.decisions(*inputs))
    assert first.buffers(*inputs) == second.buffers(*inputs)
    assert first.summary(*inputs) == second.summary(*inputs)
    assert first.memory(*inputs) == second.memory(*inputs)
    assert (repr(first), first.inputs, first.results) == (repr(second), second.inputs, second.results)
    given = [[each.clone() for each in inputs] for _ in range(2)]  # a call may overwrite them
    expected, found = (pytree.tree_leaves(p(*x)) for p, x in zip((first, second), given, strict=True))
    for one, other in zip(expected, found, strict=True):
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def _twice(model: torch.nn.Module, inputs: tuple[Any, ...], **options: Any) -> hotdesk.Program:
    first, second = (compile_model(model, inputs, **options) for _ in range(2))
    _same(first, second, inputs)
    return second


@pytest.mark.parametrize("name", SMALL_MODELS)
def test_small_models(name: str) -> None:
    _model(SMALL_MODELS[name])


@pytest.mark.parametrize("name", ["demo", "mlp"])
def test_example_models_that_are_small(name: str) -> None:
    _model(MODELS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MODELS.keys() - {"demo", "mlp"}))
def test_example_models(name: str) -> None:
    _model(MODELS[name])


def _model(spec: ModelSpec) -> None:
    _twice(spec.build(), spec.inputs(), dynamic_shapes=spec.dynamic_shapes)


class _Net(torch.nn.Module):
    def __init__(self, scale: float = 2.0) -> None:
        super().__init__()
        self.scale = scale
        self.norm = torch.nn.BatchNorm1d(6)
        self.linear = torch.nn.Linear(6, 5)

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        y = self.linear(self.norm(x)) * self.scale
        return {"y": torch.relu(y), "rows": x.shape[0], "scale": self.scale}


def _net(scale: float = 2.0) -> torch.nn.Module:
    torch.manual_seed(0)
    return _Net(scale).eval()


X = torch.randn(4, 6)


def test_other_weights_are_those_of_the_model() -> None:
    first, second = _net(), _net()
    with torch.no_grad():
        second.get_parameter("linear.weight").mul_(3)
        second.get_buffer("norm.running_mean").add_(1)
    compile_model(first, (X,))
    program = compile_model(second, (X,))
    assert _is_from_cache(program)
    assert torch.allclose(program(X)["y"], second(X)["y"], atol=1e-5)
    assert program(X)["scale"] == 2.0


def test_other_constants_are_another_program() -> None:
    compile_model(_net(), (X,))
    program = compile_model(_net(3.0), (X,))
    assert not _is_from_cache(program)
    assert torch.allclose(program(X)["y"], _net(3.0)(X)["y"], atol=1e-5)


def test_dynamic_sizes_keep_their_names() -> None:
    batch = torch.export.Dim("batch", min=2, max=64)
    program = _twice(_net(), (X,), dynamic_shapes={"x": {0: batch}})
    for rows in (2, 7, 64):
        x = torch.randn(rows, 6)
        found = program(x)
        assert found["rows"] == rows
        assert torch.allclose(found["y"], _net()(x)["y"], atol=1e-5)
    with pytest.raises(hotdesk.HotdeskError, match="batch"):
        program(torch.randn(65, 6))
    other = compile_model(_net(), (X,), dynamic_shapes={"x": {0: torch.export.Dim("rows", min=2, max=64)}})
    assert not _is_from_cache(other)
    assert other.memory({"rows": (2, 8)}).ranges == (("rows", (2, 8)),)


def test_a_kept_program_is_checked_and_profiled() -> None:
    program = _twice(_net(), (X,))
    assert not program.check(X).faults
    assert program.profile(X).seconds > 0


def test_options_are_part_of_the_key() -> None:
    compile_model(_net(), (X,))
    bounds = ({"options": hotdesk.Options(prepare=0)}, {"options": hotdesk.Options(private_memory=0)})
    for options in ({"donate": True}, {"order": "peak"}, {"budget": "1 MiB"}, *bounds):
        _twice(_net(), (X,), **options)
    assert compile_model(_net(), (X,), options=hotdesk.Options(keep_ir=True)).stages


class _Copying(torch.nn.Module):
    """A weight with gaps, which is copied when it is compiled, and one that is transposed where it lies."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps = torch.nn.Parameter(torch.randn(6, 8)[:, ::2])
        self.turned = torch.nn.Parameter(torch.randn(6, 4).t())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.gaps @ self.turned


def test_weights_of_any_layout() -> None:
    torch.manual_seed(1)
    for _ in range(2):
        model = _Copying().eval()
        program = compile_model(model, (X,))
        assert torch.allclose(program(X), model(X), atol=1e-5)


class _Constant(torch.nn.Module):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.tensor([self.value, 2.0, 3.0, 4.0, 5.0, 6.0])


def test_lifted_constants_are_part_of_the_key() -> None:
    for value in (1.0, 9.0, 1.0):
        assert torch.equal(compile_model(_Constant(value), (X,))(X), _Constant(value)(X))


@pytest.mark.parametrize("damage", ["cut", "flipped", "other records", "no code"])
def test_damaged_entries_are_made_again(folder: Path, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = folder / FORMAT
    compile_model(_net(1.0), (X,))
    before = set(entries.rglob("*"))
    first = compile_model(_net(), (X,))
    added = [path for path in set(entries.rglob("*")) - before if path.is_file()]
    program_file = next(path for path in added if b"LoweredFunction" in path.read_bytes())
    if damage == "cut":
        program_file.write_bytes(program_file.read_bytes()[:-5])
    elif damage == "flipped":
        data = bytearray(program_file.read_bytes())
        data[-3] ^= 1
        program_file.write_bytes(bytes(data))
    elif damage == "no code":
        for path in added:
            if path != program_file:
                path.unlink()
    else:
        written = program_cache.packed

        def packed_otherwise(_made: object) -> bytes:
            return written(("something", "else"))

        monkeypatch.setattr(program_cache, "packed", packed_otherwise)
        program_file.unlink()
        compile_model(_net(), (X,))
        monkeypatch.undo()
        monkeypatch.setenv("HOTDESK_CACHE", "1")
        monkeypatch.setenv("HOTDESK_CACHE_DIR", str(folder))
    again = compile_model(_net(), (X,))
    assert not _is_from_cache(again)
    _same(first, compile_model(_net(), (X,)), (X,))


def test_only_code_is_kept_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "code")
    assert not any(_is_from_cache(compile_model(_net(), (X,))) for _ in range(2))


def test_what_is_put_back_is_part_of_the_key() -> None:
    made = [compile_model(_net(), (X,), options=hotdesk.Options(roll_back=each)) for each in (True, False, True, False)]
    assert [_is_from_cache(each) for each in made] == [False, False, True, True]


class _Counting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = self.get_buffer("count")
        count.add_(1)
        return x + count


def test_models_that_change_are_compiled_each_time() -> None:
    for _ in range(2):
        model = _Counting()
        program = compile_model(model, (X,))
        assert not _is_from_cache(program)
        program(X)
        assert torch.equal(program(X), X + 2)
        assert model.get_buffer("count") == 2
