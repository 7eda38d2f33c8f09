"""The command lines of Hotdesk: `hotdesk`, by `main.py`, and `hotdesk-opt`, by `opt.py`.

Each verb of `hotdesk` has a file of its name, on `parsers.py`, `models.py`, `inputs.py`, `documents.py`, `formats.py` and
`exits.py`. Of `hotdesk-opt` read `session.py` first, then `arguments.py`, `pipelines.py` and `running.py`;
around them `files.py`, `printing.py`, `diagnostics.py` with `expectations.py` and `written.py`, and `remarks.py`.
"""
