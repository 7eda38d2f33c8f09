"""Passes on values.

In the order of `pipeline.TENSORS`: `named_ops.py` (rules in `contractions.py`, `convolutions.py`, `windows.py`,
`rounded_products.py`, with `fills.py` and `inits.py`), `dead_code.py`, `reshapes.py`, `identity_broadcasts.py`, `attention.py`
with `attention_scores.py`, `rearranged_operands.py`, `guard_indices.py`, `positions.py`, `guard_divisions.py`, `decompose.py`,
`prepare.py`, `widenings.py`, `sink_concat.py`, `hoist_invariants.py`, `checks_before_loops.py`, `results_early.py`,
`block_sums.py`, `rematerialize.py`,
`eliminate_empty.py`, `combine_in_rows.py`, `destinations.py`.

What `search` tries: `reorder.py`, `compute_late.py`, `accumulate.py`, `recompute_across.py`, `recompute_to_fit.py`,
and `split_rows.py`, which makes its changes by `parts.py`, as `combine_in_rows.py` does. For programs with memrefs besides:
`snapshots.py`. For users to choose: `fuse_elementwise.py`, `inplace_calls.py`, `alloc_tensors.py`. What decides is in
`analysis.fusion`, `analysis.insertion`, `analysis.order` and `analysis.in_place`.
"""
