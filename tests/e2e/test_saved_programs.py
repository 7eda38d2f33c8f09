"""Saved programs: what is loaded does what was saved, in a process that has NumPy alone too."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportPrivateUsage=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import hotdesk
from hotdesk.artifacts import code
from hotdesk.artifacts.container import Container
from hotdesk.errors import (
    ArgumentTypeError,
    ArtifactError,
    ArtifactMachineError,
    ExecutionError,
    MissingExtraError,
    NotSavableError,
    OptionError,
    ShapeError,
    WeightsError,
)
from hotdesk.kernels.amx import TILE_FLAGS
from hotdesk.kernels.machine import host
from tests.e2e.small_models import SMALL_MODELS

BATCH = torch.export.Dim("batch", max=64)


class Net(torch.nn.Module):
    """Convolutions with batch norms, which `@prepare` folds, and products."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.linear = torch.nn.Linear(8 * 36, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(torch.relu(self.norm(self.convolution(x))).flatten(1))


@pytest.fixture
def net() -> Net:
    torch.manual_seed(0)
    made = Net().eval()
    assert made.norm.running_mean is not None
    made.norm.running_mean.uniform_(-1, 1)
    return made


def _close(found: Any, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(torch.as_tensor(found), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_16_bit_products_and_convolutions(dtype: torch.dtype, tmp_path: Path) -> None:
    """They call products of f32 that another module defines."""
    torch.manual_seed(0)
    layers = (
        torch.nn.Conv2d(3, 16, 3, stride=2),
        torch.nn.Conv2d(16, 16, 3),
        torch.nn.Flatten(),
        torch.nn.Linear(2704, 50),
    )
    model, x = torch.nn.Sequential(*layers).to(dtype).eval(), torch.randn(2, 3, 32, 32, dtype=dtype)
    program = hotdesk.compile(model, (x,))
    program.save(tmp_path / "halves.hd")
    found = torch.as_tensor(hotdesk.load(tmp_path / "halves.hd")(x))
    assert torch.equal(found, torch.as_tensor(program(x)))
    with torch.no_grad():
        torch.testing.assert_close(found, model(x), rtol=2e-2, atol=2e-2)


def _saved(program: hotdesk.Program, folder: Path, **options: Any) -> Path:
    path = folder / "model.hotdesk"
    program.save(path, **options)
    return path


@pytest.mark.parametrize("name", SMALL_MODELS)
def test_small_models(name: str, tmp_path: Path) -> None:
    spec = SMALL_MODELS[name]
    args = spec.inputs()
    program = hotdesk.compile(spec.build(), args)
    loaded = hotdesk.load(_saved(program, tmp_path), verify=True)
    torch.testing.assert_close(loaded(*args), program(*args), rtol=0, atol=0)
    held, all_weights = loaded.memory(*args), program.memory(*args)
    assert held.weights <= all_weights.weights  # what `@prepare` alone reads is not there
    assert replace(held, weights=0) == replace(all_weights, weights=0)


WITHOUT = """
import sys
for name in ("torch", "torch_mlir", "sympy", "onnx", "llvmlite"):
    sys.modules[name] = None
import numpy
import hotdesk
program = hotdesk.load(sys.argv[1])
for number in sys.argv[2:]:
    x = numpy.load(f"x{number}.npy")
    numpy.save(f"y{number}.npy", program(x))
loaded = sorted(name for name in sys.modules if name.startswith(("hotdesk.passes", "hotdesk.analysis", "hotdesk._bindings")))
assert not loaded, loaded
"""
LOADING = """
import sys
import numpy
before = set(sys.modules)
import hotdesk
hotdesk.load(sys.argv[1])
print(*sorted(sys.modules.keys() - before))
"""


def test_a_process_with_numpy_alone(net: Net, tmp_path: Path) -> None:
    program = hotdesk.compile(net, (torch.ones(2, 3, 6, 6),), dynamic_shapes=({0: BATCH},))
    path = _saved(program, tmp_path)
    inputs = {batch: torch.randn(batch, 3, 6, 6) for batch in (1, 2, 7, 64)}
    for batch, x in inputs.items():
        np.save(tmp_path / f"x{batch}.npy", x.numpy())
    command = [sys.executable, "-c", WITHOUT, str(path), *map(str, inputs)]
    subprocess.run(command, cwd=tmp_path, check=True, env={**os.environ, "HOTDESK_CACHE": "0"})
    for batch, x in inputs.items():
        _close(np.load(tmp_path / f"y{batch}.npy"), net(x))


EXECUTABLE = """
import re, sys
import numpy as np
import hotdesk
def executable():
    with open("/proc/self/maps") as lines:
        found = [line.split(maxsplit=5) for line in lines]
    return {each[0]: each[5].strip() if len(each) > 5 else "" for each in found if "x" in each[1]}
before = executable()
program = hotdesk.load(sys.argv[1])
program(np.zeros((2, 3, 6, 6), np.float32))
new = [name for place, name in executable().items() if place not in before]
assert new.count(sys.argv[1]) >= 2, new
assert "" not in new, new
"""


def test_code_runs_from_the_pages_of_the_file(net: Net, tmp_path: Path) -> None:
    """None is in memory of the process's own."""
    path = _saved(hotdesk.compile(net, (torch.ones(2, 3, 6, 6),)), tmp_path)
    subprocess.run([sys.executable, "-c", EXECUTABLE, str(path)], check=True)


def test_plans_for_all_sizes_are_those_of_the_compiler(tmp_path: Path) -> None:
    class Mixed(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            products = (x @ y.T).softmax(-1)
            return (products @ y).relu() + x.cumsum(0) * products.sum()

    rows, other = torch.export.Dim("rows", max=300), torch.export.Dim("other", max=300)
    args = torch.randn(5, 8), torch.randn(9, 8)
    program = hotdesk.compile(Mixed(), args, dynamic_shapes=({0: rows}, {0: other}))
    loaded = hotdesk.load(_saved(program, tmp_path))
    for a, b in ((1, 1), (5, 9), (250, 3), (3, 250), (299, 300)):
        x, y = torch.randn(a, 8), torch.randn(b, 8)
        torch.testing.assert_close(loaded(x, y), program(x, y), rtol=0, atol=0)
        assert loaded.memory(x, y) == program.memory(x, y)
    with pytest.raises(ShapeError, match="rows <= 300"):
        loaded(torch.randn(301, 8), torch.randn(2, 8))


def test_sizes_that_are_made_of_others(tmp_path: Path) -> None:
    class Doubled(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, int]:
            return torch.cat([x, y]) * 2, x.shape[0] + 1

    half = torch.export.Dim("half", max=50)
    model = Doubled()
    args = torch.ones(6, 4), torch.ones(3, 4)
    program = hotdesk.compile(model, args, dynamic_shapes=({0: 2 * half}, {0: half}))
    loaded = hotdesk.load(_saved(program, tmp_path))
    x, y = torch.randn(8, 4), torch.randn(4, 4)
    found, number = loaded(x, y)
    _close(found, model(x, y)[0])
    assert number == 9
    with pytest.raises(ShapeError):
        loaded(torch.randn(7, 4), torch.randn(4, 4))


def test_loading_imports_little(net: Net, tmp_path: Path) -> None:
    """Planning, reports and reasons come with the first call or question that needs them; so do modules for paths."""
    path = _saved(hotdesk.compile(net, (torch.ones(2, 3, 6, 6),)), tmp_path)
    done = subprocess.run([sys.executable, "-c", LOADING, str(path)], check=True, capture_output=True, text=True)
    imported = done.stdout.split()
    late = ("hotdesk.planning.", "hotdesk.report.", "hotdesk.explain.reason", "tempfile", "pathlib", "sympy")
    assert [name for name in imported if name.startswith(late) and name != "hotdesk.planning.problem.numbers"] == [
        "hotdesk.planning.problem"
    ]


def test_nested_arguments_and_results(tmp_path: Path) -> None:
    class Nested(torch.nn.Module):
        def forward(self, pair: Any, flag: bool, *, scale: dict[str, Any]) -> Any:
            a, (b,) = pair
            return {"sum": a + b * scale["by"], "rest": [a - b, None, 3, (flag, "text")]}

    x, y, s = torch.randn(4), torch.randn(4), torch.tensor(2.0)
    model, args, kwargs = Nested(), ((x, [y]), True), {"scale": {"by": s}}
    loaded = hotdesk.load(_saved(hotdesk.compile(model, args, kwargs), tmp_path))
    found, wanted = loaded(*args, **kwargs), model(*args, **kwargs)
    _close(found["sum"], wanted["sum"])
    _close(found["rest"][0], wanted["rest"][0])
    assert found["rest"][1:] == wanted["rest"][1:]
    _close(loaded(flag=True, pair=(x, [y]), scale={"by": s})["sum"], wanted["sum"])
    with pytest.raises(ArgumentTypeError, match="`flag` was fixed when the program was compiled"):
        loaded((x, [y]), False, **kwargs)
    with pytest.raises(ArgumentTypeError, match="nested differently"):
        loaded((x, (y,)), True, **kwargs)


def test_weights_by_reference_are_mapped(net: Net, tmp_path: Path) -> None:
    weights = {name: tensor for name, tensor in net.state_dict().items() if tensor.dtype == torch.float32}
    _write_safetensors(tmp_path / "net.safetensors", weights)
    x = torch.randn(2, 3, 6, 6)
    program = hotdesk.compile(net, (x,))
    (tmp_path / "code").mkdir()
    path = _saved(program, tmp_path / "code", weights=tmp_path / "net.safetensors")
    inside = _saved(program, tmp_path)
    assert path.stat().st_size < inside.stat().st_size
    _close(hotdesk.load(path)(x), net(x))
    assert "net.safetensors" in Path("/proc/self/maps").read_text()
    other = {name: tensor * 0.5 for name, tensor in weights.items()}
    _write_safetensors(tmp_path / "other.safetensors", other)
    changed = Net().eval()
    changed.load_state_dict(other, strict=False)
    _close(hotdesk.load(path, weights=tmp_path / "other.safetensors")(x), changed(x))
    _write_safetensors(tmp_path / "none.safetensors", {"x": torch.ones(3)})
    with pytest.raises(WeightsError, match="none of them"):
        program.save(tmp_path / "no.hotdesk", weights=tmp_path / "none.safetensors")
    moved = (tmp_path / "net.safetensors").rename(tmp_path / "moved.safetensors")
    with pytest.raises(WeightsError, match=r"net\.safetensors.*Say where it is: `hotdesk\.load\(…, weights="):
        hotdesk.load(path)
    given = {name: tensor for name, tensor in weights.items() if name != "linear.bias"}
    with pytest.raises(WeightsError, match=r"the weights linear\.bias of the program: .*net\.safetensors"):
        hotdesk.load(path, weights=given)
    _close(hotdesk.load(path, weights=moved)(x), net(x))
    _close(hotdesk.load(path, weights=weights)(x), net(x))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        struct.pack("<Q", 1 << 60) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 1) + b"{",
        struct.pack("<Q", 65)
        + json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode().ljust(65),
        struct.pack("<Q", 70)
        + json.dumps({"w": {"dtype": "F32", "shape": [-4], "data_offsets": [0, -16]}}).encode().ljust(70),
        struct.pack("<Q", 70) + json.dumps({"w": {"dtype": 3, "shape": 3, "data_offsets": 0}}).encode().ljust(70),
        struct.pack("<Q", 1 << 20)
        + json.dumps({"w": {"dtype": "F32", "shape": [9] * 300_000, "data_offsets": [0, 4]}}).encode().ljust(1 << 20),
    ],
)
def test_damaged_safetensors_files_are_refused(data: bytes, tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    path = _saved(hotdesk.compile(model, (torch.ones(1, 2),)), tmp_path, weights="given")
    (tmp_path / "w.safetensors").write_bytes(data)
    with pytest.raises(WeightsError):
        hotdesk.load(path, weights=tmp_path / "w.safetensors")


def test_given_weights_are_read_where_they_are(net: Net, tmp_path: Path) -> None:
    x = torch.randn(2, 3, 6, 6)
    path = _saved(hotdesk.compile(net, (x,)), tmp_path, weights="given")
    weights = net.state_dict()
    loaded = hotdesk.load(path, weights=weights)
    _close(loaded(x), net(x))
    with torch.no_grad():
        net.linear.bias.add_(1)
    _close(loaded(x), net(x))
    _close(hotdesk.load(path, weights={name: each.numpy() for name, each in weights.items()})(x), net(x))
    with pytest.raises(WeightsError, match=r"expected `hotdesk.load\(…, weights=…\)`"):
        hotdesk.load(path)
    with pytest.raises(WeightsError, match=r"with linear\.bias, got others"):
        hotdesk.load(path, weights={name: each for name, each in weights.items() if name != "linear.bias"})
    with pytest.raises(WeightsError, match="none: the program has its own"):
        hotdesk.load(_saved(hotdesk.compile(net, (x,)), tmp_path), weights=weights)


def test_tied_weights_are_kept_once(tmp_path: Path) -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(256, 256, bias=False)
            self.b = torch.nn.Linear(256, 256, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.b(torch.relu(self.a(x)))

    model, x = Tied(), torch.randn(2, 256)
    path = _saved(hotdesk.compile(model, (x,)), tmp_path)
    with Container(path) as container:
        assert container.section("weights").bytes == 256 * 256 * 4
    _close(hotdesk.load(path)(x), model(x))


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return self.count * 2


def test_state_belongs_to_the_process_that_loads(tmp_path: Path) -> None:
    x = torch.ones(3)
    program = hotdesk.compile(Counter(), (x,))
    program(x)
    path = _saved(program, tmp_path)
    first, second = hotdesk.load(path), hotdesk.load(path)
    first(x)
    _close(first(x), torch.full((3,), 6.0))
    _close(second(x), torch.full((3,), 4.0))
    _close(program(x), torch.full((3,), 4.0))


def test_state_that_is_given_is_changed_where_it_lies(tmp_path: Path) -> None:
    x, count = torch.ones(3), torch.full((3,), 4.0)
    path = _saved(hotdesk.compile(Counter(), (x,)), tmp_path, weights="given")
    _close(hotdesk.load(path, weights={"count": count})(x), torch.full((3,), 10.0))
    _close(count, torch.full((3,), 5.0))


def test_random_numbers_follow_from_the_seed(tmp_path: Path) -> None:
    class Drawn(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.rand_like(x)

    program = hotdesk.compile(Drawn(), (torch.zeros(16),), seed=5)
    loaded = hotdesk.load(_saved(program, tmp_path))
    assert loaded.random_state == program.random_state
    _close(loaded(torch.zeros(16)), program(torch.zeros(16)))
    loaded.seed(9)
    program.seed(9)
    _close(loaded(torch.zeros(16)), program(torch.zeros(16)))


def test_donated_inputs_and_out(tmp_path: Path) -> None:
    class Chain(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.exp(x * 2).softmax(-1)

    x = torch.randn(8, 8)
    loaded = hotdesk.load(_saved(hotdesk.compile(Chain(), (x,), donate=True), tmp_path))
    wanted = Chain()(x)
    _close(loaded(x.clone()), wanted)
    out = torch.empty(8, 8)
    loaded(x.clone(), out=out)
    _close(out, wanted)


def test_failed_checks_say_what_failed(tmp_path: Path) -> None:
    class Picked(torch.nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return x[i]

    args = torch.randn(4), torch.tensor([1, 2])
    program = hotdesk.compile(Picked(), args)
    loaded = hotdesk.load(_saved(program, tmp_path))
    messages: list[str] = []
    for each in (program, loaded):
        with pytest.raises(ExecutionError) as caught:
            each(args[0], torch.tensor([1, 9]))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_levels_of_processors(net: Net, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(2, 3, 6, 6)
    path = _saved(hotdesk.compile(net, (x,)), tmp_path, cpu=["x86-64", "x86-64-v3"])
    _close(hotdesk.load(path)(x), net(x))
    monkeypatch.setattr(code, "processor_features", lambda: frozenset[str]())
    _close(hotdesk.load(path)(x), net(x))
    program = hotdesk.compile(net, (x,))
    with pytest.raises(OptionError, match="'x86-64-v9'"):
        program.save(tmp_path / "no.hotdesk", cpu="x86-64-v9")
    only = _saved(program, tmp_path, cpu="x86-64-v3")
    with pytest.raises(ArtifactMachineError, match="avx2"):
        hotdesk.load(only)


def test_tiles_are_asked_for_where_code_uses_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor may have AMX, and the system may refuse it: code that uses it does not run there, other code does."""
    x = torch.ones(40, 64)
    model, flags = torch.nn.Linear(64, 48), code.processor_features() | TILE_FLAGS
    plain, halves = tmp_path / "plain.hotdesk", tmp_path / "halves.hotdesk"
    hotdesk.compile(model, (x,)).save(plain)
    model, x = model.bfloat16(), x.bfloat16()
    hotdesk.compile(model, (x,)).save(halves)
    torch.testing.assert_close(torch.as_tensor(hotdesk.load(halves)(x)), model(x))
    monkeypatch.setattr(code, "processor_features", lambda: flags)
    monkeypatch.setattr(code, "may_use_tiles", lambda: False)
    hotdesk.load(plain)
    if host().tiles:
        with pytest.raises(
            ArtifactMachineError, match="amx_bf16, amx_tile, got a system that does not let programs use them"
        ):
            hotdesk.load(halves)


class _Lines(io.StringIO):
    """A file that is read to its end once."""

    ended = False

    def readline(self, size: int = -1, /) -> str:
        assert not self.ended
        line = super().readline(size)
        self.ended = not line
        return line


@pytest.mark.parametrize(
    ("text", "found"),
    [("", set()), ("flags\t: fma none", {"fma"}), ("model: a\nflags: avx\n\nflags: fma\n\n", {"avx"})],
)
def test_features_of_the_first_processor(text: str, found: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "open", lambda *_args, **_named: _Lines(text), raising=False)
    assert code.processor_features() == found


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v2"])
def test_halves_on_processors_without_instructions_for_them(level: str, tmp_path: Path) -> None:
    class Converted(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x.float(), y.half()

    halves = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(torch.float16)
    wide = halves.float()
    middles = (wide[:-1].double() + wide[1:].double()).div(2).float()
    floats = torch.cat([wide, middles, middles.nextafter(torch.tensor(1e9)), middles.nextafter(-torch.tensor(1e9))])
    floats = torch.cat(
        [floats, torch.tensor([65519.9, 65520.0, 65535.9, 65536.0, 1e38, 2.0**-25, 2.9e-8, 1e-45, -0.0])]
    )
    loaded = hotdesk.load(_saved(hotdesk.compile(Converted(), (halves, floats)), tmp_path, cpu=[level]))
    extended, truncated = map(torch.as_tensor, loaded(halves, floats))
    bits = torch.where(wide.isnan(), 0, extended.view(torch.int32))
    assert torch.equal(bits, torch.where(wide.isnan(), 0, wide.view(torch.int32)))
    assert extended.isnan().equal(wide.isnan())
    expected = floats.half()
    assert truncated.isnan().equal(expected.isnan())
    kept = ~expected.isnan()
    assert torch.equal(truncated.view(torch.int16)[kept], expected.view(torch.int16)[kept])


def test_a_model_of_halves_on_old_processors(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(128, 5))
    model, x = model.half().eval(), torch.randn(2, 3, 6, 6).half()
    loaded = hotdesk.load(_saved(hotdesk.compile(model, (x,)), tmp_path, cpu="x86-64"))
    torch.testing.assert_close(torch.as_tensor(loaded(x)), model(x), rtol=2e-3, atol=2e-3)


def test_levels_take_the_extra(net: Net, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hotdesk.runtime.code import llvm

    llvm._llvm.cache_clear()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    with pytest.raises(MissingExtraError, match=r"hotdesk\[aot\]"):
        hotdesk.compile(net, (torch.randn(2, 3, 6, 6),)).save(tmp_path / "no.hotdesk", cpu="x86-64-v3")
    assert not (tmp_path / "no.hotdesk").exists()


def test_programs_in_mlir(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = math.exp %x : tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }"""
    loaded = hotdesk.load(_saved(hotdesk.compile(text), tmp_path))
    x = np.random.default_rng(0).standard_normal((5, 4), dtype=np.float32)
    np.testing.assert_allclose(loaded(x), np.exp(x), rtol=1e-5)


def test_what_takes_the_compiler_is_refused(net: Net, tmp_path: Path) -> None:
    x = torch.randn(2, 3, 6, 6)
    loaded = hotdesk.load(_saved(hotdesk.compile(net, (x,)), tmp_path))
    assert "arena" in loaded.report(x)
    assert loaded.memory().arena > 0
    for call in (lambda: loaded.profile(x), lambda: loaded.check(x), lambda: loaded.memory({})):
        with pytest.raises(OptionError, match=r"that `hotdesk.compile` made"):
            call()
    with pytest.raises(NotSavableError):
        loaded.save(tmp_path / "again.hotdesk")


class Ones(torch.nn.Module):
    """Takes memory of which a tensor says how much."""

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        count = n.item()
        torch._check(count >= 0)
        return torch.ones(count).cumsum(0).sum() + x.sum()


def _chosen(x: torch.Tensor) -> Any:
    places = x.nonzero()
    return {"places": places, "again": [places, (x[x > 0] * 2).to(torch.bfloat16), x + 1]}


COUNTED: dict[str, tuple[Any, list[tuple[torch.Tensor, ...]]]] = {
    "places": (torch.nonzero, [(torch.eye(3),), (torch.zeros(3, 3),), (torch.ones(3, 3),)]),
    "nested": (_chosen, [(torch.tensor([[0.0, 2, -1], [3, 0, 0]]),), (-torch.ones(2, 3),)]),
    "without a limit": (Ones(), [(torch.arange(4.0), torch.tensor(n)) for n in (3, 0, 5000)]),
}


@pytest.mark.parametrize("name", COUNTED)
def test_sizes_that_only_a_run_knows(name: str, tmp_path: Path) -> None:
    """The file says what copies such results, and a second region is the process's own."""
    model, calls = COUNTED[name]
    loaded = hotdesk.load(_saved(hotdesk.compile(model, calls[0]), tmp_path))
    for call in calls:
        torch.testing.assert_close(loaded(*call), model(*call), rtol=0, atol=0)
    if name == "without a limit":
        assert loaded.memory(*calls[0]).grown >= 5000 * 4
    with pytest.raises(NotSavableError, match="only a run knows|known only when the program runs"):
        hotdesk.compile(model, calls[0]).export_c(tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_sizes_that_only_a_run_knows_with_numpy_alone(tmp_path: Path) -> None:
    program = hotdesk.compile(lambda x: (torch.nonzero(x), x[x > 1]), (torch.ones(3, 4),))
    program.save(tmp_path / "model.hotdesk")
    x = np.array([[0, 1, 2, 0], [0, 0, 3, 0], [4, 0, 0, -1]], np.float32)
    places, chosen = program(x)
    assert type(places) is type(chosen) is np.ndarray
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['torch', 'torch_mlir', 'sympy', 'llvmlite']))\n"
        "import numpy, hotdesk\n"
        "places, chosen = hotdesk.load('model.hotdesk')(numpy.load('x.npy'))\n"
        "numpy.savez('y.npz', places=places, chosen=chosen)\n"
    )
    np.save(tmp_path / "x.npy", x)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    found = np.load(tmp_path / "y.npz")
    np.testing.assert_array_equal(found["places"], np.argwhere(x))
    np.testing.assert_array_equal(found["places"], places)
    np.testing.assert_array_equal(found["chosen"], x[x > 1])


def test_what_carries_a_result_of_such_a_size_is_refused(tmp_path: Path) -> None:
    program = hotdesk.compile(lambda x: torch.view_as_complex(x[x > 0].view(-1, 2)), (torch.ones(2, 2),))
    with pytest.raises(NotSavableError):
        program.save(tmp_path / "no.hotdesk")
    assert list(tmp_path.iterdir()) == []


def test_the_same_program_is_the_same_file(net: Net, tmp_path: Path) -> None:
    program = hotdesk.compile(net, (torch.randn(2, 3, 6, 6),))
    first = _saved(program, tmp_path).read_bytes()
    assert _saved(program, tmp_path).read_bytes() == first


@pytest.mark.parametrize("name", ["", "missing.hotdesk", ".", "a\0b"])
def test_what_is_no_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError):
        hotdesk.load(os.fspath(tmp_path / name) if name else "")


def test_verified_weights(net: Net, tmp_path: Path) -> None:
    path = _saved(hotdesk.compile(net, (torch.randn(2, 3, 6, 6),)), tmp_path)
    with Container(path) as container:
        weights = container.section("weights")
    data = bytearray(path.read_bytes())
    data[weights.offset + 5] ^= 1
    path.write_bytes(data)
    hotdesk.load(path)
    with pytest.raises(ArtifactError, match="checksum"):
        hotdesk.load(path, verify=True)


def _write_safetensors(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = b"".join(tensor.contiguous().numpy().tobytes() for tensor in tensors.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_a_reference_from_a_folder_behind_a_link(tmp_path: Path) -> None:
    model, x = torch.nn.Linear(4, 2), torch.ones(3, 4)
    _write_safetensors(tmp_path / "weights.safetensors", model.state_dict())
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "old").touch()
    (tmp_path / "deep" / "er" / "program").symlink_to(tmp_path / "old")  # the link is replaced, not the file
    program = hotdesk.compile(model, (x,))
    program.save(tmp_path / "deep" / "er" / "program", weights=tmp_path / "weights.safetensors")
    torch.testing.assert_close(hotdesk.load(tmp_path / "deep" / "er" / "program")(x), model(x))


def test_weights_in_a_pipe_are_refused(tmp_path: Path) -> None:
    model, x = torch.nn.Linear(4, 2), torch.ones(3, 4)
    hotdesk.compile(model, (x,)).save(tmp_path / "program", weights="given")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WeightsError, match="a regular file"):
        hotdesk.load(tmp_path / "program", weights=tmp_path / "pipe")
    header = b'{"weight":{"dtype":"F32","shape":[1e400],"data_offsets":[0,4]}}'
    (tmp_path / "endless").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    with pytest.raises(WeightsError, match="a damaged header"):
        hotdesk.load(tmp_path / "program", weights=tmp_path / "endless")
