"""Programs in MLIR: read, lowered to the dialects that are compiled, guarded, and called.

Read first `capture.py`, which has the steps: `reading.py` (from files, text, bytecode; `jax_lowered.py`: what JAX lowers to),
`attributes.py` (what users say of arguments and their sizes), `lowering.py` (with `stablehlo_ops.py`, on `stablehlo_sorts.py`,
`stablehlo_scatters.py`, `stablehlo_selections.py`, `stablehlo_top_k.py` and `stablehlo_writing.py`, `stablehlo_flow.py` and
`decompositions.py`, for ops that MLIR's own passes leave; `library_calls.py`, on `libraries.py`, for what others compute),
`rounding.py`, `tuples.py`, `memory_spaces.py` and `affine_layouts.py` (on `retyping.py`), `unranked_arguments.py`,
`written_in_part.py`, `globals.py`, `stack_memory.py`, `vector_arguments.py`, `layouts.py` (memrefs with strides of their own),
`buffers_of_tensors.py`, `written_constants.py` and `returned_memory.py` (on `function_memory.py`), `memrefs.py` or `counted.py`
(functions on memrefs; results whose sizes only the run knows), `shapes_of_data.py`, `sizes_in_floats.py` (sizes), and
`arguments.py`; `runtime.mlir_calling` is how they are called.

What calls must fulfil: `sizes.py` reads what ops demand (`demands.py`) of sizes, `guards.py` checks when the program runs what
follows from data.
"""
