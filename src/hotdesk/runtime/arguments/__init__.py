"""A call's arguments and results: tensors as addresses, checks of types and sizes, donation, `out=`.

Read `admission.py` first, which checks a call, with `tensors.py`, `sizes.py` (values of symbols), `remembered.py` and
`guards.py` (what was checked before); then `donation.py`, `outputs.py`, `limits.py` and `strided.py`.
"""
