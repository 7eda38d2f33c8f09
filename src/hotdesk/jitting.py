"""Functions compiled when they are called: `hotdesk.jit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache, update_wrapper
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload
from weakref import ref

from hotdesk.errors import ArgumentTypeError, MissingExtraError, OptionError
from hotdesk.python.whole_imports import whole_imports

if TYPE_CHECKING:
    from hotdesk.compiling.options import Options
    from hotdesk.runtime.program import Program

_Shapes: TypeAlias = "tuple[tuple[int, ...], ...]"
_Key: TypeAlias = "tuple[object, ...]"

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
    as `hotdesk.compile` makes it, and so has each type of autocast and each default type; with `dynamic_shapes`, sizes that these
    free need no other one. See docs/functions.md.

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
    """What `jit` makes of a function. Threads may call it at once; one of them compiles at a time.

    Of a method it is found bound: the programs of each instance are its own, and go with it.
    """

    def __init__(
        self, function: Callable[..., Any], options: Options | None, dynamic_shapes: Any, kept: _Kept | None = None
    ) -> None:
        if not callable(function):
            raise OptionError("argument of jit", expected="a function", got=type(function).__name__)
        update_wrapper(self, function)
        self._function = function
        self._options = options
        self._dynamic_shapes = dynamic_shapes
        self._kept = kept or _Kept()
        self._of_instances: dict[int, tuple[ref[object], _Kept]] = {}

    def __get__(self, instance: object, owner: type | None = None) -> Jitted:
        if instance is None:
            return self
        bound = cast(Any, self._function).__get__(instance, owner)
        return Jitted(bound, self._options, self._dynamic_shapes, self._kept_of(instance))

    def _kept_of(self, instance: object) -> _Kept:
        """The programs of an instance, which need not be hashable, and is not kept alive by them."""
        key = id(instance)
        found = self._of_instances.get(key)
        if found is not None and found[0]() is instance:
            return found[1]
        kept, known = _Kept(), self._of_instances

        def forgotten(gone: ref[object]) -> None:
            if key in known and known[key][0] is gone:  # not that of another at the same address
                del known[key]

        try:
            known[key] = ref(instance, forgotten), kept
        except TypeError as error:
            expected = "an instance that can be referred to weakly"
            hint = "Add '__weakref__' to the slots of the class."
            got = type(instance).__name__
            raise ArgumentTypeError("the owner of a compiled method", expected=expected, got=got, hint=hint) from error
        return kept

    def __deepcopy__(self, memo: dict[int, Any]) -> Jitted:
        """Itself, as of any function; of a callable object or a method of one, what is made of that one's copy."""
        copied = deepcopy(self._function, memo)
        return self if copied is self._function else Jitted(copied, self._options, self._dynamic_shapes)

    def __reduce__(self) -> str:
        """Functions are pickled by name."""
        return str(getattr(self, "__qualname__", ""))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program for these arguments. Raises what `compile` and a call of a program raise.

        Raises an ArgumentTypeError for a tensor that requires a gradient where gradients are recorded: results carry none.

        Where PyTorch captures what calls it, it is the plain function.
        """
        torch, _, constants = _torch_and_constants()
        if torch.compiler.is_compiling():
            return self._function(*args, **kwargs)
        constants.refuse_recorded(self._function, args, kwargs)
        return self.program(*args, **kwargs)(*args, **kwargs)

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The program for these arguments, compiled if there is none yet: it reports, is saved, and is profiled as any is."""
        key, shapes = _key(self._function, args, kwargs)
        with self._kept.lock:
            found = self._kept.take(key, shapes)
            if found is None:
                with whole_imports():
                    from hotdesk.compiling.compile import compile as compile_program

                open_sizes = self._dynamic_shapes
                found = compile_program(self._function, args, kwargs, dynamic_shapes=open_sizes, options=self._options)
            self._kept.put(key, found)
        return found

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that are kept, the one used last at the end."""
        with self._kept.lock:
            return tuple(program for _, program in self._kept.entries)

    def clear(self) -> None:
        """Forgets all programs, such as after weights were changed that a program has prepared values of."""
        with self._kept.lock:
            self._kept.entries.clear()


class _Kept:
    """The programs of a function by what they depend on but sizes, the one used last at the end."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.entries: list[tuple[_Key, Program]] = []

    def take(self, key: _Key, shapes: _Shapes) -> Program | None:
        """Takes out the last program of this key whose fixed sizes are these."""
        for place in reversed(range(len(self.entries))):
            known, program = self.entries[place]
            if known == key and _fits(program, shapes):
                del self.entries[place]
                return program
        return None

    def put(self, key: _Key, program: Program) -> None:
        self.entries.append((key, program))
        del self.entries[:-PROGRAMS]


def _fits(program: Program, shapes: _Shapes) -> bool:
    """Whether each size is as the program has it, or is open there: whether that takes it, its call will tell."""
    return all(
        not isinstance(known, int) or bool(known == size)
        for spec, shape in zip(program.inputs, shapes, strict=True)
        for known, size in zip(spec.shape, shape, strict=True)
    )


def _key(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[_Key, _Shapes]:
    """What a program depends on: all but the sizes of tensors, and these.

    The text of a structure does not tell classes of one name apart, so that the classes are there too. Autocast and the default
    type decide what operations give.
    """
    torch, pytree, constants = _torch_and_constants()
    classes: list[type] = []

    def note_class(node: object) -> bool:
        if not isinstance(node, torch.Tensor):
            classes.append(type(node))
        return False

    leaves, structure = pytree.tree_flatten((args, dict(kwargs)), is_leaf=note_class)
    cast_to = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None
    found: list[object] = [str(structure), tuple(classes), cast_to, torch.get_default_dtype()]
    shapes: list[tuple[int, ...]] = []
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            found.append((leaf.dtype, leaf.dim()))
            shapes.append(tuple(leaf.shape))
        elif constants.is_constant(leaf):
            found.append((cast(object, type(leaf)), repr(leaf)))
        else:
            constants.refuse_other_arguments(function, args, kwargs)
    return tuple(found), tuple(shapes)


@cache
def _torch_and_constants() -> tuple[Any, Any, Any]:
    """PyTorch, its trees of arguments, and which of these may be constants."""
    try:
        with whole_imports():
            import torch
            from torch.utils import _pytree

            from hotdesk.frontends.torch import constants
    except ImportError as error:
        raise MissingExtraError.of("compiling a function", "torch", "torch") from error
    return torch, _pytree, constants
