"""Arguments and results that are no tensors: constants of a program, and which of them `torch.export` refuses or is not given.

A model is exported with None in the place of such a constant, and with a `forward` that puts it back.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from types import EllipsisType
from typing import Any, cast

import torch
from torch.utils import _pytree as pytree

from hotdesk.errors import ArgumentTypeError, ExportError, HotdeskError
from hotdesk.frontends.torch.symbolic_numbers import NUMBERS

_EXPORTED = (type(None), bool, int, float, str)
"""The types of constants that `torch.export` takes, if they are no enumerations."""
_HELD = (
    *(Enum, complex, bytes, slice, range, EllipsisType),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format),
)
"""The types of other constants: they have a value that two calls can be compared by."""
_TENSORS_AND_SIZES = (torch.Tensor, *NUMBERS)


def is_constant(leaf: object) -> bool:
    """Whether an argument may be a constant of a program."""
    return isinstance(leaf, (*_EXPORTED, *_HELD))


def _is_held(leaf: object) -> bool:
    return isinstance(leaf, _HELD) or (isinstance(leaf, _EXPORTED) and type(leaf) not in _EXPORTED)


def refuse_other_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises ArgumentTypeError for an argument that is neither a tensor nor a constant."""
    for path, leaf in _leaves(args, kwargs):
        if isinstance(leaf, torch.Tensor) or is_constant(leaf):
            continue
        raise ArgumentTypeError(
            f"argument `{_named(function, args, path)}`",
            expected="tensors, numbers, None, text, enumerations, types and devices of PyTorch, and tuples, lists, dictionaries "
            "and registered dataclasses of these",
            got=_kind(leaf),
            hint=_hint(leaf),
        )


def refuse_recorded(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises ArgumentTypeError for a tensor that a gradient is to be recorded for, where gradients are recorded."""
    if not torch.is_grad_enabled():
        return
    for path, leaf in _leaves(args, kwargs):
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
            raise ArgumentTypeError(
                f"argument `{_named(function, args, path)}`",
                expected="a tensor without requires_grad where gradients are recorded, as the results of a program carry none",
                got="one with it",
                hint="Call it under `torch.no_grad()`, or pass `.detach()`; for gradients, "
                "use `torch.compile(function, backend='hotdesk')`.",
            )


@contextmanager
def other_results_told(model: torch.nn.Module) -> Generator[None]:
    """Has what `torch.export` raises name the result that is neither a tensor nor a constant, if the model returns one."""
    found: list[ExportError] = []

    def note(_model: object, _args: object, results: object) -> None:
        for path, leaf in cast("list[tuple[Any, object]]", pytree.tree_flatten_with_path(results)[0]):
            if not isinstance(leaf, _TENSORS_AND_SIZES) and type(leaf) not in _EXPORTED:
                place = f" at `{pytree.keystr(path)}`" if path else ""
                found.append(
                    ExportError(
                        f"what the model returns{place}",
                        expected="tensors, numbers, None, text, and tuples, lists, dictionaries and registered dataclasses of "
                        "these",
                        got=_kind(leaf),
                        hint="Return what it follows from, such as text or a number, and make it of that behind the call.",
                    )
                )

    handle = model.register_forward_hook(note)
    try:
        yield
    except HotdeskError:
        raise
    except Exception as error:
        if not found:
            raise
        raise found[0] from error
    finally:
        handle.remove()


def _kind(leaf: object) -> str:
    kind = type(leaf)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _hint(leaf: object) -> str:
    if isinstance(leaf, torch.nn.Module) or callable(leaf):
        return "Give it to the function by `functools.partial`, or let the function read it from where it is defined."
    if hasattr(leaf, "__array__"):
        return "Make a tensor of it, by `torch.as_tensor`."
    return (
        "Give its tensors and numbers one by one; or register its class, a dataclass by `torch.export.register_dataclass`, "
        "another one by `torch.utils._pytree.register_pytree_node`."
    )


def without_held(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any], dict[str, Any]]:
    """What `torch.export` is given: the model and its arguments without constants that it does not take; and these, by path."""
    held = {pytree.keystr(path): leaf for path, leaf in _leaves(args, kwargs) if _is_held(leaf)}
    if not held:
        return model, args, dict(kwargs), held

    def left(leaf: object) -> object:
        return None if _is_held(leaf) else leaf

    given, named = pytree.tree_map(left, (args, dict(kwargs)))
    return _putting_back(model, held), given, named, held


def _putting_back(model: torch.nn.Module, held: Mapping[str, Any]) -> torch.nn.Module:
    """The model, of the same tensors and submodules, whose `forward` has constants put back in their places."""
    made = copy.copy(model)
    called: Callable[..., Any] = made.forward
    if getattr(called, "__self__", None) is model:  # an attribute of the instance
        called = cast(Any, called).__func__.__get__(made)

    def put_back(path: Any, leaf: object) -> object:
        return held.get(pytree.keystr(path), leaf)

    def forward(*args: Any, **kwargs: Any) -> Any:
        given = pytree.tree_map_with_path(put_back, (args, kwargs))
        return called(*given[0], **given[1])

    cast(Any, forward).__signature__ = inspect.signature(called)
    made.forward = forward
    return made


def _leaves(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    yield from pytree.tree_flatten_with_path((args, dict(kwargs)))[0]


def _named(function: Callable[..., Any], args: tuple[Any, ...], path: tuple[Any, ...]) -> str:
    """An argument as users write it: `n`, or `options['scale']`."""
    first, rest = path[1], path[2:]
    if hasattr(first, "key"):
        return str(first.key) + pytree.keystr(rest)
    names: list[str] = []
    try:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{parameter.name}[{number}]" for number in range(len(args) - len(names))]
            elif parameter.kind is not parameter.KEYWORD_ONLY:
                names.append(parameter.name)
    except (TypeError, ValueError):  # what has no signature
        pass
    place = int(first.idx)
    name = names[place] if place < len(names) else str(place)
    return name + pytree.keystr(rest)
