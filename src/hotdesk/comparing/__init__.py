"""`hotdesk.tradeoff`: ways to run a model in less memory, timed (`tradeoff.py`) beside others that run it (`others.py`)."""
