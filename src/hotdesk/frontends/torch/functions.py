"""Plain functions of tensors as modules, which is what `torch.export` takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, cast

import torch


def as_module(function: Callable[..., Any]) -> torch.nn.Module:
    """A module whose `forward` is the function, with its signature; one written in C, such as `torch.det`, takes any arguments.

    Modules that the function is a method of, has in its closure or reads as globals are submodules, by their names there. So are
    those that `functools.partial` gives it, and attributes of a callable object. Their tensors are weights, in eval mode or not
    as they are. Other tensors that it reads are constants.
    """
    function = _noted(function)
    made = _FunctionModule()
    for name, module in _modules(function):
        made.add_module(name, module)
    made.forward = _called_forward(function) if _has_signature(function) else _with_signature(function)
    made.training = any(module.training for module in made.children())
    return made


class _FunctionModule(torch.nn.Module):
    """What stands for a function."""


_NOTED = (FunctionType, MethodType, BuiltinFunctionType, partial)
"""What `torch.export` knows how to read the lines of."""


def _noted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a callable object what it runs when it is called: its `__call__`, or, written in C, a function that calls it."""
    if isinstance(function, _NOTED):
        return cast("Callable[..., Any]", function)
    call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(call, FunctionType) and not hasattr(function, "__wrapped__"):
        return MethodType(call, function)
    called = _with_signature(function)
    return update_wrapper(called, function) if _has_signature(function) else called


def _has_signature(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function)
    except (TypeError, ValueError):
        return False
    return True


def _called_forward(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, by that name: PyTorch notes lines of such functions alone."""
    if isinstance(function, MethodType):
        return MethodType(_called_forward(function.__func__), function.__self__)
    if not isinstance(function, FunctionType):
        return function
    code = function.__code__.replace(co_name="forward")
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
    made.__dict__.update(function.__dict__)
    return made


def _with_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    def forward(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return forward


def _modules(function: Callable[..., Any]) -> Iterator[tuple[str, torch.nn.Module]]:
    if isinstance(function, partial):
        given = {**{f"args_{number}": each for number, each in enumerate(function.args)}, **function.keywords}
        yield from ((name, each) for name, each in given.items() if isinstance(each, torch.nn.Module))
        yield from _modules(function.func)
        return
    owner: object = getattr(function, "__self__", None)
    if isinstance(owner, torch.nn.Module):
        yield "self", owner
    else:
        held = cast("dict[str, object]", getattr(owner, "__dict__", {}))
        yield from ((name, each) for name, each in held.items() if isinstance(each, torch.nn.Module))
    plain: Any = inspect.unwrap(getattr(function, "__func__", function))
    if not inspect.isfunction(plain):
        return
    found = inspect.getclosurevars(plain)
    named = cast("dict[str, object]", {**found.globals, **found.nonlocals})
    for name, value in named.items():
        if isinstance(value, torch.nn.Module):
            yield name.replace(".", "_"), value
