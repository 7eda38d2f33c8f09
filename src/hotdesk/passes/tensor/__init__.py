"""Passes on values.

Read them in the order of `pipeline.TENSORS`, then those that `search` tries and users ask for; each file is by itself, but
`named_ops.py` has rules in `contractions.py`, `convolutions.py` and `windows.py`, and `split_rows.py` and
`combine_in_rows.py` do in `parts.py` what they do. What decides is in `analysis.fusion`, `analysis.insertion`,
`analysis.order` and `analysis.in_place`.
"""
