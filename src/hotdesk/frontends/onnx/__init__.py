"""ONNX models: read, imported by torch-mlir, and from there on as programs in MLIR are.

Read `capture.py` first, then `reading.py`, `rewrites` (nodes that torch-mlir lowers only in other forms) with `elements.py`,
`reshapes.py`, and `refusals.py`.
"""
