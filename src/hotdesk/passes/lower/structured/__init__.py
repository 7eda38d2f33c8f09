"""Kernels of structured ops that nothing else serves, as loops.

Read `kernel.py` first; `joined.py` shortens the loops, `cuts.py` cuts them for threads; `passes.payload_checks` makes code of
assertions.
"""
