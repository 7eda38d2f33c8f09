"""Ops that compute element by element, and what they reduce to."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from tests.e2e.families.given import MASK, POSITIVE, UNIT, Families, X, Y, Z, named

ELEMENTS: Families = {
    "unary": (
        named(
            *(
                "abs",
                "neg",
                "exp",
                "exp2",
                "expm1",
                "sin",
                "cos",
                "tan",
                "sinh",
                "cosh",
                "tanh",
                "asinh",
                "atan",
                "erf",
            ),
            *("sigmoid", "floor", "ceil", "round", "trunc", "frac", "sign", "relu", "square", "sinc", "deg2rad"),
            *("rad2deg", "positive", "nan_to_num", "isnan", "isinf", "isfinite", "logical_not", "sgn"),
        ),
        (X,),
    ),
    "unary, positive": (
        {
            **named("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"),
            "acosh": lambda x: torch.acosh(x + 1),
        },
        (POSITIVE,),
    ),
    "unary, below one": (named("asin", "acos", "atanh", "logit"), (UNIT,)),
    "binary": (
        {
            **named("add", "sub", "mul", "div", "maximum", "minimum", "fmax", "fmin", "atan2", "fmod", "remainder"),
            **named("floor_divide", "logaddexp", "dist", "ldexp"),
            "alpha": lambda x, y: torch.add(x, y, alpha=2),
            "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
            "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
            "lerp": lambda x, y: torch.lerp(x, y, 0.3),
            "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.5),
            "addcdiv": lambda x, y: torch.addcdiv(x, x, y, value=0.5),
            "broadcast": lambda x, y: x[:, :, None] * y[:, None, :] + x.sum(),
            "outer": lambda x, y: torch.outer(x[0], y[0]),
            "cosine": lambda x, y: F.cosine_similarity(x, y, dim=1),
            "cross": lambda x, y: torch.linalg.cross(x[:, :3], y[:, :3]),
        },
        (X, Y),
    ),
    "powers": (
        {
            **named("pow", "xlogy", "heaviside"),
            **{f"to the {n}": lambda x, _, n=n: x**n for n in (-1, 0, 0.5, 1, 2, 2.5, 3, 4)},
            "of two": lambda x, _: 2.0**x,
        },
        (POSITIVE, POSITIVE.flip(0)),
    ),
    "comparisons": (
        {
            **named("eq", "ne", "lt", "le", "gt", "ge", "isclose", "logical_and", "logical_or", "logical_xor"),
            "itself": lambda x, y: (x == x, x != x),
            "numbers": lambda x, y: (x > 0, x <= 0.5, x == 1, x != 2, y < 1),
        },
        (X, Y),
    ),
    "scalars": (
        {
            "clamp": lambda x: (x.clamp(-0.5, 0.5), x.clamp(min=0), x.clamp(max=0), x.clamp(min=x.flip(0))),
            "from the left": lambda x: (3 - x, 2 / x, 1 + x),
            "where": lambda x: (torch.where(x > 0, x, 0.0), torch.where(x > 0, 1, 0), x.masked_fill(x > 0, -1.0)),
            "integers": lambda x: (x + 1, x * 2, x - 3, x / 4, x // 2, x % 2, -x % -2),
        },
        (X,),
    ),
    "masks": (
        {
            "bits": lambda x, m: (m & (x > 0), m | (x > 0), m ^ (x > 0), ~m),
            "where": lambda x, m: torch.where(m, x, -x),
            "fill": lambda x, m: x.masked_fill(m, float("-inf")).softmax(-1),
            "any": lambda x, m: (m.any(), m.all(), m.any(1), m.all(0), m.sum(), m.sum(1), m.float().mean()),
            "arithmetic": lambda x, m: (m * x, m + m, m.long() + 1),
        },
        (X, MASK),
    ),
    "whole reductions": (
        named(
            *(
                "sum",
                "mean",
                "amax",
                "amin",
                "prod",
                "any",
                "all",
                "argmax",
                "argmin",
                "var",
                "std",
                "max",
                "min",
                "norm",
            ),
            *("nansum", "count_nonzero"),
        ),
        (Z,),
    ),
    "reductions": (
        {
            **{
                f"{name} {dim}": lambda x, name=name, dim=dim: getattr(torch, name)(x, dim=dim)
                for dim in (1, -1)
                for name in (
                    *(
                        "sum",
                        "mean",
                        "amax",
                        "amin",
                        "prod",
                        "any",
                        "all",
                        "argmax",
                        "argmin",
                        "var",
                        "std",
                        "max",
                        "min",
                    ),
                    *("nansum", "nanmean", "logsumexp", "count_nonzero"),
                )
            },
            "kept": lambda x: (x.sum((0, 2), keepdim=True), x.std(-1, keepdim=True), x.argmax(1, keepdim=True)),
            "two": lambda x: (x.mean((0, 2)), x.var((1, 2), correction=0), torch.var_mean(x, dim=1)),
            "norms": lambda x: [
                x.norm(p=1, dim=1),
                *(torch.linalg.vector_norm(x, n, -1) for n in (2, float("inf"), 3)),
            ],
            "normalize": lambda x: F.normalize(x, dim=1),
        },
        (Z,),
    ),
    "along a dim": (
        {
            **{
                f"{name} {dim}": lambda x, name=name, dim=dim: getattr(torch, name)(x, dim=dim)
                for dim in (0, 1, -1)
                for name in ("cumsum", "softmax", "log_softmax")
            },
            **{name: lambda x, name=name: getattr(torch, name)(x, dim=1) for name in ("cumprod", "logcumsumexp")},
            "sort": lambda x: (x.sort(1), x.sort(-1, descending=True).values, x.argsort(-1)),
            "topk": lambda x: (x.topk(2, -1), x.topk(1, 1, largest=False).values),
            "kthvalue": lambda x: torch.kthvalue(x, 2, 1),
            "diff": lambda x: (x.diff(), torch.trapezoid(x)),
        },
        (Z,),
    ),
}
