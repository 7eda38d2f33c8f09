"""Machine code in memory: compiled, linked, and what all programs of a process share of it.

Read first `jit.py` (a module to callable functions; `objects.py` loads them, `llvm.py` and `targets.py` are for other
processors), then `products.py` (what programs share, compiled ahead in `compiling_process.py`) and `threads.py`.
`foreign.py` calls back into PyTorch, `deliveries.py` hands over results whose sizes only the run knows; `roof.py` and
`profiling.py` make a profile.
"""
