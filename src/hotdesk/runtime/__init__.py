"""Compiled programs and how they are called.

Read first `program.py` (what users call) and `interface.py` (what it stands on), then `executable.py` with `frames.py`,
`function.py` and `shared.py`, which run one call; `compiled.py` is the executable that this process compiled. `arguments`
checks calls, `plans` plans arenas, `code` makes machine code. `lowered.py` and `prepared.py` say what of a lowered function
these take, `calling.py` is the plain way to call, `mlir_calling.py` that of MLIR. `cache.py` and
`archive.py` keep what compiling made, `checked_program.py`
runs it under the memory checker. What compiling leaves in the process: `process_memory.py`; `forks.py` is for its children,
`timing.py` times contenders.
"""
