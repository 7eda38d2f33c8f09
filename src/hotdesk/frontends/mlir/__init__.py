"""Programs in MLIR: read, lowered to the dialects that are compiled, guarded, and called.

Read first `capture.py`, which has the steps: `reading.py` (from files, text, bytecode), `lowering.py`, `rounding.py`,
`memory_spaces.py`, `layouts.py` with `strided_arrays.py` (memrefs with strides of their own), `memrefs.py` or `counted.py`
(functions on memrefs; results whose sizes only the run knows), `shapes_of_data.py`,
`sizes_in_floats.py` (sizes), `arguments.py` and `calling.py`.
What calls must fulfil: `sizes.py` reads what ops demand (`demands.py`) of sizes, `guards.py` checks when the program runs
what follows from data.
"""
