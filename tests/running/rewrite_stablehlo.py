"""`%rewrite-stablehlo FILE`, a program of RUN lines: what the front end makes of ops that StableHLO's own passes do not lower.

It prints the parts of a file one after the other, as `hotdesk-opt --split-input-file` does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from torch_mlir import ir

from hotdesk.frontends.mlir.library_calls import call_libraries
from hotdesk.frontends.mlir.stablehlo_ops import write_without
from hotdesk.ir.context import entered, make_context

_MARKER = "// -----"


def main(arguments: Sequence[str]) -> int:
    (name,) = arguments
    parts = re.split(rf"^{_MARKER}.*$", Path(name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    print(f"{_MARKER}\n".join(map(_rewritten, parts)))
    return 0


def _rewritten(text: str) -> str:
    module = ir.Module.parse(text, make_context(stablehlo=True))
    with entered(module.operation):
        call_libraries(module, allowed=True)
        write_without(module)
        module.operation.verify()
    return str(module)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
