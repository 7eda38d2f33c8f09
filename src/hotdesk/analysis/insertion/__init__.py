"""Values that are inserted into a larger one in the end, and computed where they will lie in it.

Read first `insertions.py` (a `tensor.empty` as the place of an insertion) with `chain.py`, then `concatenation.py` and
`growing.py` (concatenations), and `raised_peak.py`, which says whether the peak rises by it.
"""
