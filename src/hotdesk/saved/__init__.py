"""Compiled programs written out.

Read first `file.py`: to a file, in the format that `artifacts/` has and reads; then `export_c.py`: as C.
"""
