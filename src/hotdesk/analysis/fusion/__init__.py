"""Which loops may become one, and which two.

On tensors: `elementwise.py`, `attention.py` for the four operations that become `hotdesk.attention`, and `accumulation.py` with
`scaled_products.py` for products that are added up where the rest of a sum lies. What is taken out of a loop again:
`invariants.py`. On memory: `buffer_fusion.py`, with
`fusion_blocks.py`, the block that it changes.
"""
