"""What allocations are, and where else their memory may be: earlier, on the stack, in another's, in an arena.

Read `uses` first (each allocation with all that is known of it), then `ranges` (when it is in use); the others decide: `hoisting`
and `promotion`, `sharing` with `slots`, `merging`, `lending`.
"""
