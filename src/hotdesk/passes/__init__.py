"""Transformations of IR, by what they work on: tensors, bufferization, buffers, and lowering."""
