"""Compiled programs as files: what `Program.save` writes and `hotdesk.load` reads, with NumPy alone.

From the outside in: `container.py` (sections and checksums), `decoding.py` (text to records of stated types), `records.py` (what
a file says of a program), `validating.py` (whether that goes together), `formulas.py` (sizes without SymPy), `plans.py` with
`laying_out.py`, `weights.py`, `code.py` and `structure.py` (what records become), `loading.py` (all of it joined). `symbolic.py`
is the other way round, for `saved/file.py`.

A file is not believed. What it says is checked before anything of it is mapped or run, and refused by an error with a code. See
docs/artifacts.md.
"""
