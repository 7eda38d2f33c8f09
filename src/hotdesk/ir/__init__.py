"""Small typed helpers over MLIR: context, walking, building, symbolic sizes, locations."""
