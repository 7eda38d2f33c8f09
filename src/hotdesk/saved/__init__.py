"""Compiled programs written out: to a file (`file.py`, whose format `artifacts/` has and reads), and as C (`export_c.py`)."""
