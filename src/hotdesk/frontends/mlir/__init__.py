"""Programs in MLIR: read (`reading`), lowered to the dialects that are compiled, guarded, and called. Read `capture` first."""
