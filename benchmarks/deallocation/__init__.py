"""The cases, sides and figures of `benchmarks/buffers.py`."""
