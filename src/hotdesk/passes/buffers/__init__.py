"""Passes on memory."""
