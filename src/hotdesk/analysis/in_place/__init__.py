"""Which results overwrite their operands, and what is copied where that must not be."""
