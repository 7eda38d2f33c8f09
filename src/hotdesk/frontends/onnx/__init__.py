"""ONNX models: read (`reading`), imported by torch-mlir, and from there on as programs in MLIR are. Read `capture` first."""
