"""`torch.compile(model, backend="hotdesk")`.

Read first `backend.py`, which compiles the graphs, then `counts.py`: what it counts of them for `hotdesk.dynamo_report()`. That
is all of it that loads without PyTorch.
"""
