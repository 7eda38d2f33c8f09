"""The command lines of Hotdesk: `hotdesk`, by `main.py`, and `hotdesk-opt`, by `opt.py`.

Each verb of `hotdesk` has a file of its name. On a model: `run.py`, `report.py`, `explain.py`, `diff.py`, `profile.py`,
`tradeoff.py`, `check.py`, `export_c.py`. On traces and problems of the planner: `trace.py`, `plan.py`. Of Hotdesk itself:
`list_passes.py`, `doctor.py`. They stand on `parsers.py`, `models.py`, `inputs.py`, `documents.py`, `formats.py`, `progress.py`
and `exits.py`.

Of `hotdesk-opt` read `session.py` first, then `arguments.py`, `pipelines.py` and `running.py`; around them `files.py`,
`printing.py`, `diagnostics.py` with `expectations.py` and `written.py`, and `remarks.py`.
"""
