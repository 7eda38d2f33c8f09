"""Compiled programs as files: what `Program.save` writes and `hotdesk.load` reads, with NumPy alone.

Read first `loading.py`, which joins all of it, and `records.py`, what a file says of a program. Then in the order in which a file
is read: `container.py` (sections and checksums), `decoding.py` (text to records of stated types), `validating.py` (whether these
go together), and what they become: `formulas.py` (sizes without SymPy), `code.py`, `weights.py`, `structure.py`, `plans.py`
with `laying_out.py`. `symbolic.py` is the other way round, for `saved/file.py`.

A file is not believed. What it says is checked before anything of it is mapped or run, and refused by an error with a code. See
docs/artifacts.md.
"""
