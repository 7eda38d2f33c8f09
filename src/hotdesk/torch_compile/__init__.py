"""`torch.compile(model, backend="hotdesk")`.

The backend is `backend.py`; what it counts for `hotdesk.dynamo_report()` is `counts.py`, all of it that loads without PyTorch.
"""
