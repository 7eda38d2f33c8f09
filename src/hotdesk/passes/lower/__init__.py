"""Memory to machine: kernels and entry functions."""
