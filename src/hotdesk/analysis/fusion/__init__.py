"""Which loops may become one.

On tensors: `elementwise.py`, and `attention.py` for the four operations that become `hotdesk.attention`. On memory:
`buffer_fusion.py`, with `fusion_blocks.py`, the block that it changes.
"""
