"""Transformations of IR, by what they work on: `tensor`, `bufferize`, `buffers`, and `lower`.

Read first `base.py` (what a pass is) and `properties.py` (what it may require and ensure), then `registry.py` (all passes by
name), `textual.py` (pipelines as text) and `manual.py` (what a pass says of itself). `fusing.py` makes two ops one, for passes of
several stages; `payload_checks.py` has the assertions in structured ops; `collecting.py` keeps Python's search for garbage off
while passes run.
"""
