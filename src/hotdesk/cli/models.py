"""Models named on the command line: an exported program in a file, or what a Python file or module makes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from hotdesk.errors import MissingExtraError, OptionError

FORMS = (
    "FILE.pt2, FILE.py[:NAME] or MODULE[:NAME], where NAME (build) is a function that returns (model, args[, kwargs]) "
    "or a module with example_inputs"
)
_DEFAULT = "build"


@dataclass(frozen=True, slots=True)
class Given:
    """A model and example arguments, as `hotdesk.compile` takes them."""

    model: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


def states_its_types(text: str) -> bool:
    """Whether a model is the name of a file that says what its arguments are: MLIR, ONNX, or a saved program."""
    return text.endswith((".mlir", ".mlirbc", ".onnx", ".hotdesk"))


def read_model(text: str) -> Given:
    """The model of a text in one of `FORMS`. Raises OptionError and MissingExtraError."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError.of("reading a PyTorch model", "torch", "torch") from error
    if text.endswith(".pt2"):
        exported = torch.export.load(text)
        args, kwargs = cast("tuple[Any, Any]", exported.example_inputs or ((), {}))
        return Given(exported, tuple(args), kwargs)
    source, _, name = text.partition(":")
    found: Any = _named(source, name or _DEFAULT)
    if isinstance(found, torch.nn.Module) and hasattr(found, "example_inputs"):
        inputs: Any = found.example_inputs
        made: Any = (found, *_examples(inputs() if callable(inputs) else inputs))
    elif callable(found) and not isinstance(found, torch.nn.Module):
        made = found()
    else:
        raise _refused(
            text, f"{type(found).__name__} '{name or _DEFAULT}', neither a function nor a module with example_inputs"
        )
    parts: list[Any] = list(made) if isinstance(made, tuple) else []  # pyright: ignore[reportUnknownArgumentType]
    if len(parts) == 2:
        parts.append({})
    if len(parts) != 3 or not isinstance(parts[1], tuple) or not isinstance(parts[2], Mapping):
        raise _refused(text, f"{type(cast(object, made)).__name__} from '{name or _DEFAULT}'")
    return Given(*parts)


def _examples(inputs: Any) -> tuple[Any, ...]:
    """Arguments and keyword arguments from `example_inputs`: a tuple, a dictionary, or one tensor."""
    if isinstance(inputs, Mapping):
        return (), cast("Mapping[str, Any]", inputs)
    return (cast("tuple[Any, ...]", inputs), {}) if isinstance(inputs, tuple) else ((inputs,), {})


def _named(source: str, name: str) -> Any:
    module = _module(source)
    if not hasattr(module, name):
        raise _refused(f"{source}:{name}", "no such function")
    return getattr(module, name)


def _module(source: str) -> ModuleType:
    if not source.endswith(".py"):
        if Path(source).is_file():
            raise _refused(source, "a file that is none of these, nor FILE.mlir, FILE.onnx or FILE.hotdesk")
        sys.path.insert(0, "")  # modules beside where the command is given, as with `python -m`
        try:
            return import_module(source)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{source}.".startswith(f"{error.name}."):
                raise
            raise _refused(source, "no such module") from error
    path = Path(source)
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise _refused(source, "no such file")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # what it imports from beside it, as with `python FILE`
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _refused(text: str, got: str) -> OptionError:
    return OptionError(f"model '{text}'", expected=FORMS, got=got)
