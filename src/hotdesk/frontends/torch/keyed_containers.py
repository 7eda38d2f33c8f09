"""Keys for containers of values that were registered without any, as `diffusers` registers its results.

`torch.export` names every tensor among arguments and results by the path to it, and refuses a type that tells no keys:
`torch.utils._pytree.register_pytree_node` takes `flatten_with_keys_fn` as an option. What flattens a container tells enough: how
many values it holds, and mostly their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from torch.utils import _pytree as pytree


def key_containers() -> None:
    """Gives each registered type of containers that tells no keys some, for good: the strings in its context, if these are as
    many as its values, or else places. How such containers are taken apart and put together stays as it is."""
    for kind, node in list(pytree.SUPPORTED_NODES.items()):
        if node.flatten_with_keys_fn is None:
            pytree.SUPPORTED_NODES[kind] = node._replace(flatten_with_keys_fn=_with_keys(node.flatten_fn))


def _with_keys(flatten: Callable[[Any], tuple[Any, Any]]) -> Callable[[Any], tuple[list[tuple[Any, Any]], Any]]:
    def flatten_with_keys(container: Any) -> tuple[list[tuple[Any, Any]], Any]:
        values, context = flatten(container)
        return list(zip(_keys(context, len(values)), values, strict=True)), context

    return flatten_with_keys


def _keys(context: object, count: int) -> list[Any]:
    names = list(cast("Sequence[object]", context)) if isinstance(context, list | tuple) else []
    if len(names) == count and all(isinstance(name, str) for name in names):
        return [pytree.GetAttrKey(str(name)) for name in names]
    return [pytree.SequenceKey(place) for place in range(count)]


__all__ = ["key_containers"]
