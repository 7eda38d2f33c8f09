"""The names of sizes: those that `dynamic_shapes` gives, else `dim 0 of %x`, for the symbols that `torch.export` names anew; one
that depends on the values of tensors is the `count of nonzero`, or the `value of item`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import sympy
import torch
from torch._ops import OpOverload

from hotdesk.frontends.torch.calling import ResultNumber
from hotdesk.frontends.torch.data_sizes import defined_symbols
from hotdesk.runtime.interface import TensorSpec
from hotdesk.sizes.expressions import replaced
from hotdesk.sizes.reading import is_name
from hotdesk.sizes.size import Size

_WORDS = {"local_scalar_dense": "value of item", "index": "count of mask"}


class SizeNames:
    """What the symbols of an export are called: the user's `Dim("batch")`, or the dim of the first input that has the size."""

    def __init__(
        self, given: Mapping[str, str], inputs: Sequence[TensorSpec], graphs: Iterable[torch.fx.Graph] = ()
    ) -> None:
        """`given` are symbols by the names that the user gave them; `inputs` the tensors among the arguments; `graphs` have the
        ops that count."""
        named = _counted(graphs)
        for spec in inputs:
            for position, size in enumerate(spec.shape):
                if isinstance(size, sympy.Symbol) and spec.name.isidentifier():
                    named.setdefault(str(size), f"dim {position} of %{spec.name}")
        named.update({symbol: name for name, symbol in given.items() if is_name(name)})
        self._named = named

    def of(self, symbol: str) -> str:
        return self._named.get(symbol, symbol)

    def size(self, size: Any) -> Any:
        """A size, or another expression of SymPy's, in these names."""
        symbols = cast(Any, size).free_symbols if isinstance(size, sympy.Basic) else ()
        return replaced(size, {each: sympy.Symbol(self.of(str(each))) for each in symbols})

    def spec(self, spec: TensorSpec) -> TensorSpec:
        sizes: tuple[Size, ...] = tuple(self.size(size) for size in spec.shape)
        return replace(spec, shape=sizes)

    def result(self, slot: Any) -> Any:
        """An entry of a template of results."""
        return replace(slot, expression=self.size(slot.expression)) if isinstance(slot, ResultNumber) else slot


def _counted(graphs: Iterable[torch.fx.Graph]) -> dict[str, str]:
    """Words for sizes and numbers that are known only when the program runs, after the ops that find them."""
    ops: dict[str, int] = {}
    words: dict[str, str] = {}
    for node in (node for graph in graphs for node in graph.nodes if node.op == "call_function"):
        for symbol in sorted(map(str, defined_symbols(node))):
            if symbol in words:
                continue
            target: Any = node.target
            name = str(target).split(".")[-2 if isinstance(target, OpOverload) else -1].strip("_")
            word = _WORDS.get(name) or f"count of {name.rstrip('0123456789')}"
            ops[word] = ops.get(word, 0) + 1
            words[symbol] = word if ops[word] == 1 else f"{word} {ops[word]}"
    return words


def dimension_names(
    model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], dynamic_shapes: Any, inputs: Sequence[TensorSpec]
) -> dict[str, str]:
    """The symbol that each named `Dim` became. `inputs` are the tensors among the arguments, flattened in order.

    What is written in a form that is not understood gives no names; it was `torch.export` that had to read it.
    """
    forward = model.forward if isinstance(model, torch.nn.Module) else None
    if forward is None or dynamic_shapes is None:
        return {}
    try:
        given = inspect.signature(forward).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
    wanted: Any = dynamic_shapes
    if not isinstance(dynamic_shapes, Mapping):
        wanted = dict(zip(given, cast("Sequence[Any]", dynamic_shapes), strict=False))
    found = [entry for name, value in given.items() for entry in _tensors(value, wanted.get(name))]
    if len(found) != len(inputs):
        return {}
    names: dict[str, str] = {}
    for dims, spec in zip(found, inputs, strict=True):
        for position, dim in _entries(dims):
            name = getattr(getattr(dim, "root", dim), "__name__", None)  # the root of `2 * Dim("half")` has the name
            size = spec.shape[position] if -len(spec.shape) <= position < len(spec.shape) else 0
            symbols = [] if isinstance(size, int) else [str(each) for each in cast(Any, size).free_symbols]
            if isinstance(name, str) and is_name(name) and len(symbols) == 1:
                names[name] = symbols[0]
    return names


def _tensors(value: Any, dims: Any) -> Iterator[Any]:
    """What is said of each tensor in a value."""
    if isinstance(value, torch.Tensor):
        yield dims
    elif isinstance(value, Mapping):
        for key, inner in cast("Mapping[Any, Any]", value).items():
            yield from _tensors(inner, cast("Mapping[Any, Any]", dims).get(key) if isinstance(dims, Mapping) else None)
    elif isinstance(value, tuple | list):
        inside = cast("Sequence[Any]", value)
        said = cast("Sequence[Any]", dims) if isinstance(dims, tuple | list) else [None] * len(inside)
        for inner, each in zip(inside, said, strict=False):
            yield from _tensors(inner, each)


def _entries(dims: Any) -> list[tuple[int, Any]]:
    if isinstance(dims, Mapping):
        return [(k, dim) for k, dim in cast("Mapping[Any, Any]", dims).items() if isinstance(k, int)]
    return list(enumerate(cast("Sequence[Any]", dims))) if isinstance(dims, tuple | list) else []
