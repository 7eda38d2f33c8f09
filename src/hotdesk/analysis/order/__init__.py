"""When the operations of a block run, whether in parts, and which of them twice, so that less is held at once.

Read first `straight_line.py` (the record of a block), `bytes_at_steps.py` (what is held at each op) and `peak.py` (whether
holding others takes more). Then one question each: `schedules.py` (other orders), `lateness.py` (operations that may wait),
`chains.py` (values made again), `splitting.py` with `split_candidates.py` (operations done in parts, along
`axes.py`, with `halos.py` and `windows.py` where windows overlap) and `combining.py` (parts of a value put over another that
dies).
"""
