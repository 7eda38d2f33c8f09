"""Hotdesk's bufferization beside MLIR's own passes, on the same modules. `make bench-bufferize` runs `../bufferize.py`."""
