"""What the package asks of Python itself.

Names imported when they are used (`lazy_names.py`), records whose classes are made quickly (`record.py`), imports and other work
that Ctrl-C meets (`whole_imports.py`, `interruptible.py`), and processes that work for this one (`child_process.py`).
"""
