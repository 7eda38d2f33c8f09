"""A function on tensors: what its program holds, who reads what, and what is known of sizes and spaces.

Read in this order: `program` (the record), `reading`, `extents` (parts of tensors, and which of them compare), then `readers`,
which everything that decides about tensors asks. `known_sizes` and `memory_spaces` answer one question each.
"""
