"""Functions compiled when they are called: `hotdesk.jit`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import update_wrapper
from threading import Lock
from typing import TYPE_CHECKING, Any, overload

from hotdesk.errors import ArgumentTypeError, MissingExtraError, OptionError

if TYPE_CHECKING:
    from hotdesk.api import Options
    from hotdesk.runtime.program import Program

PROGRAMS = 64
"""How many programs a function keeps; the one used longest ago goes."""


@overload
def jit(function: Callable[..., Any], /) -> Jitted: ...


@overload
def jit(*, options: Options | None = None, dynamic_shapes: Any = None) -> Callable[[Callable[..., Any]], Jitted]: ...


def jit(
    function: Callable[..., Any] | None = None, /, *, options: Options | None = None, dynamic_shapes: Any = None
) -> Jitted | Callable[[Callable[..., Any]], Jitted]:
    """A function that is compiled at its first call with arguments of some structure, types and sizes, and kept for others.

        @hotdesk.jit
        def scaled(x, *, by): ...

    Each combination of structure, element types and sizes of tensors, and values of all that is no tensor has its own program,
    as `hotdesk.compile` makes it; with `dynamic_shapes`, sizes that these free are one. See docs/functions.md.

    Args:
        function: of tensors, numbers, None, text and nests of these, as `torch.export` takes them.
        options: see `hotdesk.Options`.
        dynamic_shapes: as `hotdesk.compile` takes it.
    """
    if function is not None:
        return Jitted(function, None, None)

    def decorated(given: Callable[..., Any]) -> Jitted:
        return Jitted(given, options, dynamic_shapes)

    return decorated


class Jitted:
    """What `jit` makes of a function. Threads may call it at once; one of them compiles at a time."""

    def __init__(self, function: Callable[..., Any], options: Options | None, dynamic_shapes: Any) -> None:
        if not callable(function):
            raise OptionError("argument of jit", expected="a function", got=type(function).__name__)
        update_wrapper(self, function)
        self._function = function
        self._options = options
        self._dynamic_shapes = dynamic_shapes
        self._programs: dict[Hashable, Program] = {}
        self._lock = Lock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program for these arguments. Raises what `compile` and a call of a program raise."""
        return self.program(*args, **kwargs)(*args, **kwargs)

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The program for these arguments, compiled if there is none yet: it reports, is saved, and is profiled as any is."""
        key = _key(args, kwargs, open_sizes=self._dynamic_shapes is not None)
        with self._lock:
            found = self._programs.pop(key, None)
            if found is None:
                from hotdesk.api import compile as compile_program

                shapes = self._dynamic_shapes
                found = compile_program(self._function, args, kwargs, dynamic_shapes=shapes, options=self._options)
            self._programs[key] = found  # the last one used is the last one here
            while len(self._programs) > PROGRAMS:
                del self._programs[next(iter(self._programs))]
        return found

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that are kept, the one used last at the end."""
        with self._lock:
            return tuple(self._programs.values())

    def clear(self) -> None:
        """Forgets all programs, such as after weights were changed that a program has prepared values of."""
        with self._lock:
            self._programs.clear()


def _key(args: tuple[Any, ...], kwargs: Mapping[str, Any], *, open_sizes: bool) -> Hashable:
    """What a program depends on."""
    try:
        import torch
        from torch.utils import _pytree as pytree
    except ImportError as error:
        raise MissingExtraError.of("compiling a function", "torch", "torch") from error
    leaves, structure = pytree.tree_flatten((args, dict(kwargs)))
    found: list[Hashable] = [str(structure)]
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            found.append((leaf.dtype, leaf.dim() if open_sizes else tuple(leaf.shape)))
        elif leaf is None or isinstance(leaf, (bool, int, float, complex, str, torch.dtype, torch.device)):
            found.append((type(leaf).__name__, repr(leaf)))
        else:
            expected = "tensors, numbers, None, text and nests of these"
            raise ArgumentTypeError("an argument of a compiled function", expected=expected, got=type(leaf).__name__)
    return tuple(found)
