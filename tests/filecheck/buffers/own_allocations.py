"""What `custom.reserve` does to memory: it makes some that other memory may stand for, and stays in its place."""

from hotdesk.models import Facts, OpModel
from hotdesk.models.facts import MemoryEffects
from hotdesk.models.new_memory import NewMemory

_MEMORY = NewMemory((), 16, movable=False, ordinary=True)
MODELS = {
    "custom.reserve": OpModel(
        lambda op: Facts(), effects=lambda op: MemoryEffects(allocates=frozenset({0}), memory=_MEMORY)
    )
}
