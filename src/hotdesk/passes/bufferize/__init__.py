"""From values to memory.

Read first `one_shot.py`, the pass, then `rewriting.py` (the rewrite of one function) with what it stands on: `memory.py`,
`memrefs.py`, `crossing.py` (regions and blocks), `results.py` with `covering.py` (what functions return), and `deciding.py`
with `hints.py` (what is said of it). Before it runs `expanding.py`, `unranked.py` and `returning_once.py`, after it
`finishing.py`; `conventions.py` says how functions pass memory. The partial passes, `*_partial.py` on `partial.py` and
`materializing.py`, are ended by `finalizing.py`. The others are passes on signatures and types.
"""
