"""Those compared: passes that take a module on memrefs in which nothing is freed to one in which everything is.

MLIR's      its deallocation pipeline; then with each of the passes that it has for what allocations cost
Hotdesk's   deallocation alone; with copies removed and dead buffers shared; with one more pass each
"""

from __future__ import annotations

from collections.abc import Mapping

_MLIR = "buffer-deallocation-pipeline"
_LIVENESS = f"{_MLIR},func.func(optimize-allocation-liveness)"
_FREE, _COPIES = "hotdesk-buffer-deallocation", "hotdesk-copy-removal"

THEIRS: Mapping[str, str] = {
    "mlir": _MLIR,
    "mlir, liveness": _LIVENESS,
    "mlir, stack": f"func.func(promote-buffers-to-stack),{_LIVENESS}",
    "mlir, hoisted": f"func.func(buffer-hoisting,buffer-loop-hoisting),{_LIVENESS}",
    "mlir, all": f"func.func(buffer-hoisting,buffer-loop-hoisting,promote-buffers-to-stack),{_LIVENESS}",
}
ALONE, BEST, ARENA = "hotdesk", "hotdesk, shared", "hotdesk, arena"
OURS: Mapping[str, str] = {
    ALONE: _FREE,
    BEST: f"{_COPIES},{_FREE},hotdesk-share-buffers",
    "hotdesk, stack": f"{_COPIES},{_FREE},hotdesk-share-buffers,hotdesk-promote-buffers-to-stack",
    "hotdesk, hoisted": f"{_COPIES},hotdesk-buffer-hoisting,hotdesk-buffer-loop-hoisting,{_FREE},hotdesk-share-buffers",
    ARENA: f"{_COPIES},{_FREE},hotdesk-merge-allocations",
}
SIDES: Mapping[str, str] = {**THEIRS, **OURS}
"""Pipelines under `builtin.module`, by the name of the side."""
