"""What compiling makes before a program has memory: its machine code linked (`linked_program.py`), and both kept on disk for the
next process (`program_cache.py`)."""
