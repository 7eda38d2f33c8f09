"""Variants of a program, bufferized and planned on a copy to see what they need: other orders, and parts within a budget."""
