"""Kernels of structured ops that nothing else serves, as loops: their code, assertions, and cuts for threads."""
