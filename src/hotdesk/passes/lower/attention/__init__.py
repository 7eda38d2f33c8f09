"""The kernel of attention. Read `region.py` first, what its op says of scores, then `kernel.py`."""
