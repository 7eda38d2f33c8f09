"""Plain functions are compiled as modules are, and `jit` keeps a program for each kind of call."""

# pyright: basic

from __future__ import annotations

import copy
import gc
import pickle
import re
import threading
import weakref
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import hotdesk
from hotdesk.errors import ArgumentTypeError, ExecutionError, ExportError, NotSavableError, ShapeError


def _doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


class Pair(NamedTuple):
    low: torch.Tensor
    high: torch.Tensor


class How(Enum):
    DOUBLED = "doubled"
    NEGATED = "negated"


class Factor(IntEnum):
    TWO = 2


@dataclass
class Point:
    x: torch.Tensor
    y: torch.Tensor


def test_a_function() -> None:
    x = torch.randn(3, 4)
    program = hotdesk.compile(_doubled, (x,))
    torch.testing.assert_close(program(x), _doubled(x))
    torch.testing.assert_close(program(x=x), _doubled(x))


def test_lines_of_functions_are_told() -> None:
    def rows(x: torch.Tensor, places: torch.Tensor, *, by: int = 2) -> torch.Tensor:
        return (x * by).index_select(0, places)

    class Scaled:
        by = 3

        def rows(self, x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
            return rows(x, places, by=self.by)

    x, place = torch.rand(4, 5), torch.tensor([1])
    for function, by, line in ((rows, 2, rows.__code__), (Scaled().rows, 3, Scaled.rows.__code__)):
        program = hotdesk.compile(function, (x, place))
        torch.testing.assert_close(program(x, place), by * x[1:2])
        with pytest.raises(ExecutionError, match=rf"\({re.escape(__file__)}:{line.co_firstlineno + 1}\)"):
            program(x, place + 3)


def test_functions_that_python_knows_no_signature_of() -> None:
    x, y = torch.randn(3, 1), torch.randn(4)
    assert torch.equal(hotdesk.compile(torch.fmax, (x, y))(x, y), torch.fmax(x, y))
    added = hotdesk.compile(torch.add, (x, y), {"alpha": 2})
    assert torch.equal(added(x, y, alpha=2), torch.add(x, y, alpha=2))
    assert torch.equal(hotdesk.jit(torch.Tensor.relu)(x), x.relu())


def test_sizes_that_vary_by_name() -> None:
    program = hotdesk.compile(_doubled, (torch.randn(3, 4),), dynamic_shapes={"x": {0: torch.export.Dim("rows")}})
    x = torch.randn(7, 4)
    torch.testing.assert_close(program(x), _doubled(x))


def test_nests_numbers_and_none() -> None:
    def mixed(pair: Any, n: int, *, by: Any = None, flag: bool = True) -> Any:
        a, b = pair["a"], pair["b"][0]
        return Pair(a - n, b if by is None else b * by), [n, flag, None]

    args = {"a": torch.randn(4), "b": [torch.randn(4)]}, 3
    kwargs: dict[str, Any] = {"by": torch.tensor(2.0)}
    program = hotdesk.compile(mixed, args, kwargs)
    found, wanted = program(*args, **kwargs), mixed(*args, **kwargs)
    assert isinstance(found[0], Pair)
    torch.testing.assert_close(found[0], wanted[0])
    assert found[1] == wanted[1]
    with pytest.raises(ArgumentTypeError):
        program(args[0], 4, **kwargs)


@pytest.mark.parametrize("compiled", [hotdesk.jit, hotdesk.compile])
@pytest.mark.parametrize(
    ("function", "value", "other"),
    [
        (lambda x, how: x * 2 if how is How.DOUBLED else -x, How.DOUBLED, How.NEGATED),
        (lambda x, how: x * how, Factor.TWO, 2),
        (lambda x, how: x.to(how), torch.float64, torch.float16),
        (lambda x, how: torch.view_as_real(x * how), 1 + 2j, 1j),
        (lambda x, how: x.to(how) + 1, torch.device("cpu"), "cpu"),
        (lambda x, how: x[how] + 1, slice(0, 1), slice(1, 2)),
        (lambda x, how: sum((x * each for each in how["of"]), x), {"of": range(3)}, {"of": range(4)}),
        (lambda x, how: x.reshape(how) + 1, torch.Size([3, 2]), torch.Size([6, 1])),
    ],
)
def test_constants_that_are_no_numbers(compiled: Any, function: Any, value: Any, other: Any) -> None:
    x = torch.randn(2, 3)
    if compiled is hotdesk.jit:
        jitted = hotdesk.jit(function)
        for each in (value, other, value):
            assert torch.equal(jitted(x, each), function(x, each))
        assert len(jitted.programs) == 2
        return
    program = hotdesk.compile(function, (x,), {"how": value})
    assert torch.equal(program(x, how=value), function(x, value))
    with pytest.raises(ArgumentTypeError, match="`how.*` was fixed when the model was compiled"):
        program(x, how=other)


def test_constants_of_modules() -> None:
    class Cast(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x: torch.Tensor, dtype: torch.dtype, *, by: torch.Tensor) -> torch.Tensor:
            return (self.linear(x) * by).to(dtype)

    model, x, by = Cast(), torch.randn(2, 3), torch.tensor(2.0)
    rows = {"x": {0: torch.export.Dim("rows")}, "dtype": None, "by": None}
    program = hotdesk.compile(model, (x, torch.float64), {"by": by}, dynamic_shapes=rows)
    with torch.no_grad():
        model.linear.weight.add_(1)
    for each in (x, torch.randn(5, 3)):
        found, expected = program(each, torch.float64, by=by), model(each, torch.float64, by=by)
        assert found.dtype == torch.float64
        torch.testing.assert_close(found.float(), expected.float())
    assert [each.name for each in program.inputs] == ["x", "by"]
    with pytest.raises(ArgumentTypeError, match=r"`dtype` was fixed .* expected torch.float64, got torch.int32"):
        program(x, torch.int32, by=by)


class Unknown:
    """What has no place among the arguments of a program."""


@pytest.mark.parametrize(
    "compiled", [lambda f, *args: hotdesk.compile(f, args), lambda f, *args: hotdesk.jit(f)(*args)]
)
@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (Unknown(), "register its class"),
        (torch.relu, "partial"),
        (torch.nn.ReLU(), "partial"),
        (np.ones(3), "as_tensor"),
    ],
)
def test_arguments_that_are_refused(compiled: Any, value: Any, hint: str) -> None:
    name = "Unknown" if isinstance(value, Unknown) else type(value).__name__
    with pytest.raises(ArgumentTypeError, match=rf"argument `pair\['b'\]`: expected tensors, .* got .*{name}.*{hint}"):
        compiled(lambda x, pair: x + 1, torch.ones(2), {"a": torch.ones(2), "b": value})


@pytest.mark.parametrize("value", [How.DOUBLED, Factor.TWO, torch.float32, 1j, Unknown()])
def test_results_that_are_refused(value: Any) -> None:
    with pytest.raises(ExportError, match=rf"returns at `\[1\]`: expected tensors, .* got .*{type(value).__name__}"):
        hotdesk.compile(lambda x: (x + 1, value), (torch.ones(2),))


class Scorer:
    def __init__(self) -> None:
        self.linear, self.by = torch.nn.Linear(3, 2), 2

    def __call__(self, x: torch.Tensor, *, shift: float = 0.0) -> torch.Tensor:
        return self.linear(x) * self.by + shift


def test_callable_objects() -> None:
    scorer, x = Scorer(), torch.randn(4, 3)
    program = hotdesk.compile(scorer, (x,), {"shift": 1.0})
    with torch.no_grad():
        scorer.linear.weight.add_(1)
    torch.testing.assert_close(program(x, shift=1.0), scorer(x, shift=1.0))
    assert program.memory().weights == 32
    jitted = hotdesk.jit(scorer)
    torch.testing.assert_close(jitted(x), scorer(x))
    cached = hotdesk.compile(lru_cache(_doubled), (x,))
    torch.testing.assert_close(cached(x), _doubled(x))
    ours = hotdesk.compile(lambda x: hotdesk.jit(_doubled)(x) + 1, (x,))
    torch.testing.assert_close(ours(x), _doubled(x) + 1)


def test_arguments_given_by_partial() -> None:
    linear, x = torch.nn.Linear(3, 2), torch.randn(4, 3)

    def applied(model: torch.nn.Module, x: torch.Tensor, by: float, /) -> torch.Tensor:
        return model(x) * by

    given = partial(applied, linear)
    program = hotdesk.compile(given, (x, 2.0))
    with torch.no_grad():
        linear.weight.add_(1)
    torch.testing.assert_close(program(x, 2.0), given(x, 2.0))
    assert program.memory().weights == 32


def test_dataclasses() -> None:
    torch.export.register_dataclass(Point)

    def moved(point: Point, by: torch.Tensor) -> Point:
        return Point(point.x + by, point.y * by)

    given = Point(torch.randn(3), torch.randn(3)), torch.randn(3)
    found, wanted = hotdesk.compile(moved, given)(*given), moved(*given)
    assert isinstance(found, Point)
    torch.testing.assert_close((found.x, found.y), (wanted.x, wanted.y))


def test_modules_of_a_closure_are_weights(tmp_path: Path) -> None:
    inner = torch.nn.Linear(4, 4)

    def applied(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(inner(x))

    x = torch.randn(2, 4)
    program = hotdesk.compile(applied, (x,))
    assert program.memory().weights == 80
    with torch.no_grad():
        inner.weight.add_(1)
    torch.testing.assert_close(program(x), applied(x))
    program.save(tmp_path / "f.hotdesk", weights="given")
    weights = {f"inner.{name}": each for name, each in inner.state_dict().items()}
    torch.testing.assert_close(hotdesk.load(tmp_path / "f.hotdesk", weights=weights)(x), applied(x))


def test_methods_of_modules() -> None:
    class Two(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 2)

        def encode(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x).tanh()

    two, x = Two(), torch.randn(3, 4)
    program = hotdesk.compile(two.encode, (x,))
    torch.testing.assert_close(program(x), two.encode(x))
    assert program.memory().weights == 40


def test_jit_keeps_a_program_for_each_kind_of_call() -> None:
    function = hotdesk.jit(_doubled)
    assert vars(function)["__name__"] == "_doubled"
    x, y = torch.randn(3), torch.randn(4)
    for each in (x, y, x):
        torch.testing.assert_close(function(each), _doubled(each))
    assert len(function.programs) == 2
    assert function.program(x) is function.programs[-1]
    function.clear()
    assert function.programs == ()
    with pytest.raises(ArgumentTypeError, match="tensors, numbers"):
        function(object())


def _marked(sign: int) -> Any:
    """A dataclass of the same name as any other of these."""

    @dataclass
    class Marked:
        x: torch.Tensor

    torch.export.register_dataclass(Marked, serialized_type_name=f"test_functions.Marked{sign}")
    return Marked


def test_jit_refuses_what_a_gradient_is_to_be_recorded_for() -> None:
    function, x = hotdesk.jit(_doubled), torch.ones(3, requires_grad=True)
    with pytest.raises(ArgumentTypeError, match=r"argument `x`.*requires_grad.*no_grad.*torch\.compile.*HD202"):
        function(x)
    assert not function.programs
    for given in (x.detach(), torch.ones(3)):
        assert torch.equal(function(given), torch.full([3], 3.0))
    with torch.no_grad():
        assert torch.equal(function(x), torch.full([3], 3.0))
    assert len(function.programs) == 1


def test_jit_tells_classes_of_one_name_apart() -> None:
    first, second = _marked(1), _marked(-1)
    function = hotdesk.jit(lambda given: given.x + 1 if type(given) is first else given.x - 1)
    x = torch.zeros(2)
    assert [function(kind(x)).tolist() for kind in (first, second, first)] == [[1.0] * 2, [-1.0] * 2, [1.0] * 2]
    assert len(function.programs) == 2


def test_jit_under_autocast_and_another_default_type() -> None:
    product, raised, x = hotdesk.jit(torch.mm), hotdesk.jit(lambda x: x + torch.ones(2)), torch.eye(2)
    assert (product(x, x).dtype, raised(x).dtype) == (torch.float32, torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        assert product(x, x).dtype == torch.bfloat16
    assert product(x, x).dtype == torch.float32
    assert len(product.programs) == 2
    torch.set_default_dtype(torch.float64)
    try:
        assert raised(x).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


@hotdesk.jit
def _increased(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def test_copies_and_pickles() -> None:
    """A program has neither; what `jit` makes is copied and pickled as the function or the object that it was made of."""
    scorer = Scorer()
    compiled = hotdesk.jit(scorer)
    assert pickle.loads(pickle.dumps(_increased)) is copy.deepcopy(_increased) is _increased
    copied, x = copy.deepcopy(compiled), torch.ones(1, 3)
    program = compiled.program(x)
    for taken in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotSavableError, match=r"program\.save"):
            taken({"model": program} if taken is copy.deepcopy else program)
    with torch.no_grad():
        expected = scorer(x)
        scorer.linear.weight.zero_()
    torch.testing.assert_close(copied(x), expected)


def test_jit_with_sizes_that_vary() -> None:
    @hotdesk.jit(dynamic_shapes={"x": {0: torch.export.Dim("rows", max=64)}})
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    for rows in (2, 5, 64):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(doubled(x), x * 2)
    assert len(doubled.programs) == 1
    for columns in (4, 3, 4):  # not freed: another program, and the first one again
        x = torch.randn(6, columns)
        torch.testing.assert_close(doubled(x), x * 2)
    assert len(doubled.programs) == 2
    with pytest.raises(ShapeError, match="rows <= 64"):
        doubled(torch.randn(65, 3))
    assert len(doubled.programs) == 2


def test_jit_with_arguments_that_are_not_read() -> None:
    @hotdesk.jit(dynamic_shapes=({0: torch.export.Dim.AUTO}, None))
    def first(x: torch.Tensor, _unread: torch.Tensor) -> torch.Tensor:
        return x + 1

    for rows, others in ((2, 3), (5, 3), (5, 4)):
        x = torch.randn(rows)
        torch.testing.assert_close(first(x, torch.randn(others)), x + 1)
    assert len(first.programs) == 2


def test_jit_of_methods() -> None:
    class Scaled(torch.nn.Module):
        def __init__(self, by: float) -> None:
            super().__init__()
            self.by = torch.nn.Parameter(torch.tensor(by))

        @hotdesk.jit
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.by

    one, two, x = Scaled(2.0), Scaled(3.0), torch.ones(3)
    assert one(x).tolist() == [2.0] * 3
    assert two(x).tolist() == [3.0] * 3
    with torch.no_grad():
        one.by.fill_(5.0)
    assert one(x).tolist() == [5.0] * 3
    assert (len(one.forward.programs), len(two.forward.programs), len(Scaled.forward.programs)) == (1, 1, 0)
    assert copy.deepcopy(two).forward(x).tolist() == [3.0] * 3
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


def test_jit_of_methods_of_other_classes() -> None:
    @dataclass
    class Shifted:  # equal ones are not the same, and it has no hash
        by: int

        @hotdesk.jit
        def apply(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.by

    x = torch.zeros(2)
    assert [Shifted(by).apply(x).tolist() for by in (1, 2)] == [[1.0] * 2, [2.0] * 2]

    class Slots:
        __slots__ = ()

        @hotdesk.jit
        def apply(self, x: torch.Tensor) -> torch.Tensor:
            return x

    with pytest.raises(ArgumentTypeError, match="__weakref__"):
        Slots().apply(x)


def test_several_threads_compile_at_one_time() -> None:
    models = [torch.nn.Linear(5, size) for size in (3, 4, 6)]
    x = torch.ones(2, 5)
    found: list[torch.Tensor | None] = [None] * len(models)

    def compile_and_call(number: int) -> None:
        found[number] = hotdesk.compile(models[number], (x,))(x)

    threads = [threading.Thread(target=compile_and_call, args=(number,)) for number in range(len(models))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result, model in zip(found, models, strict=True):
        assert result is not None
        torch.testing.assert_close(result, model(x).detach())
