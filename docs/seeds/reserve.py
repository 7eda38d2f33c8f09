"""What `custom.reserve` does to memory, for `--load-models`."""

from hotdesk.models import Facts, MemoryEffects, OpModel

MODELS = {"custom.reserve": OpModel(lambda op: Facts(), effects=lambda op: MemoryEffects(allocates=frozenset({0})))}
