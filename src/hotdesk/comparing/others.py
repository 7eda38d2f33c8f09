"""Others that run a model, as points beside Hotdesk's: eager PyTorch, `torch.compile`, and onnxruntime.

Each is asked for a call and for the bytes that one takes above weights and inputs: of PyTorch by its profiler, of onnxruntime by
what the allocator of the C library has handed out more after the first calls than before them, which its arena holds. Each has
libraries of its own, which are imported when it is asked.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import logging
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hotdesk.errors import HotdeskError, OptionError
from hotdesk.frontends.onnx.reading import is_onnx

EAGER, ONNXRUNTIME, COMPILED = "eager", "onnxruntime", "torch.compile"
OTHERS = (EAGER, ONNXRUNTIME, COMPILED)
_WARM = 3
"""Calls before the bytes of one are read."""


@dataclass(frozen=True, slots=True)
class Other:
    """Another that runs the model. `call` is None where it cannot, and `note` says why; `peak` is None where nobody can tell."""

    name: str
    call: Callable[[], object] | None
    peak: int | None
    note: str


def require_others(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once. Raises OptionError for one that is unknown."""
    for name in names:
        if name not in OTHERS:
            raise OptionError("option 'beside'", expected=f"names of {', '.join(OTHERS)}", got=repr(name))
    return tuple(dict.fromkeys(names))


def other(name: str, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], threads: int) -> Other | None:
    """Another that is ready to run a model on these arguments; None where models of this kind are none of its.

    What goes wrong with it is its note: nothing is raised.
    """
    in_onnx = is_onnx(model)
    if in_onnx and name != ONNXRUNTIME:
        return None
    makers = {EAGER: _eager, COMPILED: _compiled, ONNXRUNTIME: _onnxruntime}
    try:
        with _quiet():
            return makers[name](model, args, kwargs, threads)
    except ImportError as error:
        return Other(_TITLES[name], None, None, f"not installed: {error}")
    except Exception as error:  # other people's compilers raise all kinds
        said = " ".join(str(error).split())
        return Other(_TITLES[name], None, None, f"{type(error).__name__}: {said[:200]}")


_TITLES = {EAGER: "eager PyTorch", COMPILED: "torch.compile", ONNXRUNTIME: "onnxruntime"}


def _eager(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], threads: int) -> Other:
    from hotdesk.frontends.torch.eager import eager_call

    del threads
    return _by_profiler(EAGER, eager_call(model, args, kwargs))


def _compiled(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], threads: int) -> Other:
    from hotdesk.frontends.torch.eager import inductor_call

    del threads
    return _by_profiler(COMPILED, inductor_call(model, args, kwargs))


def _by_profiler(name: str, call: Callable[[], Any]) -> Other:
    from hotdesk.frontends.torch.eager import allocated_peak

    call()
    try:
        return Other(_TITLES[name], call, allocated_peak(call), "")
    except HotdeskError as error:
        return Other(_TITLES[name], call, None, f"its bytes: {error}")


def _onnxruntime(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], threads: int) -> Other:
    import onnxruntime

    runtime: Any = onnxruntime
    settings: Any = runtime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
    settings.log_severity_level = 3
    settings.add_session_config_entry("session.force_spinning_stop", "1")  # workers would spin into others' turns
    with tempfile.TemporaryDirectory() as folder:
        source, values = _in_onnx(model, args, kwargs, Path(folder))
        session: Any = runtime.InferenceSession(source, settings, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    if len(names) != len(values):
        raise ValueError(f"its model takes {len(names)} inputs, the call has {len(values)} tensors")
    feed = {name: runtime.OrtValue.ortvalue_from_numpy(value) for name, value in zip(names, values, strict=True)}
    outputs = [each.name for each in session.get_outputs()]

    def call() -> Any:
        return session.run_with_ort_values(outputs, feed)

    gc.collect()
    before = _handed_out()
    for _ in range(_WARM):
        results = call()
        del results
    after = _handed_out()
    peak = None if before is None or after is None else max(0, after - before)
    note = "" if peak is None else "bytes that its arena holds after calls, scratch memory of its kernels included"
    return Other(_TITLES[ONNXRUNTIME], call, peak, note)


def _in_onnx(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], folder: Path) -> tuple[Any, list[Any]]:
    """The model as onnxruntime takes it, and the arrays of a call in order."""
    if is_onnx(model):
        named = not hasattr(model, "SerializeToString")
        return (str(model) if named else model.SerializeToString()), [np.asarray(each) for each in args]
    import torch
    from torch.utils import _pytree as pytree

    path = folder / "model.onnx"
    given: Any = model
    if not isinstance(model, (torch.nn.Module, torch.export.ExportedProgram)):
        from hotdesk.frontends.torch.functions import as_module

        given = as_module(model)
    exporter: Any = torch.onnx
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)  # it warns of packages that no model here uses
    try:
        exporter.export(given, args, str(path), kwargs=dict(kwargs), dynamo=True, verbose=False)
    finally:
        log.setLevel(level)
    leaves = pytree.tree_leaves((args, dict(kwargs)))
    return str(path), [leaf.detach().numpy() for leaf in leaves if isinstance(leaf, torch.Tensor)]


class _MallInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def _handed_out() -> int | None:
    """The bytes that the C library's allocator has handed out to this thread and by mapping; None without glibc 2.33."""
    try:
        ask: Any = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return None
    ask.restype = _MallInfo
    found: Any = ask()
    return int(found.uordblks) + int(found.hblkhd)


@contextlib.contextmanager
def _quiet() -> Any:
    """Exporters talk on stdout and warn of what is theirs."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
