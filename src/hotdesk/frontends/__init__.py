"""From user programs to linalg on tensors: `torch`, `onnx` and `mlir` each return a `Captured`.

Read first `captured.py`, what every front end hands on (with `donation.py`), then the `capture` or `export` of one of them.
`lowering_process.py` runs MLIR's passes for all of them in a process of their own.
"""
