"""`torch.compile(model, backend="hotdesk")`: the backend (`backend.py`), and what it counts for `hotdesk.dynamo_report()`
(`counts.py`, which is all of it that loads without PyTorch)."""
