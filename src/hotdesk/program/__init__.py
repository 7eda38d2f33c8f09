"""Programs as plain records, for analyses of tensors and of memrefs alike.

Read in this order: `records` (what is recorded of a function), `reading` (how it is read, with `regions` for the way of control),
`dominance`, `liveness`, `dataflow`; then `calls`, for functions that call others. Beside them `symbolic` (sizes as expressions;
`joins` where control flow comes together), `op_ranges` (searches in lists of op numbers) and `parallel_copies` (several that
happen at once, one after the other).
"""
