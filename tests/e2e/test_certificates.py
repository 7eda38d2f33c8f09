"""What proves a bound, in `memory` and `report`: its figures add up, for what is live at the operation it names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
import torch

import hotdesk
from hotdesk.report import Certificate, CertifiedBuffer, Memory, Report, render

ALIGNMENT = 64


def rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


class Narrow(torch.nn.Module):
    """A wide and a narrow layer, and three results."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.narrow = torch.nn.Linear(64, 5000), torch.nn.Linear(5000, 64)
        self.ends = torch.nn.ModuleList([torch.nn.Linear(64, 4096) for _ in range(3)])

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        z = self.narrow(torch.relu(self.wide(x)))
        return tuple(end(z) for end in self.ends)


class Lent(torch.nn.Module):
    """Three values that are live together, and a result that may hold one of them first."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b, c = x @ x.T, (x + 1) @ x.T, (x + 2) @ x.T
        return torch.softmax(a @ b + b @ c + c @ a, -1)


class Odd(torch.nn.Module):
    """Sizes that are no multiples of the alignment."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.softmax(x, -1)
        return (y.T @ y).sum(0) + torch.softmax(x.T, -1).sum(1)


@cache
def compiled(name: str) -> tuple[hotdesk.Program, tuple[torch.Tensor, ...]]:
    n = torch.export.Dim("n", min=2, max=64)
    match name:
        case "narrow":
            return hotdesk.compile(Narrow().eval(), (torch.randn(16, 64),)), ()
        case "lent":
            return hotdesk.compile(Lent(), (torch.randn(24, 8),)), ()
        case "odd":
            return hotdesk.compile(Odd(), (torch.randn(7, 5),)), ()
        case "donated":
            return hotdesk.compile(Lent(), (torch.randn(24, 24),), donate=True), ()
        case _:
            x = torch.randn(5, 8)
            return hotdesk.compile(Lent(), (x,), dynamic_shapes={"x": {0: n}}), (torch.randn(int(name), 8),)


NAMES = ("narrow", "lent", "odd", "donated", "3", "17", "64")


@pytest.mark.parametrize("name", NAMES)
def test_it_adds_up(name: str) -> None:
    program, arguments = compiled(name)
    memory = program.memory(*arguments)
    found = memory.certificate
    assert found is not None
    assert (found.bytes, found.proof) == (memory.lower_bound, "live")
    assert found.together == sum(rounded(buffer.bytes) for buffer in found.buffers)
    assert found.together - found.lent == memory.lower_bound


@pytest.mark.parametrize("name", NAMES)
def test_it_names_what_is_live_there(name: str) -> None:
    program, arguments = compiled(name)
    found = program.memory(*arguments).certificate
    assert found is not None
    lines = [line for line in program.buffers(*arguments) if not line.where.startswith("result ")]
    live = [line for line in lines if line.lower <= found.step < line.upper and line.bytes]
    named = sorted((buffer.name, buffer.bytes, buffer.location) for buffer in found.buffers)
    assert named == sorted((line.name, line.bytes, line.location) for line in live)
    assert [buffer.footprint for buffer in found.buffers] == sorted((b.footprint for b in found.buffers), reverse=True)
    assert all((line.name, line.location) == (found.op, found.location) for line in lines if line.lower == found.step)
    assert live or not found.bytes


@pytest.mark.parametrize("name", ["narrow", "lent", "odd", "3", "17", "64"])
def test_no_more_is_lent_than_results_have_that_are_written_later(name: str) -> None:
    program, arguments = compiled(name)
    found = program.memory(*arguments).certificate
    assert found is not None
    results = [line for line in program.buffers(*arguments) if line.where.startswith("result ")]
    assert found.lent <= sum(rounded(line.bytes) for line in results if line.lower > found.step)


def test_something_is_lent() -> None:
    certificates = [compiled(name)[0].memory(*compiled(name)[1]).certificate for name in NAMES]
    assert any(found is not None and found.lent for found in certificates)


def test_the_report_names_it() -> None:
    program, _ = compiled("narrow")
    lines = program.report().splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.startswith("bound "))
    assert lines[at].startswith("bound      316.50 KiB (324,096): live together in hotdesk.contract at ")
    assert [line.split()[:4] for line in lines[at + 1 : at + 3]] == [
        ["312.50", "KiB", "(320,000)", "hotdesk.contract"],
        ["4.00", "KiB", "(4,096)", "hotdesk.contract"],
    ]


def test_a_worst_case_that_a_call_reaches_has_that_call_s() -> None:
    program, arguments = compiled("64")
    worst = program.memory({})
    assert "lower_bound" in worst.exact
    assert worst.memory.certificate == program.memory(*arguments).certificate


FOUR = tuple(CertifiedBuffer(f"op{i}", 100 - i, 128, f"model.py:{i}") for i in range(4))
MEMORY = Memory(400, 400, 400, 512, 0, 0, 0, 0, 4)


def report(certificate: Certificate) -> str:
    memory = Memory(400, 400, 400, 512, 0, 0, 0, 0, 4, certificate=certificate)
    return render(Report("p", (), memory, (), (), None, ()))


def test_more_buffers_padding_and_loans_are_summed_up(golden: Callable[[str, str], None]) -> None:
    golden("report_certificate.txt", report(Certificate(400, "live", 3, "linalg.add", "model.py:9", FOUR, 112)))


def test_a_search_is_named() -> None:
    text = report(Certificate(400, "dive", 3, "linalg.add", "model.py:9", FOUR[:1]))
    assert "bound      400 bytes: dive, a search through all placements of these, found none smaller" in text


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert "bound" not in render(Report("p", (), MEMORY, (), (), None, ()))
