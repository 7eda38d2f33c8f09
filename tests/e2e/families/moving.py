"""Ops that move elements: joined, cut, padded, turned round, indexed, written, made."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from tests.e2e.checking import random
from tests.e2e.families.given import INDEX, ROW, Families, X, Y, Z


def written_to(x: Tensor) -> Tensor:
    table = torch.zeros(3, 5)
    table[:, 1:3] = x[:, :2]
    table[0] = 1.0
    table[2] += x[1]
    return table + x


MOVING: Families = {
    "joining and splitting": (
        {
            "cat": lambda x, y: (torch.cat([x, y]), torch.cat([x, y, x * 2], 1), torch.cat([x.relu(), y], -1)),
            "stack": lambda x, y: (torch.stack([x, y]), torch.stack([x, y], 1), torch.stack([x, y], -1)),
            "split": lambda x, y: (x.split(2, 1), y.split([1, 2, 2], 1), x.chunk(3), x.unbind(0), x.tensor_split(2, 1)),
            "meshgrid": lambda x, y: torch.meshgrid(x[0], y[:, 0], indexing="ij"),
            "kron": lambda x, y: torch.kron(x[:2, :2], y[:2, :3]),
        },
        (X, Y),
    ),
    "padding": (
        {
            "constant": lambda x: (
                F.pad(x, (1, 2)),
                F.pad(x, (1, 2, 0, 1), value=0.5),
                F.pad(x, (-1, 2)),
                F.pad(x, (0, -2)),
            ),
            "reflect": lambda x: F.pad(x, (1, 2), mode="reflect"),
            "replicate": lambda x: F.pad(x, (1, 2), mode="replicate"),
            "circular": lambda x: F.pad(x, (1, 2), mode="circular"),
        },
        (ROW,),
    ),
    "rearrangement": (
        {
            "permute": lambda x: (x.permute(2, 0, 1), x.permute(2, 0, 1).reshape(4, 6), x.movedim(0, -1), x.mT),
            "views": lambda x: (
                x.view(6, 4),
                x.flatten(1),
                x.unflatten(1, (1, 3)),
                x.unsqueeze(0).squeeze(0),
                x.ravel(),
            ),
            "slices": lambda x: (
                x[:, 1:],
                x[..., ::2],
                x[-1],
                x[:, -2:, :-1],
                x.select(1, 1),
                x.narrow(2, 1, 2),
                x[0, 1],
            ),
            "repeats": lambda x: (
                x[:, None].expand(2, 5, 3, 4),
                x.repeat(2, 1, 3),
                x.tile((2,)),
                x.repeat_interleave(2, 1),
            ),
            "moves": lambda x: (
                x.roll((1, 2), (0, 1)),
                x.roll(2),
                x.roll((5, -7), (0, -1)),
                x.flip(1),
                x.flip(0, 2),
                torch.rot90(x),
                x.swapaxes(0, 1),
            ),
            "windows": lambda x: x.unfold(1, 2, 1),
            "triangles": lambda x: (x.tril(), x.triu(1), x.diagonal(0, 1, 2), torch.diag(x[0, 0]), torch.trace(x[0])),
        },
        (Z,),
    ),
    "indexing": (
        {
            "gather": lambda x, i: (x.gather(1, i), torch.take_along_dim(x, i, 1), torch.take(x, i)),
            "select": lambda x, i: (x.index_select(0, i[0]), x[i], x[:, i], x[i, i], x[i[0]], x[torch.tensor([-1, 0])]),
            "embedding": lambda x, i: F.embedding(i, x),
            "one hot": lambda x, i: F.one_hot(i, 5),
            "isin": lambda x, i: (
                torch.isin(i, torch.tensor([1, 2])),
                torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])),
            ),
        },
        (X, INDEX),
    ),
    "writing": (
        {
            "scatter": lambda x, i, s: (x.scatter(0, i, s), x.scatter_add(0, i, s), x.scatter_reduce(0, i, s, "amax")),
            "index": lambda x, i, s: (x.index_add(1, i[0], s), x.index_copy(1, i[0], s), x.index_put((i[:, 0],), x)),
            "put": lambda x, i, s: (x.index_put((i[:, 0], i[:, 1]), s[:, 0], accumulate=True),),
            "slices": lambda x, i, s: (torch.slice_scatter(x, s, 1, 1, 3), torch.select_scatter(x, x[0], 0, 1)),
            "local": lambda x, i, s: written_to(x),
        },
        (X, INDEX, random(3, 2)),
    ),
    "new tensors": (
        {
            "filled": lambda x: (torch.full((3, 5), 2.0) + x, torch.ones_like(x) + x, torch.zeros(5), torch.eye(4) * 2),
            "ranges": lambda x: (
                x + torch.arange(5),
                x + torch.arange(0, 1, 0.2),
                x * torch.linspace(0, 1, 5),
                torch.arange(9),
            ),
            "constants": lambda x: (
                torch.full((2,), 7.0) + (-2),
                torch.full((2,), 7.0) % -2,
                torch.full((2,), 1) < 1.5,
            ),
            "powers": lambda x: (
                x * torch.logspace(0, 1, 5),
                torch.vander(x[0]),
                torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]) * x,
            ),
            "casts": lambda x: (x.int(), x.double(), x.half(), x.bool(), (x * 9).to(torch.int8), x.long().float() / 3),
        },
        (X,),
    ),
}
