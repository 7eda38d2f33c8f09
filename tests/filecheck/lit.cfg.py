"""Text in, text out: each file here holds IR, a `RUN:` line and what the output must look like.

Run them all with `pytest tests/test_filecheck.py`, or one with `lit -v tests/filecheck/<stage>/<pass>.mlir`.
"""

import os
import sys
from pathlib import Path

import lit.formats

ROOT = Path(__file__).parents[2]

config.name = "hotdesk"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(ROOT / "build" / "filecheck")
config.suffixes = [".mlir"]

# Bare `lit` may come from another directory on PATH than the Python that has hotdesk: both tools run in this Python.
config.substitutions += [
    ("%hotdesk-opt", f"{sys.executable} -m hotdesk.cli.opt"),
    ("%rewrite-stablehlo", f"{sys.executable} -m tests.running.rewrite_stablehlo"),
    (r"\bFileCheck\b", f"{sys.executable} -m filecheck"),
]
config.environment["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH")])
)
