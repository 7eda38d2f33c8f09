"""From memory to machine: kernels and entry functions.

Read first `function.py` (a function as kernel calls, with `views.py` and `calls.py`) and `named.py` (which kernel an op gets),
then `entry.py`, or `control_flow.py` with `flow_operands.py`, `parallel_loops.py`, `unpacked_memrefs.py` and `flow_profile.py`
where there are loops and branches, `library.py` and `to_llvm.py`. Kernels by what they compute: `convolution`, `contraction.py`
(on `products.py`), `attention.py`, `pooling.py` (on `window.py`), `scans.py`, `sorting.py`, and `structured` for all else, with
`scalar.py`. `work.py` counts what they do.
"""
