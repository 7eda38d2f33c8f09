"""Variants of a program, bufferized and planned on a copy to see what they need: other orders, and parts within a budget.

Read first `trials.py` (what a variant needs), then `ordering.py`, `recomputing.py`, `budget.py`, and `tradeoff.py`, which asks
for many budgets.
"""
