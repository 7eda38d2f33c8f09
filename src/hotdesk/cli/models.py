"""Models named on the command line: an exported program in a file, or what a Python file or module makes."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, cast
from zipfile import is_zipfile

from hotdesk.errors import HotdeskError, MissingExtraError, OptionError
from hotdesk.file_errors import found_instead, nearest

FORMS = (
    "FILE.pt2, FILE.py[:NAME] or MODULE[:NAME], where NAME, build if left out, is a function that returns "
    "(model, args[, kwargs]) or a module with example_inputs"
)
_DEFAULT = "build"
_SUGGESTED = 5
_SILENT = "6"
"""The level of messages of PyTorch's profiler that lets none through: it writes two lines on stderr for each recording."""


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
    os.environ.setdefault("KINETO_LOG_LEVEL", _SILENT)  # which PyTorch reads when it is loaded
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError.of("reading a PyTorch model", "torch", "torch") from error
    if text.endswith(".pt2"):
        return _exported(text)
    source, _, name = text.partition(":")
    found: Any = _named(source, name or _DEFAULT)
    if isinstance(found, torch.nn.Module) and hasattr(found, "example_inputs"):
        with _of_the_user(text, "example_inputs that can be had"):
            inputs: Any = found.example_inputs
            made: Any = (found, *_examples(inputs() if callable(inputs) else inputs))
    elif callable(found) and not isinstance(found, torch.nn.Module):
        with _of_the_user(
            text, f"'{name or _DEFAULT}' to return (model, args[, kwargs]) when called without arguments"
        ):
            made = found()
    else:
        got = f"{type(found).__name__} '{name or _DEFAULT}', neither a function nor a module with example_inputs"
        is_model = isinstance(found, torch.nn.Module)
        raise _refused(text, got, f"Set {name or _DEFAULT}.example_inputs, a tuple of tensors." if is_model else None)
    parts: list[Any] = list(made) if isinstance(made, tuple) else []  # pyright: ignore[reportUnknownArgumentType]
    if len(parts) == 2:
        parts.append({})
    if len(parts) != 3 or not isinstance(parts[1], tuple) or not isinstance(parts[2], Mapping):
        raise _refused(
            text, f"{_type_of(cast(object, made))} from '{name or _DEFAULT}'", "args is a tuple, kwargs a dictionary."
        )
    return Given(*parts)


def _exported(file: str) -> Given:
    import torch

    expected = "a program that torch.export.save has written"
    try:
        with Path(file).open("rb") as stream:
            archive = is_zipfile(stream)
    except OSError as error:
        raise OptionError(f"model '{file}'", expected=expected, got=found_instead(file, error)) from error
    if not archive:
        raise OptionError(f"model '{file}'", expected=expected, got="a file that is no archive")
    with _of_the_user(file, expected):
        exported = torch.export.load(file)
    args, kwargs = cast("tuple[Any, Any]", exported.example_inputs or ((), {}))
    return Given(exported, tuple(args), kwargs)


def _type_of(made: object) -> str:
    """The name of a type; of a tuple those of what it holds: `(Linear, list)`."""
    if not isinstance(made, tuple):
        return type(made).__name__
    return f"({', '.join(type(each).__name__ for each in cast('tuple[object, ...]', made))})"


def _examples(inputs: Any) -> tuple[Any, ...]:
    """Arguments and keyword arguments from `example_inputs`: a tuple, a dictionary, or one tensor."""
    if isinstance(inputs, Mapping):
        return (), cast("Mapping[str, Any]", inputs)
    return (cast("tuple[Any, ...]", inputs), {}) if isinstance(inputs, tuple) else ((inputs,), {})


def _named(source: str, name: str) -> Any:
    module = _module(source)
    if not hasattr(module, name):
        names = _models_of(module)
        near = [each for each in get_close_matches(name, names, n=_SUGGESTED) if each != name]
        has = ", ".join([*near, *(each for each in names if each not in near)][:_SUGGESTED])
        hint = f"It has {has}." if has else f"Write one: def {_DEFAULT}(): return model, (x,)"
        raise _refused(f"{source}:{name}", "no such function", hint)
    return getattr(module, name)


def _models_of(module: ModuleType) -> list[str]:
    """The names of a file's own functions that can be called without arguments, and of its modules with example inputs."""
    import torch

    def named(value: Any) -> bool:
        if isinstance(value, torch.nn.Module):
            return hasattr(value, "example_inputs")
        return isinstance(value, FunctionType) and value.__module__ == module.__name__ and not _required(value)

    return [name for name, value in vars(module).items() if not name.startswith("_") and named(value)]


def _required(function: FunctionType) -> bool:
    """Whether a function has arguments that must be given."""
    parameters = signature(function).parameters.values()
    return any(
        each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters
    )


def _module(source: str) -> ModuleType:
    if not source.endswith(".py"):
        if Path(source).is_dir() and not (Path(source) / "__init__.py").is_file():
            raise _refused(source, "a folder")
        if Path(source).is_file():
            raise _refused(source, "a file that is none of these, nor FILE.mlir, FILE.onnx or FILE.hotdesk")
        sys.path.insert(0, "")  # modules beside where the command is given, as with `python -m`
        try:
            with _of_the_user(source, "a module that can be imported"):
                return import_module(source)
        except OptionError as error:
            missing = error.__cause__
            if not isinstance(missing, ModuleNotFoundError) or not f"{source}.".startswith(f"{missing.name}."):
                raise
            raise _refused(source, "no such module or file", _there_is(Path(source))) from missing
    path = Path(source)
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise _refused(source, "a folder" if path.is_dir() else "no such file", _there_is(path))
    module = module_from_spec(spec)
    _look_beside(str(path.parent.resolve()))
    sys.modules[path.stem] = module
    with _of_the_user(source, "a file that can be imported"):
        spec.loader.exec_module(module)
    return module


def _there_is(path: Path) -> str | None:
    near = nearest(path)
    return f"There is '{near}'." if near and near != str(path) else None


_beside: dict[str, frozenset[str]] = {}
"""The folder of the file that was read last, where modules are looked for, and the names of those that were there before it."""


def _look_beside(folder: str) -> None:
    """Lets a file import what lies beside it, as `python FILE` does, and not what of that name lies beside the file before it."""
    if folder in _beside:
        return
    for before, known in _beside.items():
        sys.path[:] = [each for each in sys.path if each != before]
        roots = {name.partition(".")[0] for name in sys.modules} - known
        gone = {root for root in roots if _lies_in(sys.modules.get(root), before)}
        for name in [name for name in sys.modules if name.partition(".")[0] in gone]:
            del sys.modules[name]
    _beside.clear()
    _beside[folder] = frozenset(sys.modules)
    sys.path.insert(0, folder)


def _lies_in(module: ModuleType | None, folder: str) -> bool:
    """Whether it is a file, or a package, of that folder itself."""
    packages = list(getattr(module, "__path__", ()))
    file = getattr(module, "__file__", None)
    return folder in {str(Path(each).resolve().parent) for each in packages or ([file] if file else [])}


@contextmanager
def _of_the_user(text: str, expected: str) -> Generator[None]:
    """What the user's own code raises inside the `with` is an OptionError that names its line."""
    from hotdesk.frontends.torch.lines import user_line

    hint = None
    try:
        yield
        return
    except HotdeskError:
        raise
    except SyntaxError as error:
        raised: BaseException = error
        got, where = f"{type(error).__name__}: {error.msg}", f"{error.filename}:{error.lineno}"
    except SystemExit as error:
        raised, got, where = error, f"the end of the process (SystemExit: {error.code})", None
        hint = "Put what is to run only as a script under `if __name__ == '__main__':`."
    except Exception as error:
        raised, got, where = error, f"{type(error).__name__}: {error}", user_line(error)
    raise OptionError(f"model '{text}'", expected=expected, got=got, where=where, hint=hint) from raised


def _refused(text: str, got: str, hint: str | None = None) -> OptionError:
    return OptionError(f"model '{text}'", expected=FORMS, got=got, hint=hint)
