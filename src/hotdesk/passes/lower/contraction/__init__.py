"""Kernels of tensor contractions: as calls of products, or as loops. Read `kernel` first."""
