"""What we know about each op, one file per dialect. docs/models.md says how to describe an op of your own."""

from hotdesk.models.effects import MemoryEffects, NewMemory
from hotdesk.models.facts import Facts, Slice
from hotdesk.models.flow import RESULTS, Flow
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.regions import bufferize_region_op, bufferize_terminator
from hotdesk.models.registry import model_of, register
from hotdesk.models.structured import bufferize_destination_style

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
