"""Passes on values."""
