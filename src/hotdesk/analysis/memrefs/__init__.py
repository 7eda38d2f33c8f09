"""A function on memrefs: what each memref may be, and what ops do to its memory.

Read in this order: `buffer_program` (the record), `buffer_reading`, `origins` (which memory a memref may be), `writes` and
`entry_writes`, `memref_views` and `aliasing` (what two memrefs have in common); then `unknown_memory` and `asynchronous`, for
what is not plain to see, and `tensors_of_memory`, for functions on tensors and memrefs. What lowering takes: `buffers` (live
ranges and sizes), and `shared_loops` with `reductions` (loops that threads share).
"""
