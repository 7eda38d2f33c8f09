"""Reproducers: IR with the pipeline that failed on it, in one file.

    module { … }
    {-#
      external_resources: {
        mlir_reproducer: {
          pipeline: "builtin.module(hotdesk-choose-destinations,cse)",
          disable_threading: true,
          verify_each: true
        }
      }
    #-}

mlir-opt writes the same form, so each tool reads the other's file, as far as it knows the passes. MLIR's bindings do not read
such a section; the text is read here. A comment `// configuration: --pass-pipeline='…'` does as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hotdesk.errors import OptionError

WARNING = "ignoring unknown external resources for 'mlir_reproducer'"

_SECTION = re.compile(r"\{-#.*?\bmlir_reproducer\s*:\s*\{", re.DOTALL)
_REMARKS = re.compile(r"^\s*//.*$", re.MULTILINE)
_PIPELINE = re.compile(r'\bpipeline\s*:\s*("(?:[^"\\]|\\.)*")')
_VERIFY = re.compile(r"\bverify_each\s*:\s*(true|false)")
_COMMENT = re.compile(r"^//\s*configuration:.*?--?pass-pipeline='([^'\n]*)'", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reproducer:
    """How to run again what failed."""

    pipeline: str
    verify_each: bool = True

    def text(self, module: str) -> str:
        """The content of a file: the module and this."""
        return (
            f"{module.rstrip()}\n\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n"
            f"      pipeline: {json.dumps(self.pipeline, ensure_ascii=False)},\n"
            f"      disable_threading: true,\n      verify_each: {str(self.verify_each).lower()}\n"
            "    }\n  }\n#-}\n"
        )


def read_reproducer(text: str) -> Reproducer:
    """The reproducer that an input carries.

    Raises:
        OptionError: it carries none.
    """
    code = _REMARKS.sub("", text)
    section = _SECTION.search(code)
    pipeline = _PIPELINE.search(code, section.end()) if section is not None else None
    if pipeline is not None:
        verify = _VERIFY.search(code, pipeline.end())
        return Reproducer(_string(pipeline[1]), verify is None or verify[1] == "true")
    comment = _COMMENT.search(text)
    if comment is not None:
        return Reproducer(comment[1])
    raise OptionError("option 'run-reproducer'", expected="an input with a section 'mlir_reproducer'", got="none")


def _string(quoted: str) -> str:
    try:
        return json.loads(quoted, strict=False)
    except json.JSONDecodeError as error:
        raise OptionError("option 'run-reproducer'", expected="a pipeline in quotes", got=quoted) from error


@contextmanager
def kept_on_failure(path: Path | None, text: str) -> Generator[None]:
    """While the `with` runs, and if it fails or the process dies in it, the file has `text`; else it is as it was."""
    if path is None:
        yield
        return
    before = path.read_bytes() if path.exists() else None
    path.write_text(text, encoding="utf-8")
    yield
    if before is None:
        path.unlink()
    else:
        path.write_bytes(before)
