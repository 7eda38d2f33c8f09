"""Passes on memory: copies removed, allocations moved, joined and shared, and all of them freed.

`pipeline.py` has the order: `hoist.py`, `deallocate.py`, `loop_hoist.py`, `copy_removal.py`, `displace.py`, `share.py`. Others
are for the user to choose: `promote.py`, `merge.py` (with `arena_code.py`), `fuse_buffers.py`, `reuse_arguments.py`. The
compiler's own: `workspaces.py`, `checks_first.py`, `roll_back.py`, and `privatize.py` with `reduction_chunks.py`.

Freeing is the largest: read `deallocate.py` with `earlier_frees.py`, then `settle_ownership.py`, which rewrites a function
until it is known who owns what (`reallocs.py`, `unused_values.py`, `critical_aliases.py`, `returned_copies.py`,
`ownership_paths.py`, `ownership_tails.py`), and `ownership_flags.py`, for what only the run tells. `freeing.py`,
`new_copies.py` and `branch_edges.py` have what several passes change IR by.
"""
