"""Op models by operation name, or by dialect. Other packages add theirs with `register`, or with an entry point:

    [project.entry-points."hotdesk.models"]
    my-dialect = "my_package.my_module:MODELS"

where `MODELS` maps names to models, or is a function that returns such a mapping. Hotdesk's own models, of an operation or of all
of a dialect, go before those of entry points; `register` replaces any. Of two entry points that describe the same operation,
the one whose name comes last counts. Models of others are guarded: a mistake in one is an error that names the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from hotdesk._bindings import without_classes
from hotdesk.errors import PassError
from hotdesk.ir.walking import dialect_of
from hotdesk.models.guarded import guarded
from hotdesk.models.model import OpModel

GROUP = "hotdesk.models"
Choice = Callable[[str, "OpModel | None"], "OpModel | None"]
_CHOOSE: ContextVar[Choice | None] = ContextVar("_CHOOSE", default=None)
_MODELS: dict[str, OpModel] = {}


def register(name: str, model: OpModel) -> None:
    """Adds or replaces the model of an operation, by its full name such as `mydialect.op`.

    `mydialect.*` is the model of every operation of a dialect that has none of its own.
    """
    _built_in()
    without_classes(dialect_of(name))
    _MODELS[name] = guarded(model)


def all_built_in() -> bool:
    """Whether every model is Hotdesk's own, as long as nobody registers another."""
    return _built_in() == _MODELS and _CHOOSE.get() is None


def model_of(name: str) -> OpModel | None:
    """The model of an operation, or None if there is none."""
    model, choose = registered_model(name), _CHOOSE.get()
    return model if choose is None else choose(name, model)


def registered_model(name: str) -> OpModel | None:
    """The model of an operation, whatever `choosing` says of it meanwhile."""
    _built_in()
    model = _MODELS.get(name)
    return _MODELS.get(f"{name.partition('.')[0]}.*") if model is None else model


@contextmanager
def choosing(choose: Choice) -> Generator[None]:
    """Lets a function say which model an op has, given its name and the model that is registered, as long as the `with` lasts."""
    token = _CHOOSE.set(choose)
    try:
        yield
    finally:
        _CHOOSE.reset(token)


@cache
def _built_in() -> dict[str, OpModel]:
    """Hotdesk's own models, registered, and those of entry points behind them."""
    from hotdesk.models import (
        arith,
        bufferization,
        cf,
        func,
        hotdesk,
        linalg,
        ml_program,
        parallel,
        scf,
        shape,
        tensor,
        tm_tensor,
        vector,
    )

    modules = (
        *(arith, bufferization, cf, func, hotdesk, linalg, ml_program, parallel, scf, shape, tensor, tm_tensor, vector),
    )
    own = {name: model for module in modules for name, model in module.MODELS.items()}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        for name, model in _loaded(point).items():
            if f"{name.partition('.')[0]}.*" not in own:
                _MODELS[name] = guarded(model)
    _MODELS.update(own)
    return own


def _loaded(point: EntryPoint) -> Mapping[str, OpModel]:
    """The models of an entry point. Raises PassError if it has none."""
    what, expected = f"entry point '{point.name}' of {GROUP}", f"models by name at {point.value}"
    hint = f"It belongs to the package '{point.dist.name}'; repair or uninstall that." if point.dist else None
    try:
        found: object = point.load()
        found = found() if callable(found) else found
    except (Exception, SystemExit) as error:
        raise PassError(what, expected=expected, got=f"{type(error).__name__}: {error}", hint=hint) from error
    if not isinstance(found, Mapping):
        raise PassError(what, expected=expected, got=type(found).__name__, hint=hint)
    models = cast("Mapping[object, object]", found)
    for name, model in models.items():
        if not (isinstance(name, str) and isinstance(model, OpModel)):
            raise PassError(what, expected=expected, got=f"{type(model).__name__} by {name!r}", hint=hint)
    return cast("Mapping[str, OpModel]", models)
