"""Generators of machine code that Hotdesk brings itself: products, convolutions, elementary functions, shared among threads.

Read first `machine.py` (what is generated for), `text.py`, `values.py` and `vectors.py` (how code is written), then `micro.py`,
`packing.py` and `product.py` (one thread's product; special cases: `skinny.py`, `blocks.py`, `halves.py`, `tiles`, `amx.py`).
Convolutions: `convolution.py` with `convolution_packing.py`, and `winograd.py` with `winograd_matrices.py` and
`winograd_transforms.py`. Threads: `sharing.py` (the pool), `jobs.py`, `parts.py`, and what programs call, `shared.py` and
`shared_convolution.py`. `scratch.py` and `region.py` are memory that kernels take, `elementary.py` functions of one number,
`roof.py` a measure; `library.py` joins all.
"""
