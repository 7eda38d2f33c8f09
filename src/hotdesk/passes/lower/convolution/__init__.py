"""Kernels of convolutions. Read `dispatch` first: it chooses among the others."""
