"""What allocations are, and where else their memory may be: earlier, on the stack, in another's, in an arena.

Read `uses` first (each allocation with all that is known of it; `types`: what it asks for), then `ranges` (when it is in use).
The others decide, one question each: `hoisting`, `promotion`, `sharing` with `memory_slots` and `slot_places`, `merging` with
`arena_sizes`, `lending`, `privatization` (memory for each worker), and `argument_reuse` (calls that write over an argument)
with `argument_order` and `freeing_calls`, which read the function that is called. `retyping`: whether the ops take another memref
instead.
"""
