"""What the planner is asked and what it answers.

In order: `buffers.py` (buffers, ties, pools; `numbers.py` says which integers), `bodies.py` (what ties hold together),
`problem.py`, `bounds.py` (what no plan can beat, and why), `plan.py`, `checker.py` (whether a plan is right), `csvform.py` (both
as text).
"""
