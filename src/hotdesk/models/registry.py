"""Op models by operation name, or by dialect. Other packages add theirs with `register`."""

from __future__ import annotations

from functools import cache

from hotdesk.models.model import OpModel

_MODELS: dict[str, OpModel] = {}


def register(name: str, model: OpModel) -> None:
    """Adds or replaces the model of an operation, by its full name such as `mydialect.op`.

    `mydialect.*` is the model of every operation of a dialect that has none of its own.
    """
    _built_in()
    _MODELS[name] = model


def model_of(name: str) -> OpModel | None:
    """The model of an operation, or None if there is none."""
    _built_in()
    model = _MODELS.get(name)
    return _MODELS.get(f"{name.partition('.')[0]}.*") if model is None else model


@cache
def _built_in() -> None:
    from hotdesk.models import arith, bufferization, func, hotdesk, linalg, scf, tensor, tm_tensor

    for module in (arith, bufferization, func, hotdesk, linalg, scf, tensor, tm_tensor):
        _MODELS.update(module.MODELS)
