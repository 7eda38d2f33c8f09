"""Which loops may become one, and which two.

On tensors, in order: `elementwise.py` (a loop computed where it is read), `attention.py` (the operations that become
`hotdesk.attention`), `accumulation.py` and on top of it `scaled_products.py` (products added up where the rest of a sum lies);
`invariants.py`, the other way round, takes out of a loop what it computes again. On memory: `buffer_fusion.py`, the rules, then
`fusion_blocks.py`, the block in which they are applied.
"""
