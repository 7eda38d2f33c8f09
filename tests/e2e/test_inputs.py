"""Everything a call may pass and get back: layouts, element types, structures, sizes that vary, threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import hotdesk
from hotdesk.explain import Outcome, Reason
from hotdesk.frontends.captured import Weight
from hotdesk.frontends.torch.export import capture
from tests.e2e.checking import Call, ConvNet, Transformer, agree, close, integers, random, seeded

# Layouts


@pytest.mark.parametrize(
    ("given", "copied"),
    [
        (random(6, 4).t(), 96),
        (random(4, 12)[:, ::2], 96),
        (random(1, 6).expand(4, 6), 96),
        (random(5, 6)[1:], 0),
        (random(4, 6).requires_grad_(), 0),
        (nn.Parameter(random(4, 6)), 0),
    ],
    ids=["transposed", "strided", "expanded", "offset", "requires_grad", "parameter"],
)
def test_layouts_of_arguments(given: torch.Tensor, copied: int) -> None:
    program = hotdesk.compile(Call(lambda x: x.tanh() @ x.t()), (random(4, 6),))
    result = program(given)
    close(result, given.tanh() @ given.t())
    assert not result.requires_grad
    assert program.memory(given).copies == copied
    notes = [d for d in program.decisions(given) if d.reason is Reason.NON_CONTIGUOUS_ARGUMENT]
    assert [(d.outcome, d.bytes) for d in notes] == ([(Outcome.COPIED, copied)] if copied else [])
    assert ("non-contiguous arguments" in program.report(given)) == bool(copied)


def test_channels_last_argument() -> None:
    model, image = seeded(ConvNet), random(2, 3, 12, 12)
    program = agree(model, (image,))
    turned = image.to(memory_format=torch.channels_last)
    close(program(turned), model(image))
    assert program.memory(turned).copies == image.nbytes


def test_example_arguments_may_be_strided() -> None:
    agree(lambda x, y: x @ y + y.sum(), (random(6, 4).t(), random(6, 10)[:, ::2]))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(random(4, 4), requires_grad=False)
        self.register_buffer("bias", random(4, seed=3))
        self.kept = KEPT

    def forward(self, x: torch.Tensor, given: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.weight @ x + given["y"] * self.bias + self.kept


KEPT = random(4, 4, seed=8)


@pytest.mark.parametrize("which", ["one tensor", "views", "parameters", "a parameter and a constant"])
def test_example_arguments_may_be_one_tensor(which: str) -> None:
    """They say nothing about calls with two."""
    model, same = Tied(), random(4, 4, seed=5)
    examples = {
        "one tensor": (same, same),
        "views": (same, same.t()),
        "parameters": (model.weight, model.bias.expand(4, 4)),
        "a parameter and a constant": (model.weight.t(), KEPT),
    }
    x, y = examples[which]
    program = hotdesk.compile(model, (x, {"y": y}))
    for first, second in ((x, y), (random(4, 4, seed=6), random(4, 4, seed=7)), (y, x)):
        close(program(first, {"y": second}), model(first, {"y": second}))


def test_an_example_that_changes_may_be_another_ones_memory() -> None:
    def forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y * 2

    same, changed = random(4, 4), random(4, 4, seed=5)
    for other in (same, same[0]):
        program, begin = hotdesk.compile(Call(forward), (same, other)), changed.clone()
        close(program(begin, other), other * 2)
        close(begin, changed + 1)
    close(same, random(4, 4))


def test_aliasing_arguments() -> None:
    program = agree(lambda x, y: (x + y, x * 2 - y), (random(4, 4), random(4, 4, seed=5)))
    same = random(4, 4, seed=9)
    close(program(same, same), (same + same, same * 2 - same))
    whole = random(6, 4, seed=10)
    close(program(whole[:4], whole[2:]), (whole[:4] + whole[2:], whole[:4] * 2 - whole[2:]))


def test_strided_parameters() -> None:
    class Turned(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.turned = nn.Parameter(random(5, 4).t())
            self.sliced = nn.Parameter(random(4, 10, seed=3)[:, ::2])
            self.register_buffer("broadcast", random(4, 1, seed=4).expand(4, 5))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.turned + x @ self.sliced + x.relu() @ self.broadcast

    program = agree(Turned(), (random(3, 4),))
    assert program.memory().weights >= 80


def test_channels_last_weights_stay_where_they_are() -> None:
    model = seeded(ConvNet).to(memory_format=torch.channels_last)
    captured = capture(model, (random(2, 3, 12, 12),))
    pointers = {weight.tensor.data_ptr() for weight in captured.arguments if isinstance(weight, Weight)}
    assert {weight.data_ptr() for weight in model.parameters()} <= pointers
    agree(model, (random(2, 3, 12, 12),))


def test_tied_weights_count_once() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(20, 8)
            self.head = nn.Linear(8, 20, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.head(self.embedding(ids))

    program = agree(seeded(Tied), (integers(20, 3, 4),))
    assert program.memory().weights == 20 * 8 * 4


def test_weights_are_read_at_every_call() -> None:
    model, x = seeded(lambda: nn.Linear(4, 3)), random(2, 4)
    program = hotdesk.compile(model, (x,))
    model.bias.add_(1)
    close(program(x), model(x))


# Element types and shapes


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 1), (2, 1, 3), (0,), (0, 3), (2, 0)])
def test_shapes(shape: tuple[int, ...]) -> None:
    agree(lambda x: (x * 2 + 1, x.sum()), (random(*shape),))


def test_scalars_in_and_out() -> None:
    agree(lambda x, y: (x * y, x + 1, y), (torch.tensor(3.0), torch.tensor(2.0)))


@pytest.mark.parametrize(
    "dtype",
    [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8],
    ids=lambda dtype: str(dtype).removeprefix("torch."),
)
def test_integers(dtype: torch.dtype) -> None:
    x = integers(100, 3, 5, dtype=dtype)
    agree(lambda x: (x + 1, x * x, x // 3, x % 7, -x, x.clamp(10, 60), x > 50, x.float() / 2), (x,))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int8, torch.uint8], ids=str)
def test_integer_arithmetic_wraps(dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    x = torch.tensor([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype=dtype)
    agree(lambda x: (x + x, x * 3, x - 1, x < 1, x.to(torch.int64), x.float(), x.sum(), x.amax(0)), (x,))


def test_doubles() -> None:
    model = seeded(lambda: nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8)), torch.float64)
    agree(model, (random(4, 6, dtype=torch.float64),), rtol=1e-10, atol=1e-12)


def test_mixed_element_types() -> None:
    x, n, mask = random(3, 4), integers(5, 3, 4, dtype=torch.int32), random(3, 4, seed=8) > 0
    agree(lambda x, n, mask: (x + n, torch.where(mask, x, n), x.double() * n, mask & (n > 2), mask * x), (x, n, mask))


def test_bool_mask() -> None:
    scores, mask = random(2, 4, 4), torch.ones(4, 4).tril().bool()
    agree(lambda scores, mask: scores.masked_fill(~mask, float("-inf")).softmax(-1), (scores, mask))


def test_bools_in_and_out() -> None:
    x = random(3, 4) > 0
    agree(lambda x: (x, ~x, x.any(), x.all(1), x.sum(), x.to(torch.uint8)), (x,))


def test_special_values() -> None:
    x = torch.tensor([float("inf"), float("-inf"), float("nan"), 0.0, -0.0, 1e-42, 3e38])
    agree(lambda x: (x * 2, x.relu(), x.isfinite(), x.isnan(), x.clamp(-1, 1), x.maximum(-x), 1 / x), (x,))


@pytest.mark.parametrize("place", [0, 3, 6])
def test_nan_is_found_and_kept(place: int) -> None:
    x = random(7)
    x[place] = torch.nan
    agree(
        lambda x: {
            "found": (x.argmax(), x.argmin(), x.max(0), x.min(0), x.max(), x.amin(0)),
            "kept": (x.clamp(-1, 1), x.clamp(min=0), nn.functional.relu6(x), nn.functional.hardtanh(x), x.relu()),
            "compared": (x == x, x != x, x < x, x.isfinite()),
            "reduced": (x.sum(), x.prod(), x.cumsum(0), x.nansum()),
        },
        (x,),
    )


# Results


def test_argument_returned() -> None:
    program = agree(lambda x, y: (x, y + 1), (random(3), random(3)))
    x = random(3)
    returned, _ = program(x, x)
    assert returned.data_ptr() != x.data_ptr()


def test_same_value_returned_twice() -> None:
    def twice(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x.exp()
        return y, y, y + 1

    one, two, _ = agree(twice, (random(3, 4),))(random(3, 4))
    assert one.data_ptr() != two.data_ptr()


def test_views_returned() -> None:
    def views(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x.exp()
        return y.t(), y[1:, ::2], y.reshape(-1), y[0], x.view(2, 6), x.expand(2, 3, 4), y

    x = random(3, 4)
    assert all(result.is_contiguous() for result in agree(views, (x,))(x))


def test_weight_returned() -> None:
    model = nn.Linear(3, 2)
    program = agree(_returning(model), (random(2, 3),))
    assert program(random(2, 3))[1].data_ptr() != model.weight.data_ptr()


def _returning(linear: nn.Linear) -> nn.Module:
    class Returning(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = linear

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return self.linear(x), self.linear.weight, self.linear.weight.t(), self.linear.weight * 2

    return Returning()


def test_constants_returned() -> None:
    table = random(2, 3)
    agree(lambda x: (x + 1, torch.ones(2, 2), torch.arange(4), torch.tensor(3.0), table), (random(3),))


def test_no_arguments() -> None:
    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(random(3, 4))

        def forward(self) -> torch.Tensor:
            return self.weight.softmax(-1) @ self.weight.t()

    program = agree(Table())
    assert type(program()) is torch.Tensor


def test_unused_argument() -> None:
    agree(lambda x, y: x + 1, (random(3), random(2)))


def test_structures_of_results() -> None:
    def structured(x: torch.Tensor) -> dict[str, Any]:
        return {"sum": x.sum(), "parts": [x[0], (x[1], None)], "size": x.shape[0], "name": "x", "rate": 0.5, "no": ()}

    agree(structured, (random(3, 4),))


def test_none_and_nothing_returned() -> None:
    agree(lambda x: (x + 1, None), (random(3),))


def test_structures_of_arguments() -> None:
    class Nested(nn.Module):
        def forward(self, pair: Any, options: Any, *, scale: float = 1.0, extra: Any = None) -> torch.Tensor:
            total = pair[0] + pair[1][0] * scale + options["bias"]
            return total if extra is None else total - extra[0]

    x = random(3)
    program = agree(Nested(), ((x, [x * 2]), {"bias": x - 1}), {"scale": 2.0, "extra": [x * 3]})
    close(program((x, [x]), {"bias": x}, extra=[x], scale=2.0), 3 * x)


def test_arguments_by_name() -> None:
    class Named(nn.Module):
        def forward(self, first: torch.Tensor, second: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
            return first - 2 * second if mask is None else (first - 2 * second) * mask

    x, y = random(3), random(3, seed=4)
    program = agree(Named(), (x, y))
    close(program(first=x, second=y), x - 2 * y)
    close(program(second=y, first=x), x - 2 * y)
    close(program(x, second=y), x - 2 * y)
    masked = agree(Named(), (x,), {"mask": x > 0, "second": y})
    close(masked(x, second=y, mask=x > 0), (x - 2 * y) * (x > 0))
    close(masked(mask=x > 0, first=x, second=y), (x - 2 * y) * (x > 0))


def test_numpy() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    program = hotdesk.compile(Call(lambda x, y: (x @ y, x.argmax(1))), (torch.zeros(3, 4), torch.zeros(4, 2)))
    y = x[:, ::2][:2].repeat(2, axis=0)
    product, largest = program(x, y)
    assert type(product) is np.ndarray
    np.testing.assert_allclose(product, x @ y)
    assert largest.dtype == np.int64
    out = (np.empty((3, 2), np.float32), np.empty(3, np.int64))
    program(x, y, out=out)
    np.testing.assert_array_equal(out[0], product)


def test_into_the_callers_memory() -> None:
    program = agree(lambda x: (x.exp(), x.sum(0)), (random(3, 4),))
    x, out = random(3, 4), (torch.full((3, 4), torch.nan), torch.full((4,), torch.nan))
    results = program(x, out=out)
    assert all(result is given for result, given in zip(results, out, strict=True))
    close(out, (x.exp(), x.sum(0)))


def test_in_inference_mode() -> None:
    program = agree(lambda x: x * 2, (random(3),))
    with torch.inference_mode():
        close(program(random(3)), random(3) * 2)


def test_exported_programs() -> None:
    x = random(2, 3)
    exported = torch.export.export(Call(lambda x: x.relu() + 1), (x,), dynamic_shapes=(((Dim("n"), None),),))
    program = hotdesk.compile(exported)
    close(program(random(5, 3)), random(5, 3).relu() + 1)


# Sizes that vary


class Sized(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        rows, columns = x.shape
        return {
            "rows": rows,
            "cells": rows * columns,
            "half": (rows + 1) // 2,
            "ratio": rows / 4,
            "many": rows > 3,
            "x": x * rows,
            "flat": x.reshape(-1),
            "steps": torch.arange(rows),
        }


def test_numbers_that_follow_from_sizes() -> None:
    model = Sized()
    program = agree(model, (random(5, 3),), dynamic_shapes={"x": {0: Dim("rows", min=4)}})
    for rows in (4, 6, 9, 64):
        close(program(random(rows, 3)), model(random(rows, 3)))


def test_zero_rows() -> None:
    model = seeded(lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    program = agree(model, (random(3, 4),), dynamic_shapes={"input": {0: Dim("rows", min=0)}})
    for rows in (0, 1, 5):
        close(program(random(rows, 4)), model(random(rows, 4)))


def test_related_sizes() -> None:
    class Related(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, x]).tanh() @ y.t()

    size = Dim("size", max=512)
    model = Related()
    program = agree(model, (random(3, 4), random(6, 4)), dynamic_shapes={"x": {0: size}, "y": {0: 2 * size}})
    for rows in (1, 2, 7):
        close(program(random(rows, 4), random(2 * rows, 4)), model(random(rows, 4), random(2 * rows, 4)))


def test_two_sizes() -> None:
    model = Call(lambda x, y: (x.softmax(-1) @ y, torch.cat([x.t(), y], 1), x.mean(0)))
    shapes = (({0: Dim("n"), 1: Dim("k")}, {0: Dim("k")}),)
    program = agree(model, (random(3, 5), random(5, 2)), dynamic_shapes=shapes)
    for n, k in ((1, 1), (2, 7), (8, 3), (3, 5)):
        x, y = random(n, k), random(k, 2, seed=3)
        close(program(x, y), model(x, y))


def test_dynamic_sequence_length() -> None:
    model = seeded(Transformer)
    shapes = {"ids": {0: Dim("batch", max=8), 1: Dim("length", max=64)}}
    program = agree(model, (integers(50, 2, 9),), dynamic_shapes=shapes)
    for batch, length in ((1, 1), (1, 2), (2, 33), (3, 64), (2, 9)):
        ids = integers(50, batch, length)
        close(program(ids), model(ids))


def test_dynamic_image_size() -> None:
    model = seeded(ConvNet)
    shapes = {"image": {0: Dim("batch"), 2: Dim("height", min=8, max=64), 3: Dim("width", min=8, max=64)}}
    program = agree(model, (random(2, 3, 16, 20),), dynamic_shapes=shapes)
    for size in ((1, 3, 8, 8), (3, 3, 17, 9), (2, 3, 64, 33), (1, 3, 31, 64)):
        close(program(random(*size)), model(random(*size)))


def test_plans_follow_the_sizes() -> None:
    program = hotdesk.compile(Call(lambda x: x.exp() @ x.t()), (random(4, 6),), dynamic_shapes=(({0: Dim("n")},),))
    small, large = program.memory(random(4, 6)), program.memory(random(40, 6))
    assert (small.inputs, large.inputs) == (96, 960)
    assert small.arena < large.arena
    close(program(random(4, 6)), random(4, 6).exp() @ random(4, 6).t())


# Several callers


def test_threads_share_a_program() -> None:
    model = seeded(Transformer)
    program = hotdesk.compile(model, (integers(50, 2, 9),), dynamic_shapes={"ids": {0: None, 1: Dim("length", max=64)}})
    given = [integers(50, 2, length, seed=length) for length in (3, 9, 20, 33)]
    expected = [model(ids) for ids in given]
    failures: list[BaseException] = []

    def caller(start: int) -> None:
        try:
            for i in range(start, start + 20):
                close(program(given[i % 4]), expected[i % 4])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=caller, args=(start,)) for start in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_two_programs_side_by_side() -> None:
    model = seeded(ConvNet)
    one, two = hotdesk.compile(model, (random(2, 3, 12, 12),)), hotdesk.compile(model, (random(1, 3, 16, 16),))
    for _ in range(2):
        close(one(random(2, 3, 12, 12)), model(random(2, 3, 12, 12)))
        close(two(random(1, 3, 16, 16)), model(random(1, 3, 16, 16)))
