"""From values to memory.

Read first `one_shot.py`, the pass, then `rewriting.py` (the rewrite of one function) with what it stands on: `memory.py`,
`memrefs.py`, `passed_memrefs.py` with `passed_layouts.py` (regions and blocks), `results.py` with `result_memory.py` and
`early_sizes.py` (what functions return), and `rewrite_decisions.py` with `hints.py` (what is said of it). Before it runs
`expanding.py`, `unranked.py` and `returning_once.py`, after it `leftover_tensors.py` and `finishing.py`; `conventions.py` says
how functions pass memory.
`annotate.py` shows what would be decided, by `annotations.py`.

The partial passes, `arith_partial.py`, `tensor_partial.py`, `linalg_partial.py`, `scf_partial.py` and `func_partial.py`, on
`partial.py` and `materializing.py`, are ended by `finalizing.py`. Passes on signatures and types: `out_params.py`,
`equivalent_results.py`, and `decompose_types.py` with `decompositions.py`.
"""
