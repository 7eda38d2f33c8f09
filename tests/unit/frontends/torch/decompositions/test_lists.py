"""Ops on lists of tensors are traced tensor by tensor."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from hotdesk.frontends.torch.decompositions.lists import LISTS

aten: Any = torch.ops.aten
SHAPES = ((3, 5), (7,), ())


def tensors(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in SHAPES]


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("add.Scalar", (2.0,)),
        ("add.List", (tensors(1),)),
        ("mul.ScalarList", ([1.0, 2.0, 3.0],)),
        ("mul.Tensor", (torch.tensor(3.0),)),
        ("addcmul.Scalar", (tensors(1), tensors(2), 0.5)),
        ("addcdiv.ScalarList", (tensors(1), tensors(2), [1.0, 2.0, 3.0])),
        ("lerp.Scalar", (tensors(1), 0.25)),
        ("maximum.List", (tensors(1),)),
        ("maximum.Scalar", (0.5,)),
        ("minimum.ScalarList", ([0.5, 0.0, -1.0],)),
        ("neg.default", ()),
    ],
)
def test_lists(name: str, rest: tuple[Any, ...]) -> None:
    packet, overload = name.split(".")
    _agree(getattr(getattr(aten, f"_foreach_{packet}"), overload), tensors(0), *rest)


def test_powers_of_one_number() -> None:
    _agree(aten._foreach_pow.ScalarAndTensor, 0.5, [torch.tensor(2.0), torch.tensor(3.0)])


def _agree(op: Any, *args: Any) -> None:
    """Traced, an op is one op for each tensor, and computes what it does on whole lists."""
    traced = make_fx(op, decomposition_table=LISTS)(*args)
    calls = [node for node in traced.graph.nodes if node.op == "call_function"]
    assert not [node for node in calls if "_foreach_" in str(node.target)]
    assert len(calls) >= len(op(*args))
    torch.testing.assert_close(traced(*args), op(*args))
