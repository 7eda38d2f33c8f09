"""Passes on memory: copies removed, allocations moved, joined and shared, and all of them freed.

`pipeline.py` has the order. Freeing is the largest: read `deallocate.py`, then `settle_ownership.py`, `ownership_flags.py` and
`ownership_paths.py`. `remaking.py` and `branch_edges.py` have what several passes change IR by.
"""
