"""Which loops may become one, on tensors and on memrefs."""
