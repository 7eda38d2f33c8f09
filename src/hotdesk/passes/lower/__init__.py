"""From memory to machine: kernels and entry functions.

Read first `function.py` (a function as kernel calls, with `views.py` and `calls.py`) and `named.py` (which kernel an op gets),
then `entry.py`; or, where there are loops and branches, `control_flow.py` with `flow_memory.py`, `flow_checks.py`,
`flow_operands.py`, `parallel_loops.py`, `unpacked_memrefs.py` and `flow_profile.py`. `library.py` and `to_llvm.py`, with
`split_loops.py`, serve both.
Kernels by what they compute: `convolution`, `contraction.py` (on `products.py`), `attention.py`, `pooling.py` (on `window.py`),
`scans.py`, `sorting.py`, `moves.py`, and `structured` for all else, with `scalar.py`. `work.py` counts what they do.
"""
