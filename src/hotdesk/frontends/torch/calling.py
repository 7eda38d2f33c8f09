"""How a Python call maps to the tensors of an exported program, and its results back to what the model returns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sympy
import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from hotdesk.errors import ArgumentCountError, ArgumentTypeError, DtypeError
from hotdesk.frontends.torch.carried import carrier, restored
from hotdesk.runtime.interface import Calling


class ResultSlot(int):
    """The number of a tensor result, told apart from an integer that the model returns."""


class ResultHeld(int):
    """The number of a tensor result that holds a number which the model returns."""


@dataclass(frozen=True, slots=True)
class ResultNumber:
    """A number that follows from the sizes of the arguments."""

    expression: sympy.Basic
    kind: Callable[[Any], Any]

    def at(self, symbols: Mapping[str, int]) -> Any:
        return self.kind(
            cast(Any, self.expression).subs({sympy.Symbol(name): value for name, value in symbols.items()})
        )


def fill_template(template: Sequence[Any], results: Sequence[Any], symbols: Mapping[str, int]) -> list[Any]:
    """What a model returns, as a list: a template with results and numbers in their places, everything else as it stands."""
    return [
        results[entry]
        if isinstance(entry, ResultSlot)
        else results[entry].item()
        if isinstance(entry, ResultHeld)
        else entry.at(symbols)
        if isinstance(entry, ResultNumber)
        else entry
        for entry in template
    ]


@dataclass(frozen=True, slots=True)
class Carried:
    """The element types of tensor inputs and results that tensors of another type carry; None for the rest."""

    inputs: tuple[torch.dtype | None, ...] = ()
    results: tuple[torch.dtype | None, ...] = ()

    def given(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """What carries the inputs. Raises DtypeError if one has another type than the model was compiled for."""
        return [
            each if dtype is None else _carrier(each, dtype) for each, dtype in zip(inputs, self.inputs, strict=True)
        ]

    def made(self, results: Sequence[Any]) -> Sequence[Any]:
        """What the results carry."""
        return [
            each if dtype is None else restored(torch.as_tensor(each), dtype)
            for each, dtype in zip(results, self.results, strict=True)
        ]


def _carrier(value: Any, dtype: torch.dtype) -> torch.Tensor:
    if not isinstance(value, torch.Tensor) or value.dtype != dtype:
        got = str(value.dtype) if isinstance(value, torch.Tensor) else type(value).__name__
        raise DtypeError("an argument", expected=f"a torch tensor of {dtype}", got=got)
    return carrier(value).contiguous()


class TorchCalling(Calling):
    """Flattens arguments the way the model was exported and puts results back into the model's own structure."""

    def __init__(
        self,
        exported: ExportedProgram,
        template: Sequence[Any],
        carried: Carried | None = None,
        held: Mapping[str, Any] | None = None,
    ) -> None:
        """`held` are constants that the program was exported without, by the path of the argument."""
        carried = carried or Carried()
        self._in_spec = exported.call_spec.in_spec
        self._out_spec = exported.call_spec.out_spec
        in_spec: Any = self._in_spec
        positional, keywords = in_spec.unflatten(range(in_spec.num_leaves))
        self._keywords: tuple[str, ...] = tuple(keywords)
        signature = exported.module_call_graph[0].signature
        names = list(signature.forward_arg_names or ()) if signature is not None else []
        self._positional: tuple[str, ...] = tuple(names[: len(positional)])
        self._template = tuple(template)
        # What each flat argument must be: None for a tensor, else the constant that export baked in.
        self._constants: list[tuple[str, Any] | None] = []
        values = {spec.arg.name: spec.arg for spec in exported.graph_signature.input_specs}
        named = _named((positional, keywords), self._positional)
        for (path, name), given in zip(named, exported.graph_signature.user_inputs, strict=True):
            if held and path in held:
                self._constants.append((name, held[path]))
                continue
            argument = values.get(str(given)) if isinstance(given, str) else None
            is_tensor = argument is not None and type(argument).__name__ == "TensorArgument"
            self._constants.append(None if is_tensor else (name, getattr(argument, "value", given)))
        self._single_tensors = all(
            constant is None for constant in self._constants
        ) and self._in_spec == pytree.tree_structure((tuple([0] * len(self._constants)), {}))

        self._carries_inputs = carried if any(carried.inputs) else None
        self._carries_results = carried if any(carried.results) else None
        slots = [isinstance(entry, ResultSlot) for entry in self._template]
        in_order = all(slots) and [int(entry) for entry in self._template] == list(range(len(slots)))
        self._single_result = in_order and len(slots) == 1 and self._out_spec == pytree.tree_structure(0)
        self._tuple_of_results = in_order and self._out_spec == pytree.tree_structure(tuple([0] * len(slots)))

    @property
    def structures(self) -> tuple[Any, Any]:
        """PyTorch's description of the containers of the arguments and of what is returned."""
        return self._in_spec, self._out_spec

    @property
    def positional(self) -> tuple[str, ...]:
        """The names of positional arguments, as far as they have any."""
        return self._positional

    @property
    def keywords(self) -> tuple[str, ...]:
        """The names of arguments that come by name alone."""
        return self._keywords

    @property
    def constants(self) -> tuple[tuple[str, Any] | None, ...]:
        """Of each flat argument name and value if it was fixed; None for a tensor."""
        return tuple(self._constants)

    @property
    def template(self) -> tuple[Any, ...]:
        """Of each result its number among the tensors, a number that follows from sizes, or a constant."""
        return self._template

    @property
    def carries(self) -> bool:
        """Whether tensors of other types stand for any of the inputs or results."""
        return self._carries_inputs is not None or self._carries_results is not None

    @property
    def parameters(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        inputs = itertools.count()
        numbers = [next(inputs) if constant is None else -1 for constant in self._constants]
        positional, keywords = cast(Any, self._in_spec).unflatten(numbers)
        names = (*self._positional, *("" for _ in positional[len(self._positional) :]), *self._keywords)
        values = (*positional, *(keywords[name] for name in self._keywords))
        leaves = (cast("list[int]", pytree.tree_leaves(value)) for value in values)
        return tuple((name, tuple(n for n in found if n >= 0)) for name, found in zip(names, leaves, strict=True))

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        if self._single_tensors and not kwargs:
            complete = self._carries_inputs is not None and len(args) == len(self._constants)
            return cast(Carried, self._carries_inputs).given(args) if complete else args
        arranged = self._arranged(args, kwargs)
        leaves, spec = pytree.tree_flatten(arranged)
        if spec != self._in_spec:
            leaves, spec = pytree.tree_flatten(_tuples_for_sizes(arranged))
        if spec != self._in_spec:
            expected = len(self._constants)
            if len(leaves) != expected:
                raise ArgumentCountError("wrong arguments", expected=f"{expected} values", got=f"{len(leaves)}")
            raise ArgumentTypeError(
                "the arguments are nested differently than when the model was compiled",
                expected=str(self._in_spec),
                got=str(spec),
            )
        inputs: list[Any] = []
        for leaf, constant in zip(leaves, self._constants, strict=True):
            if constant is None:
                inputs.append(leaf)
            elif not _same(leaf, constant[1]):
                raise ArgumentTypeError(
                    f"argument `{constant[0]}` was fixed when the model was compiled",
                    expected=repr(constant[1]),
                    got=type(leaf).__name__ if isinstance(leaf, torch.Tensor) else repr(leaf),
                    hint="Compile again with the new value, or compile it as a tensor.",
                )
        return inputs if self._carries_inputs is None else self._carries_inputs.given(inputs)

    def _arranged(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """As at compilation: positional arguments that came by name in their places, keywords in their order."""
        named = dict(kwargs)
        missing = self._positional[len(args) :]
        filled = [named.pop(name) for name in missing] if all(name in named for name in missing) else []
        return (*args, *filled), {name: named.pop(name) for name in self._keywords if name in named} | named

    def unflatten(self, results: Sequence[Any], symbols: Mapping[str, int], leaves: Sequence[object]) -> Any:
        if self._carries_results is not None:
            results = self._carries_results.made(results)
        if self._single_result:
            return results[0]
        if self._tuple_of_results:
            return tuple(results)
        returned = fill_template(self._template, results, symbols)
        return pytree.tree_unflatten(returned, cast(Any, self._out_spec))


def _named(arguments: tuple[Any, Any], positional: Sequence[str]) -> list[tuple[str, str]]:
    """The paths of leaves of positional arguments and of those by name, and as users write them: `n`, or `options['scale']`."""
    paths: list[Any] = [path for path, _ in pytree.tree_flatten_with_path(arguments)[0]]
    named: list[tuple[str, str]] = []
    for path in paths:
        kind, first, *rest = path
        is_named = kind.idx == 0 and first.idx < len(positional)
        name = positional[int(first.idx)] if is_named else str(first.idx if kind.idx == 0 else first.key)
        named.append((pytree.keystr(path), name + pytree.keystr(tuple(rest))))
    return named


def _tuples_for_sizes(arguments: Any) -> Any:
    """Arguments with a tuple for each `torch.Size`, as `torch.export` has them."""

    def is_size(value: object) -> bool:
        return isinstance(value, torch.Size)

    def as_tuple(value: object) -> object:
        return tuple(value) if isinstance(value, torch.Size) else value

    return pytree.tree_map(as_tuple, arguments, is_leaf=is_size)


def _same(given: object, fixed: object) -> bool:
    """Whether a constant is the one that export baked in; `1`, `1.0` and `True` are three constants."""
    return type(given) is type(fixed) and (given == fixed or (given != given and fixed != fixed))
