"""torch-mlir's passes in a process of their own: what comes back from it when it answers, dies, or does not end."""

# The processes that wait are what these tests are about.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest
import torch

from hotdesk._bindings import import_fx_graph, ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends import lowering_process
from hotdesk.frontends.lowering_process import LoweringDied, LoweringFailed, lowered
from hotdesk.frontends.torch import export as front_end
from hotdesk.ir.context import make_context
from tests.e2e.checking import Call

PIPELINES = front_end._PIPELINES


def graph_of(function: Callable[..., Any], *args: torch.Tensor) -> torch.fx.Graph:
    """What export makes of a function, none of it taken apart."""
    return torch.export.export(Call(function), args).graph


def imported(function: Callable[..., Any], *args: torch.Tensor) -> ir.Module:
    return import_fx_graph(make_context(), graph_of(function, *args), "main")


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def singular(x: torch.Tensor) -> torch.Tensor:
    return torch.linalg.svd(x).S


def deadly(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return (x * 2).scatter(-1, places, 1.0) + 1


ARGUMENTS = (torch.ones(3), torch.tensor([0, 2, 1]))


def test_lowered_module_keeps_lines() -> None:
    module = lowered(imported(doubled, torch.ones(3)), PIPELINES)
    text = str(module.operation.get_asm(enable_debug_info=True))
    assert "linalg.generic" in text
    assert "checking.py" in text  # the line of `Call.forward`


def test_what_passes_write_may_be_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering_process, "_asked", lambda *_: b"module { func.func @f(tensor<-1xf32>) }")
    with pytest.raises(LoweringFailed, match="parse"):
        lowered(imported(doubled, torch.ones(3)), PIPELINES)


def test_failure_says_why() -> None:
    with pytest.raises(LoweringFailed) as caught:
        lowered(imported(singular, torch.ones(3, 3)), PIPELINES)
    assert "svd" in caught.value.diagnostics


def test_death_is_an_error_and_the_next_is_served() -> None:
    with pytest.raises(LoweringDied, match="SIG"):
        lowered(imported(deadly, *ARGUMENTS), PIPELINES)
    assert "linalg" in str(lowered(imported(doubled, torch.ones(3)), PIPELINES))


def test_the_op_that_is_died_of_is_named() -> None:
    with pytest.raises(UnsupportedOpError, match=r"aten\.scatter\.value.*SIG") as caught:
        front_end.lowered_graph(graph_of(deadly, *ARGUMENTS))
    assert caught.value.where
    assert "checking.py" in caught.value.where


def test_what_takes_too_much_time_is_ended() -> None:
    with pytest.raises(LoweringDied, match="does not end"):
        lowered(imported(doubled, torch.ones(3)), PIPELINES, limit=cast(int, 1e-4))


def test_one_process_serves_several() -> None:
    lowered(imported(doubled, torch.ones(3)), PIPELINES)
    waiting = list(lowering_process._waiting)
    lowering_process.prepare()
    lowered(imported(doubled, torch.ones(3)), PIPELINES)
    assert lowering_process._waiting == waiting


def test_one_that_ended_because_nobody_asked_is_replaced() -> None:
    lowered(imported(doubled, torch.ones(3)), PIPELINES)
    for process in list(lowering_process._waiting):
        os.kill(process._child.pid, signal.SIGALRM)
        process._child.wait()
    assert "linalg" in str(lowered(imported(doubled, torch.ones(3)), PIPELINES))


def test_interrupt_ends_a_pass_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    module = imported(doubled, torch.ones(3))
    monkeypatch.setattr(lowering_process, "_waiting", [])
    with monkeypatch.context() as endless:
        endless.setattr(lowering_process, "_START", "import time; time.sleep(600)")
        lowering_process.prepare()
    process = lowering_process._waiting[0]
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell begins without
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            lowered(module, PIPELINES)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert process._child.poll() is not None
    assert "linalg" in str(lowered(module, PIPELINES))


@pytest.mark.parametrize("executable", [None, "", "/nowhere/python"])
def test_passes_run_here_where_no_process_can_be_had(executable: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering_process, "_waiting", [])
    monkeypatch.setattr(sys, "executable", executable)
    lowering_process.prepare()
    assert "linalg" in str(lowered(imported(doubled, torch.ones(2)), PIPELINES))
    with pytest.raises(LoweringFailed):
        lowered(imported(singular, torch.ones(3, 3)), PIPELINES)
    assert lowering_process._waiting == []
