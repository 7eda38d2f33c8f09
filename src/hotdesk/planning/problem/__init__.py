"""What the planner is asked and what it answers.

In order: `buffers.py` (buffers, ties, pools; `numbers.py` says which integers), `bodies.py` (what ties hold together),
`problem.py`, `bounds.py` (what no plan can beat, and why), `loan_bounds.py` (the same, counting whole loans), `plan.py`,
`checker.py` (whether a plan is right), `bound_checker.py` (whether a bound is), `csvform.py` (problems and plans as text).
"""
