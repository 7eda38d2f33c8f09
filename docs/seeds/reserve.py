"""What `custom.reserve` does to memory, for `--load-models`."""

from hotdesk.models import Facts, OpModel
from hotdesk.models.effects import MemoryEffects

MODELS = {"custom.reserve": OpModel(lambda op: Facts(), effects=lambda op: MemoryEffects(allocates=frozenset({0})))}
