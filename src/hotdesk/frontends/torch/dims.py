"""The names of symbolic sizes: from `dynamic_shapes`, else by where they come from, as in `dim 0 of %x` or `count of nonzero`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import sympy
import torch
from torch._ops import OpOverload
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from hotdesk.frontends.torch.calling import ResultNumber
from hotdesk.frontends.torch.data_sizes import defined_symbols
from hotdesk.runtime.interface import TensorSpec
from hotdesk.sizes.expressions import replaced
from hotdesk.sizes.reading import is_name
from hotdesk.sizes.size import Bounds, Size

_CARRIED = "number that a loop carries"
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
    numbers: dict[str, int] = {}
    words: dict[str, str] = {}

    def call(symbol: str, word: str) -> None:
        if symbol not in words:
            numbers[word] = numbers.get(word, 0) + 1
            words[symbol] = word if numbers[word] == 1 else f"{word} {numbers[word]}"

    nodes = [node for graph in graphs for node in graph.nodes]
    for node in nodes:
        if node.op == "call_function":
            target: Any = node.target
            name = str(target).split(".")[-2 if isinstance(target, OpOverload) else -1].strip("_")
            for symbol in sorted(map(str, defined_symbols(node))):
                call(symbol, _WORDS.get(name) or f"count of {name.rstrip('0123456789')}")
    for node in nodes:
        value = node.meta.get("val")
        if node.op == "placeholder" and isinstance(value, torch.SymInt):
            for symbol in sorted(map(str, free_unbacked_symbols(value))):
                call(symbol, _CARRIED)
    return words


def dimension_names(environment: Any) -> dict[str, str]:
    """The symbol that each named `Dim` became: PyTorch's `ShapeEnv` has both by the place that a size was read from.

    There is no `ShapeEnv` where no size varies; that of a program in a file has lost the names.
    """
    called: Mapping[str, str] = getattr(environment, "source_name_to_debug_name", {})
    roots = {word for text in called.values() for word in re.findall(r"\w+", text)}  # of `2*half`
    names: dict[str, str] = {}
    for symbol, places in getattr(environment, "var_to_sources", {}).items():
        spelled = [place.name if isinstance(place.name, str) else place.name() for place in places]
        found = [called.get(place, place) for place in spelled if place in called or place in roots]
        now = environment.replace(symbol)
        if isinstance(now, sympy.Symbol):
            names.update((name, str(now)) for name in found if is_name(name))
    return names


def merged_names(environment: Any, named: Mapping[str, str]) -> dict[str, str]:
    """The symbols of named `Dim`s by now: PyTorch may have put another in the place of one that it found to be equal."""
    return {name: _now(environment, symbol) for name, symbol in named.items()}


def merged_limits(environment: Any, limits: Bounds, earlier: Bounds) -> dict[str, tuple[int, int | None]]:
    """The limits of symbols that are left; what stands in the place of another keeps to the limits that this had `earlier`."""
    merged = {symbol: ends for symbol, ends in limits.items() if _now(environment, symbol) == symbol}
    for symbol, (low, high) in earlier.items():
        now = _now(environment, symbol)
        if now == symbol or now not in merged:
            continue
        least, most = merged[now]
        highs = [each for each in (most, high) if each is not None]
        merged[now] = max(least, low), min(highs) if highs else None
    return merged


def _now(environment: Any, symbol: str) -> str:
    """What stands for a symbol by now; itself where that is no symbol."""
    known = getattr(environment, "var_to_range", {})
    found = next((environment.replace(each) for each in known if str(each) == symbol), None)
    return str(found) if isinstance(found, sympy.Symbol) else symbol
