"""Hotdesk: tensor programs in as little memory as possible, with every decision explained.

    program = hotdesk.compile(model, (x,))
    y = program(x)
    print(program.report(x))

Importing this package imports neither torch nor onnx.
"""

from hotdesk.api import Options, compile
from hotdesk.errors import HotdeskError
from hotdesk.planning import Buffer, Plan, Pool, Problem, Tie, plan
from hotdesk.report.records import Memory
from hotdesk.runtime.program import Program

__all__ = [
    "Buffer",
    "HotdeskError",
    "Memory",
    "Options",
    "Plan",
    "Pool",
    "Problem",
    "Program",
    "Tie",
    "compile",
    "plan",
]
__version__ = "0.1.0"
