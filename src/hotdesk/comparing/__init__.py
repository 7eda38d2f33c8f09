"""`hotdesk.tradeoff`: the ways to run a model in less memory, timed beside others that run it.

Read first `tradeoff.py`, which measures all of them in turns, then `others.py`: eager PyTorch, `torch.compile` and onnxruntime.
"""
