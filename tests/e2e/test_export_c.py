"""Programs exported as C: built by the system's compiler and run beside PyTorch; of other processors, object files are read."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportPrivateUsage=false

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import hotdesk
from hotdesk.errors import NotSavableError, OptionError

PAGE = Path(__file__).parents[2] / "docs" / "export-c.md"
_STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wundef", "-Wshadow", "-Werror")
_SANITIZED = ("cc", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
MACHINES = {"aarch64": (2, 183), "armv7": (1, 40), "thumbv7em": (1, 40), "riscv64": (2, 243), "riscv32": (1, 243)}


class Net(torch.nn.Module):
    """Convolutions, batch norms, products, elementary functions, an index table and two results."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.linear = torch.nn.Linear(8 * 36, 5)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        z = torch.nn.functional.gelu(self.norm(self.convolution(x))).flatten(1)
        return self.linear(z).softmax(-1), (y + torch.arange(4)).sum(-1)


def _exported(folder: Path, **options: Any) -> tuple[Net, tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(0)
    model, args = Net().eval(), (torch.randn(2, 3, 6, 6), torch.arange(12).reshape(3, 4))
    hotdesk.compile(model, args).export_c(folder, **options)
    return model, args


def _run(
    folder: Path,
    name: str,
    args: tuple[torch.Tensor, ...],
    compiler: Sequence[str] = _SANITIZED,
    emulator: Sequence[str] = (),
) -> bytes:
    files = [f"{name}.c", f"{name}_weights.S", f"{name}_kernels.o", "main.c"]
    command = [*compiler, "-O1", *_STRICT, *files, "-lm", "-o", "example"]
    subprocess.run(command, cwd=folder, check=True)
    given = b"".join(each.numpy().tobytes() for each in args)
    return subprocess.run([*emulator, folder / "example"], input=given, capture_output=True, check=True).stdout


def _require_as_pytorch(found: bytes, model: Net, args: tuple[torch.Tensor, ...]) -> None:
    first, second = model(*args)
    count = first.numel() * 4
    np.testing.assert_allclose(
        np.frombuffer(found[:count], np.float32).reshape(2, 5), first.detach().numpy(), rtol=1e-4, atol=1e-6
    )
    assert np.frombuffer(found[count:], np.int64).tolist() == second.tolist()


def test_what_is_exported_computes_the_same(tmp_path: Path) -> None:
    model, args = _exported(tmp_path, name="net")
    _require_as_pytorch(_run(tmp_path, "net", args), model, args)


class Block(torch.nn.Module):
    """Words looked up, steps of an LSTM, and attention among them: tables, loops, and a check of indices."""

    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(20, 8)
        self.rows = torch.nn.LSTM(8, 8, batch_first=True)
        self.mix = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.mix(self.rows(self.words(words))[0])


@pytest.mark.slow
def test_no_access_outside_of_memory_and_nothing_undefined(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, words = Block().eval(), torch.arange(10).reshape(2, 5)
    hotdesk.compile(model, (words,)).export_c(tmp_path)
    found = np.frombuffer(_run(tmp_path, "model", (words,)), np.float32)
    np.testing.assert_allclose(found.reshape(2, 5, 8), model(words).detach().numpy(), rtol=1e-4, atol=1e-6)
    given = torch.full((2, 5), 20).numpy().tobytes()
    failed = subprocess.run([tmp_path / "example"], input=given, capture_output=True, check=False)
    assert failed.returncode == 1
    assert b"index" in failed.stderr


@pytest.mark.slow
def test_it_computes_the_same_on_aarch64(tmp_path: Path) -> None:
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if not compiler or not emulator:
        pytest.skip("apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross")
    model, args = _exported(tmp_path, name="net", target="aarch64")
    found = _run(tmp_path, "net", args, [compiler, "-static"], [emulator])
    _require_as_pytorch(found, model, args)


def test_nothing_but_mathematics_and_memory_is_called(tmp_path: Path) -> None:
    _exported(tmp_path)
    listed = subprocess.run(["nm", tmp_path / "model_kernels.o"], capture_output=True, text=True, check=True).stdout
    wanted = set(re.findall(r" U (\w+)", listed))
    assert wanted <= {"memset", "memcpy", "memmove", "expf", "tanhf", "erff", "_GLOBAL_OFFSET_TABLE_"}
    assert re.findall(r" [TDB] (\w+)", listed) == ["model_kernels"]


def test_failed_checks_are_told(tmp_path: Path) -> None:
    class Picked(torch.nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return x[i]

    args = torch.arange(4.0), torch.tensor([1, 3])
    hotdesk.compile(Picked(), args).export_c(tmp_path)
    assert np.frombuffer(_run(tmp_path, "model", args), np.float32).tolist() == [1, 3]
    given = args[0].numpy().tobytes() + torch.tensor([1, 9]).numpy().tobytes()
    failed = subprocess.run([tmp_path / "example"], input=given, capture_output=True, text=False, check=False)
    assert failed.returncode == 1
    assert b"index" in failed.stderr


@pytest.mark.parametrize("target", MACHINES)
def test_other_processors(target: str, tmp_path: Path) -> None:
    _exported(tmp_path, target=target)
    data = (tmp_path / "model_kernels.o").read_bytes()
    assert data[:4] == b"\x7fELF"
    assert (data[4], struct.unpack_from("<H", data, 18)[0]) == MACHINES[target]
    assert b"pthread" not in data
    assert b"posix_memalign" not in data


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    linear, x = torch.nn.Linear(4, 2), torch.ones(3, 4)
    program = hotdesk.compile(linear, (x,), dynamic_shapes=({0: torch.export.Dim("rows")},))
    with pytest.raises(NotSavableError, match="sizes that vary"):
        program.export_c(tmp_path)
    fixed = hotdesk.compile(linear, (x,))
    with pytest.raises(OptionError, match="'vax'"):
        fixed.export_c(tmp_path, target="vax")
    with pytest.raises(OptionError, match="a name in C"):
        fixed.export_c(tmp_path, name="a b")
    with pytest.raises(OptionError, match="none of ALL_BUILD"):
        fixed.export_c(tmp_path, name="main")
    with pytest.raises(NotSavableError, match=r"calls of other libraries' kernels: \S*mul"):
        hotdesk.compile(lambda z: z * 2, (torch.ones(3, dtype=torch.complex64),)).export_c(tmp_path)
    with pytest.raises(NotSavableError, match="calls change"):
        hotdesk.compile(linear, (x,), donate=True).export_c(tmp_path)
    assert list(tmp_path.iterdir()) == []


class Ones(torch.nn.Module):
    """Sums ones, of which a number in a tensor says how many there are: at most `limit`."""

    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self.limit = limit

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        count: Any = n.item()
        torch._check(count >= 0)
        if self.limit is not None:
            torch._check(count <= self.limit)
        return torch.ones(count).cumsum(0).sum() + x.sum()


def test_sizes_that_only_a_run_knows(tmp_path: Path) -> None:
    args = torch.arange(4.0), torch.tensor(3)
    with pytest.raises(NotSavableError, match="memory without a limit"):
        hotdesk.compile(Ones(None), args).export_c(tmp_path)
    hotdesk.compile(Ones(8), args).export_c(tmp_path)
    assert np.frombuffer(_run(tmp_path, "model", args), np.float32) == [12]
    most = args[0].numpy().tobytes() + torch.tensor(8).numpy().tobytes()
    told = subprocess.run([tmp_path / "example"], input=most, capture_output=True, check=True).stdout
    assert np.frombuffer(told, np.float32) == [42]
    beyond = args[0].numpy().tobytes() + torch.tensor(9).numpy().tobytes()
    assert subprocess.run([tmp_path / "example"], input=beyond, capture_output=True, check=False).returncode == 1


def test_names_that_c_does_not_have(tmp_path: Path) -> None:
    class Named(torch.nn.Module):
        def forward(self, größe: torch.Tensor) -> torch.Tensor:
            return größe * 2

    x = torch.arange(3.0)
    hotdesk.compile(Named(), (x,)).export_c(tmp_path)
    assert (tmp_path / "model.h").read_text(encoding="utf-8").isascii()
    assert np.frombuffer(_run(tmp_path, "model", (x,)), np.float32).tolist() == [0, 2, 4]


def test_the_program_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(code, {})
    (declared,) = re.findall(r"`(int net_run.*?)`", PAGE.read_text())
    assert f"{declared};" in Path("exported/net.h").read_text()
    subprocess.run(["cmake", "-S", "exported", "-B", "build"], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", "build"], check=True, capture_output=True)
    given = np.ones((1, 8), np.float32).tobytes()
    assert len(subprocess.run(["build/net_example"], input=given, capture_output=True, check=True).stdout) == 16
