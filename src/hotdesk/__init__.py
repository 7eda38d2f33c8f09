"""Hotdesk: tensor programs in as little memory as possible, with every decision explained.

    program = hotdesk.compile(model, (x,))
    y = program(x)
    print(program.report(x))

Importing this package imports neither torch nor onnx, and the modules behind a name when it is first used: the command line needs
few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotdesk.api import Options, compile, compile_many
    from hotdesk.artifacts.loading import load
    from hotdesk.dynamo_counts import FallbackWarning, dynamo_report
    from hotdesk.errors import HotdeskError
    from hotdesk.jitting import jit
    from hotdesk.planning import Buffer, Plan, Pool, Problem, Tie, plan
    from hotdesk.report.memory import Memory
    from hotdesk.runtime.code.threads import get_num_threads, scratch_bytes, set_num_threads
    from hotdesk.runtime.program import Program
    from hotdesk.tradeoffs import tradeoff
    from hotdesk.training import TrainingStep, compile_step

__all__ = [
    "Buffer",
    "FallbackWarning",
    "HotdeskError",
    "Memory",
    "Options",
    "Plan",
    "Pool",
    "Problem",
    "Program",
    "Tie",
    "TrainingStep",
    "compile",
    "compile_many",
    "compile_step",
    "dynamo_report",
    "get_num_threads",
    "jit",
    "load",
    "plan",
    "scratch_bytes",
    "set_num_threads",
    "tradeoff",
]
__version__ = "0.1.0"

_MODULES = {
    **dict.fromkeys(("Options", "compile", "compile_many"), "hotdesk.api"),
    **dict.fromkeys(("FallbackWarning", "dynamo_report"), "hotdesk.dynamo_counts"),
    "HotdeskError": "hotdesk.errors",
    "jit": "hotdesk.jitting",
    "load": "hotdesk.artifacts.loading",
    **dict.fromkeys(("Buffer", "Plan", "Pool", "Problem", "Tie", "plan"), "hotdesk.planning"),
    "Memory": "hotdesk.report.memory",
    "Program": "hotdesk.runtime.program",
    **dict.fromkeys(("get_num_threads", "scratch_bytes", "set_num_threads"), "hotdesk.runtime.code.threads"),
    "tradeoff": "hotdesk.tradeoffs",
    **dict.fromkeys(("TrainingStep", "compile_step"), "hotdesk.training"),
}


def _found(name: str) -> Any:
    """A public name, or a module of the package."""
    if name in _MODULES:
        from hotdesk.whole_imports import whole_imports

        with whole_imports():
            return globals().setdefault(name, getattr(import_module(_MODULES[name]), name))
    try:
        return import_module(f"hotdesk.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"hotdesk.{name}":
            raise
    raise AttributeError(f"module 'hotdesk' has no attribute '{name}'", name=name)


if not TYPE_CHECKING:
    __getattr__ = _found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
