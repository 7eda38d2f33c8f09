"""What Hotdesk costs beside what people use instead: bytes and time for every example model. `make bench` runs `run.py`."""
