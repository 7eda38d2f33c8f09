"""PyTorch ops taken apart before import.

Read `table.py` first, which has an order and names all families of ops; `fits.py` is for the functions among them. Apart from
the table stand what PyTorch asks before any table, `autograd_kernels.py`, and what is replaced while a model is exported or
traced: `replaced_functions.py` with `covariance.py` and `raising_branches.py`, `causal_masks.py`, `cross_map.py`,
`cumulative_average`, `flex_attention.py`.
"""
