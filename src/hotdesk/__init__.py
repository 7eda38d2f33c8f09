"""Hotdesk: tensor programs in as little memory as possible, with every decision explained.

    program = hotdesk.compile(model, (x,))
    y = program(x)
    print(program.report(x))

Importing this package imports neither torch nor onnx, and the modules behind a name when it is first used: the command line needs
few of them. Who reads the code begins with `pipeline.py`, the stages, then `compiling/`, which joins them with a front end and
the runtime; docs/architecture.md says where everything else is.
"""

from typing import TYPE_CHECKING

from hotdesk.python.lazy_names import lazy_names

if TYPE_CHECKING:
    from hotdesk.artifacts.loading import load
    from hotdesk.comparing.tradeoff import tradeoff
    from hotdesk.compiling.compile import compile, compile_many
    from hotdesk.compiling.options import Options
    from hotdesk.errors import HotdeskError
    from hotdesk.jitting import jit
    from hotdesk.planning import Buffer, Plan, Pool, Problem, Tie, plan
    from hotdesk.report.memory import Memory
    from hotdesk.runtime.code.threads import get_num_threads, scratch_bytes, set_num_threads
    from hotdesk.runtime.program import Program
    from hotdesk.torch_compile.counts import FallbackWarning, dynamo_report
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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "compiling.compile": ("compile", "compile_many"),
            "compiling.options": ("Options",),
            "artifacts.loading": ("load",),
            "torch_compile.counts": ("FallbackWarning", "dynamo_report"),
            "errors": ("HotdeskError",),
            "jitting": ("jit",),
            "planning": ("Buffer", "Plan", "Pool", "Problem", "Tie", "plan"),
            "report.memory": ("Memory",),
            "runtime.code.threads": ("get_num_threads", "scratch_bytes", "set_num_threads"),
            "runtime.program": ("Program",),
            "comparing.tradeoff": ("tradeoff",),
            "training": ("TrainingStep", "compile_step"),
        },
        submodules=True,
    )
