"""Loop kernels of ops in text."""

from __future__ import annotations

from torch_mlir import ir

from hotdesk.ir.context import entered
from hotdesk.ir.walking import top_level_ops
from hotdesk.passes.lower.structured.kernel import LoopKernel, build_loop_kernel
from hotdesk.passes.lower.views import MemrefResolver
from hotdesk.program.symbolic import SymbolicSizes
from tests.unit.parsing import function, parse


def kernel(arguments: str, text: str) -> tuple[LoopKernel, str]:
    """The kernel of the last op of a function in front of its return, and its text. Each check has the code 7."""
    module = parse(f"func.func @f({arguments}) {{\n{text}\nreturn\n}}")
    found = function(module)
    sizes = SymbolicSizes(found)
    with entered(module.operation):
        target = ir.Module.create()
        made = build_loop_kernel(top_level_ops(found)[-2], target, MemrefResolver(found, sizes), sizes, lambda check: 7)
        target.operation.verify()
    return made, str(target)
