"""What the package asks of Python itself.

In order: `lazy_names.py` (names imported when they are used) and `record.py` (records whose classes are made quickly), which keep
the start short; `whole_imports.py` and `interruptible.py` (imports and other work that Ctrl-C meets); `child_process.py`
(processes that work for this one).
"""
