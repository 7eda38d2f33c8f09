"""Copies between memrefs that need not be made, and results written over what dies.

Read first `removal.py`, which copies go and why; it asks `source_reuse.py` and `target_reuse.py`, which of the two memrefs
serves as the other. They stand on `copies.py` (copies and what touches their memory) and `context.py` (what ops do to the two
memrefs, and the block around). `displacement.py` is by itself: memory displacement on buffers.
"""
