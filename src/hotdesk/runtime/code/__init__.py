"""Machine code in memory: compiled, linked, and what all programs of a process share of it. Read `jit` first."""
