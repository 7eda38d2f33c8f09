"""What we know about each op, one file per dialect. docs/models.md says how to describe an op of your own.

Read first `facts.py` (what a model states), `model.py` (what a model is) and `registry.py` (models by the names of ops), then a
dialect: `linalg.py`, `tensor.py` with `tensor_parts.py` and `tensor_slices.py`, `scf.py` with `parallel.py`, `cf.py`, `func.py`
with `callee.py`, `memref.py`, `bufferization.py`, `hotdesk.py` with `convolution.py`, and the small ones, `arith.py`,
`vector.py`, `shape.py`, `ml_program.py`, `tm_tensor.py`. What several share: `rewrites.py`, `generics.py`, `payloads.py`,
`layouts.py`, `dialects.py`.

Asked of any op: `control_flow.py` (its way), `memory_effects.py` (what it reads and writes), `new_memory.py` (what it allocates
and frees), `purity.py` (whether values may cross it), `asynchronous.py` (whether it runs on). Models of a user's own are read
by `files.py`, guarded by `guarded.py`; `unknown.py` stands for what has none.
"""

from hotdesk.models.facts import RESULTS, Facts, Flow, MemoryEffects, NewMemory, Slice
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.registry import model_of, register
from hotdesk.models.rewrites import bufferize_destination_style, bufferize_region_op, bufferize_terminator

__all__ = [
    "RESULTS",
    "Buffers",
    "Facts",
    "Flow",
    "MemoryEffects",
    "NewMemory",
    "OpModel",
    "Slice",
    "bufferize_destination_style",
    "bufferize_region_op",
    "bufferize_terminator",
    "model_of",
    "register",
]
