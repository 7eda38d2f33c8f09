"""Faults planted in the passes on buffers, by what the passes do."""
