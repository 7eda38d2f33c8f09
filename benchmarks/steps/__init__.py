"""Steps of training under each contender. Read `contenders.py` first; `worker.py` is the child process of one of them."""
