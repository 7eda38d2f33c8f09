"""Sizes: numbers, or expressions over the sizes that callers choose. What is compared, proven, read and printed of them is here.

`size.py` says what a size is, and has what is asked of any of them. For those that are expressions of SymPy's, `expressions.py`
has their normal form and their values, `reading.py` and `writing.py` their text, and `proofs.py` what holds for all values of
their symbols, by the polynomials of `polynomials.py`. `reshaping.py` compares the sizes of two shapes. Nothing here knows MLIR:
sizes of values in IR are found by `program/symbolic.py`, and computed in IR by `ir/size_ops.py`.
"""
