"""Trade-offs: the ways of a small network with skip connections are found, each as a compilation finds it, and measured."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import onnx
import pytest
import torch
from torch import nn

import hotdesk
from hotdesk.errors import OptionError
from hotdesk.report.tradeoff import Tradeoff
from hotdesk.report.tradeoff_page import tradeoff_page, tradeoff_png, tradeoff_svg
from hotdesk.search.trials import KeptTrials
from tests.e2e.checking import close, random, seeded

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "tradeoff-1.json").read_text(encoding="utf-8"))


class Bottleneck(nn.Module):
    """A block as ResNets have them: narrow, three by three, wide, and the input added."""

    def __init__(self) -> None:
        super().__init__()
        self.narrow, self.middle, self.wide = nn.Conv2d(32, 8, 1), nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 32, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.wide(torch.relu(self.middle(torch.relu(self.narrow(x))))))


def residual() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), Bottleneck(), Bottleneck(), nn.AvgPool2d(16))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 256), nn.GELU(), nn.Linear(256, 16))


@pytest.fixture(scope="module")
def made() -> tuple[nn.Module, torch.Tensor, Tradeoff]:
    model, x = seeded(residual), random(4, 3, 16, 16)
    return model, x, hotdesk.tradeoff(model, (x,), beside=("eager",), seconds=0.2)


def test_blocks_with_skip_connections_are_cut_as_a_whole(made: tuple[nn.Module, torch.Tensor, Tradeoff]) -> None:
    """Images one by one: a quarter of the peak, and nothing is computed twice."""
    model, x, found = made
    ours = [point for point in found.points if point.is_ours]
    assert ours[-1].peak is not None
    assert ours[-1].peak * 3 < (ours[0].peak or 0)
    assert ours[-1].again == 0
    program = hotdesk.compile(model, (x,), budget=ours[-1].peak)
    close(program(x), model(x))
    assert program.check(x).faults == ()


def test_each_point_is_what_its_options_compile_to(made: tuple[nn.Module, torch.Tensor, Tradeoff]) -> None:
    model, x, found = made
    for point in (point for point in found.points if point.is_ours):
        program = hotdesk.compile(model, (x,), order=point.order, budget=point.budget)
        assert program.memory().peak == point.peak
        assert program.memory().prepared == point.prepared


def test_all_are_measured_in_one_run(made: tuple[nn.Module, torch.Tensor, Tradeoff]) -> None:
    _, _, found = made
    assert [point.name for point in found.points if not point.is_ours] == ["eager PyTorch"]
    for point in found.points:
        assert point.seconds is not None
        assert point.peak is not None
        assert 0 < (point.best or 0) <= point.seconds
        assert point.calls >= 5
    eager = found.points[-1]
    assert (eager.peak or 0) >= 2 * 4 * 32 * 16 * 16 * 4  # two wide tensors at least, and no more than all of them
    assert (eager.peak or 0) <= 8 * 4 * 32 * 16 * 16 * 4


def test_what_nothing_beats_is_marked(made: tuple[nn.Module, torch.Tensor, Tradeoff]) -> None:
    _, _, found = made
    for point in found.points:
        worse = [
            other
            for other in found.points
            if (other.peak or 0) <= (point.peak or 0)
            and (other.seconds or 0) <= (point.seconds or 0)
            and (other.peak, other.seconds) != (point.peak, point.seconds)
        ]
        assert ("time" in found.unbeaten(point)) == (not worse)
    lowest = min((point for point in found.points if point.is_ours), key=lambda point: point.peak or 0)
    assert found.unbeaten(lowest) == ("time", "work")


def test_formats(made: tuple[nn.Module, torch.Tensor, Tradeoff]) -> None:
    _, _, found = made
    record = json.loads(found.to_json())
    jsonschema.validate(record, SCHEMA)
    assert record == found.to_dict()
    assert f"budget={found.points[1].budget}" in str(found)
    page = tradeoff_page(found, "residual")
    assert "<title>residual: trade-off</title>" in page
    assert "http://" not in page.partition("<script>")[0]
    assert tradeoff_svg(found).startswith("<svg")
    assert tradeoff_png(found).startswith(b"\x89PNG")


def test_a_search_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials are on disk as soon as they are made, so that an interrupted search has lost nothing."""
    monkeypatch.setenv("HOTDESK_CACHE", "1")
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path))
    model, x = seeded(mlp), random(64, 16)
    written: list[str] = []
    write = KeptTrials.write

    def interrupted(self: KeptTrials, key: str, trials: Any) -> None:
        write(self, key, trials)
        written.append(key)
        if len(written) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(KeptTrials, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hotdesk.tradeoff(model, (x,), seconds=0)
    first = hotdesk.tradeoff(model, (x,), seconds=0)
    assert len(set(written)) == len(written) > 5
    made = len(written)
    assert hotdesk.tradeoff(model, (x,), seconds=0) == first
    assert len(written) == made
    monkeypatch.setenv("HOTDESK_CACHE", "0")
    assert hotdesk.tradeoff(model, (x,), seconds=0) == first


@pytest.mark.slow
def test_a_program_does_the_same_and_all_others_are_measured() -> None:
    model, x = seeded(mlp), random(64, 16)
    program = hotdesk.compile(model, (x,), budget="40 KiB")
    found = program.tradeoff(x)
    peaks = [point.peak for point in hotdesk.tradeoff(model, (x,), seconds=0).points]
    assert [point.peak for point in found.points if point.is_ours] == peaks
    others = [point for point in found.points if not point.is_ours]
    assert [point.name for point in others] == ["eager PyTorch", "onnxruntime", "torch.compile"]
    for point in others:
        assert point.seconds is not None, point.note
        assert 64 * 256 * 4 <= (point.peak or 0) < 2**22, point


def test_a_program_whose_model_is_gone() -> None:
    x = random(64, 16)
    program = hotdesk.compile(seeded(mlp), (x,))
    gc.collect()  # What torch.export leaves refers to the model in circles.
    with pytest.raises(OptionError, match="one that is gone"):
        program.tradeoff(x)


def test_a_loaded_program(tmp_path: Path) -> None:
    x = random(64, 16)
    hotdesk.compile(seeded(mlp), (x,)).save(tmp_path / "mlp.hotdesk")
    with pytest.raises(OptionError, match=r"hotdesk\.tradeoff\(model, args\)"):
        hotdesk.load(tmp_path / "mlp.hotdesk").tradeoff(x)


def test_sizes_that_vary_count_as_their_greatest() -> None:
    model, x = seeded(mlp), random(32, 16)
    batch = torch.export.Dim("batch", min=2, max=64)
    found = hotdesk.tradeoff(model, (x,), dynamic_shapes={"input": {0: batch}}, seconds=0)
    assert found.symbols == (("batch", 32),)
    assert found.points[0].peak == hotdesk.compile(model, (x,)).memory().peak


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"beside": ("tvm",)}, "option 'beside': expected names of eager, onnxruntime, torch.compile, got 'tvm'"),
        ({"budgets": ["much"]}, "option 'budgets'"),
        ({"options": hotdesk.Options(order="peak")}, "neither order nor budget"),
        ({"options": hotdesk.Options(recompute=True)}, "no recompute: budgets make values again"),
    ],
)
def test_what_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        hotdesk.tradeoff(seeded(mlp), (random(4, 16),), **settings)


def test_memrefs_are_refused() -> None:
    text = "func.func @main(%x: memref<4xf32>) {\n  return\n}\n"
    with pytest.raises(OptionError, match="one on memrefs"):
        hotdesk.tradeoff(text, (np.zeros(4, np.float32),))


def test_mlir_is_timed_on_the_arguments_that_are_given() -> None:
    text = (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n"
    )
    (point,) = hotdesk.tradeoff(text, (np.zeros(4, np.float32),), seconds=0.05).points
    assert (point.peak, point.again, point.operations) == (16, 0, 0)
    assert point.seconds is not None
    with pytest.raises(OptionError, match="values for %x: f32"):
        hotdesk.tradeoff(text)


def test_onnxruntime_runs_a_model_in_onnx_by_its_file(tmp_path: Path) -> None:
    """As bytes of a `ModelProto` too; PyTorch runs none of them, and has no row."""
    helper = onnx.helper
    image, scores = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [64, 32]) for name in ("image", "scores")
    )
    graph = helper.make_graph([helper.make_node("Relu", ["image"], ["scores"])], "relu", [image], [scores])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(proto, tmp_path / "relu.onnx")
    x = np.ones((64, 32), np.float32)
    for model in (str(tmp_path / "relu.onnx"), tmp_path / "relu.onnx", proto):
        found = hotdesk.tradeoff(model, (x,), budgets=("1 MiB",), seconds=0.05)
        (there,) = (point for point in found.points if not point.is_ours)
        assert there.name == "onnxruntime"
        assert there.seconds is not None, there.note


@pytest.mark.slow
def test_one_who_cannot_run_it_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    """That ONNX has no Bessel functions is a note, no error; PyTorch's exporter does not warn of what is none of it."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.special.bessel_j0(x) + torch.relu(x)

    found = hotdesk.tradeoff(function, (random(8, 8),), beside=("onnxruntime",), seconds=0.1)
    (there,) = (point for point in found.points if not point.is_ours)
    assert there.seconds is None
    assert there.note
    assert "torchvision" not in capfd.readouterr().err
