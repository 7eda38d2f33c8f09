"""Plans of arenas for the sizes of each call, and what is proved of them.

Read `planner.py` first, with `problems.py` (what is planned) and `layout.py` (where everything lies for a call). What is
told of plans: `describing.py`; what holds for all sizes in range: `worst.py` and `comparing.py`.
"""
