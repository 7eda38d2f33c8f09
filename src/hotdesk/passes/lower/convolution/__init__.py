"""Kernels of convolutions.

Read first `dispatch.py`, which chooses among the others, and `problem.py`, a convolution as they see it. `unfolded.py` and
`winograd.py` call what `kernels` has, `transposed.py` is for widened images, `depthwise.py` (with `depthwise_vectors.py`)
for one channel a group, `direct.py` for all else.
"""
