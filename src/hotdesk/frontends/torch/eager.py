"""What PyTorch itself makes of a model, eager or by `torch.compile`: calls of it, and the bytes of one by its profiler."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from hotdesk.traces.reading import load_trace
from hotdesk.traces.trace import Trace


def eager_call(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[], Any]:
    """A call of a model, a function or an exported program as PyTorch runs it, without gradients."""
    run = model.module() if isinstance(model, torch.export.ExportedProgram) else model

    def call() -> Any:
        with torch.inference_mode():
            return run(*args, **kwargs)

    return call


def inductor_call(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[[], Any]:
    """A call of it by `torch.compile` as it comes, for these sizes; compiled at the first call."""
    run: Any = model.module() if isinstance(model, torch.export.ExportedProgram) else model
    compiling: Any = torch
    return eager_call(compiling.compile(run, dynamic=False), args, kwargs)


def allocations(call: Callable[[], Any]) -> Trace:
    """What a call allocates, by PyTorch's profiler; its results stay until it ends. Raises TraceError if that is nothing."""
    profiler: Any = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, acc_events=True
    )
    with profiler:
        results = call()
    del results
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        return load_trace(path)


def allocated_peak(call: Callable[[], Any]) -> int:
    """The most bytes that a call has allocated at once."""
    return allocations(call).peak
