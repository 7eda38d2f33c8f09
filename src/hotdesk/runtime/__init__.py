"""Compiled programs and how they are called."""
