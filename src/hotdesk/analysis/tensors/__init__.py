"""A function on tensors: what its program holds, who reads what, and what is known of sizes and spaces.

Read in this order: `program` (the record), `reading`, `extents` (parts of tensors, and which of them compare), then `readers`,
which everything that decides about tensors asks. `known_sizes`, `memory_spaces` and `check_slices` answer one
question each.
"""
