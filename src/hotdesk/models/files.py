"""Models from a Python file, for ops that no package describes.

The file calls `register`, or defines `MODELS`, a mapping from the names of ops to models; docs/models.md has an example.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import cast

from hotdesk.errors import PassError
from hotdesk.models.model import OpModel
from hotdesk.models.registry import register

_HINT = "docs/models.md says what such a file holds."


def load_models(file: str) -> None:
    """Registers the models of a Python file, which is run.

    Raises:
        PassError: the file cannot be read, raises an error, or has something else than models in `MODELS`; names file and line.
    """
    what = f"models of {file}"
    module = ModuleType(f"hotdesk_models_{Path(file).stem}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # where dataclasses look up the names of the file
    try:
        code = compile(Path(file).read_bytes(), file, "exec")
        exec(code, module.__dict__)
    except SyntaxError as error:
        raise _refused(what, error.msg, f"{error.filename or file}:{error.lineno or 1}") from error
    except OSError as error:
        raise _refused(what, error.strerror or str(error), file) from error
    except (Exception, SystemExit) as error:
        raise _refused(what, f"{type(error).__name__}: {error}", _line(error, file)) from error
    models: object = module.__dict__.get("MODELS", {})
    if not isinstance(models, Mapping):
        raise _refused(what, f"MODELS = {models!r}", file)
    for name, model in cast("Mapping[object, object]", models).items():
        if not (isinstance(name, str) and isinstance(model, OpModel)):
            raise _refused(what, f"{type(model).__name__} by {name!r} in MODELS", file)
        register(name, model)


def _refused(what: str, got: str, where: str) -> PassError:
    return PassError(what, expected="Python that registers models, or MODELS", got=got, where=where, hint=_HINT)


def _line(error: BaseException, file: str) -> str:
    """The last line of the file that the error came by."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{file}:{lines[-1]}" if lines else file
