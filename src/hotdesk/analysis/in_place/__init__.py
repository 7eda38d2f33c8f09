"""Which results overwrite their operands, and what is copied where that must not be.

Read first `inplace.py`, the rules, `orders.py`, their order, then `places.py`, which values share memory, and
`interference.py`, when they must not. What lies where: `occupants.py`, `occupancy.py`, `locations.py`, `sources.py`,
`separation.py`, `reuse.py`. What is asked of an op: `access.py`, `conflicts.py`, `displacement.py`, `destinations.py`.

Control flow, as coalescing of phis and parallel copies (Boissinot et al., 2009): `flow_edges.py`, `flow_copies.py`,
`merges.py`; loops in `loop_phis.py`, `region_loops.py` and `block_loops.py`, with `buffer_swaps.py`. Calls: `inplace_calls.py`,
and `recursion.py` for functions that call each other.

`search.py` analyses a function again under other premises (`premise_trials.py`) and keeps what copies less, by `copied_bytes.py`
and `cost_of_copy.py`: `merge_search.py`, `writes_given_up.py` and `copied_slices.py`. `plain_values.py` shows what was found by
the names of values.
"""
