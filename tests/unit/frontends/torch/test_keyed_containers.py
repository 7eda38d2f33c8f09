"""Containers that were registered without keys are given some."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch
from torch.utils import _pytree as pytree

import hotdesk
from hotdesk.frontends.torch.keyed_containers import key_containers


class Named(OrderedDict[str, Any]):
    """A dictionary whose values are attributes too, as results of models often are."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Placed:
    """Values without names."""

    def __init__(self, *values: Any) -> None:
        self.values = values


pytree.register_pytree_node(
    Named,
    lambda named: (list(named.values()), list(named)),
    lambda values, names: Named(zip(names, values, strict=True)),
)
pytree.register_pytree_node(Placed, lambda placed: (list(placed.values), None), lambda values, _: Placed(*values))


def test_keys_are_names_or_places() -> None:
    key_containers()
    tree = [Named(low=1, high=Placed(2, (3,))), Named()]
    leaves, spec = pytree.tree_flatten_with_path(tree)
    assert [pytree.keystr(path) for path, _ in leaves] == ["[0].low", "[0].high[0]", "[0].high[1][0]"]
    assert spec == pytree.tree_structure(tree)


def test_types_with_keys_stay_as_they_are() -> None:
    key_containers()
    before = dict(pytree.SUPPORTED_NODES)
    key_containers()
    assert all(pytree.SUPPORTED_NODES[kind] is node for kind, node in before.items())


def test_arguments_and_results_of_compiled_functions() -> None:
    def split(pair: Named, more: Placed) -> Named:
        low, high = more.values
        return Named(sample=pair.x * low, rest=Placed(pair.y + high, pair.x))

    pair, more = Named(x=torch.randn(3), y=torch.randn(2, 2)), Placed(torch.randn(3), torch.randn(2))
    program = hotdesk.compile(split, (pair, more))
    found, expected = program(pair, more), split(pair, more)
    assert type(found) is Named
    assert list(found) == ["sample", "rest"]
    torch.testing.assert_close(found.sample, expected.sample)
    for one, other in zip(found.rest.values, expected.rest.values, strict=True):
        torch.testing.assert_close(one, other)


def test_sizes_that_vary() -> None:
    def doubled(pair: Named) -> Named:
        return Named(sample=pair.x * 2)

    n = torch.export.Dim("n", min=2, max=9)
    program = hotdesk.compile(doubled, (Named(x=torch.randn(4, 3)),), dynamic_shapes=([{0: n}],))
    for size in 2, 7:
        x = torch.randn(size, 3)
        torch.testing.assert_close(program(Named(x=x)).sample, 2 * x)
