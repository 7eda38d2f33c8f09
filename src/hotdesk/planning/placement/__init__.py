"""How offsets are found.

In order: `instance.py` (a problem as heuristics read it), `decompose.py` (independent parts), `orders.py`, `skyline.py` and
`greedy.py` (heuristics; `skyline_kernels.py` and `greedy_kernels.py` in compiled code), `search.py` (local search over orders),
`ejection.py` (what reaches too high is placed anew), `exact.py` (questions
whether a capacity suffices) with `dive.py` (and `dive_kernels.py`) and `cpsat.py`, which answer them, `portfolio.py` (which of
these, in which order, until when: `deadline.py`). Beside them `borrow.py` (what goes into pools) and `tied.py` (bodies of
several rectangles).
"""
