"""Reads IR and returns frozen records; changes nothing.

`tensors` and `memrefs` read a function; `in_place`, `insertion`, `fusion` and `order` decide what becomes of its tensors,
`allocations`, `ownership` and `copying` what becomes of its memory.
"""
