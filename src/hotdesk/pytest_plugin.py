"""A plugin for pytest: a limit to the peak of a model, in a test of the model.

    @pytest.mark.hotdesk_peak("24 MB")
    def test_encoder(hotdesk_compile):
        program = hotdesk_compile(Encoder(), (x,))
        torch.testing.assert_close(program(x), Encoder()(x))

A program that the test compiles with the fixture, and that takes more at its peak, fails the test with the report. `against`
names a report that was saved by `hotdesk report --json`, beside which the peak may grow by `growth` percent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hotdesk.runtime.program import Program

_MARK = "hotdesk_peak"
_USAGE = (
    f"{_MARK}(most=None, *, against=None, growth=0): the peak, such as '24 MB', of programs that hotdesk_compile makes"
)


_MADE = pytest.StashKey["list[tuple[Program, tuple[Any, ...], dict[str, Any]]]"]()
"""What a test has compiled with the fixture."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _USAGE)


@pytest.fixture
def hotdesk_compile(request: pytest.FixtureRequest) -> Callable[..., Program]:
    """`hotdesk.compile`; when the test has passed, each program is held to the mark `hotdesk_peak`.

    A program with sizes that vary is held to it for the example arguments.
    """
    from hotdesk.compiling.compile import compile

    made: list[tuple[Program, tuple[Any, ...], dict[str, Any]]] = []
    request.node.stash[_MADE] = made

    def compiling(model: Any, args: tuple[Any, ...] = (), kwargs: Any = None, **options: Any) -> Program:
        program = compile(model, args, kwargs, **options)
        made.append((program, args, dict(kwargs or {})))
        return program

    return compiling


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Holds what the test compiled to its mark when it has passed, as a part of the test: so it fails."""
    result = yield
    mark = item.get_closest_marker(_MARK)
    if mark is not None:
        _hold(mark, item.stash.get(_MADE, None) or [], item.path.parent)
    return result


def _hold(mark: pytest.Mark, made: list[tuple[Program, tuple[Any, ...], dict[str, Any]]], folder: Path) -> None:
    from hotdesk.errors import PeakError
    from hotdesk.planning.problem.numbers import parse_bytes
    from hotdesk.report.document import Document
    from hotdesk.report.limits import require_growth, require_peak

    most, against, growth = _arguments(mark)
    if not made:
        pytest.fail(f"{_MARK}: expected a program that the fixture hotdesk_compile made, got none", pytrace=False)
    for program, args, kwargs in made:
        found = program.document(*args, **kwargs)
        try:
            if most is not None:
                require_peak(found, parse_bytes(most))
            if against is not None:
                path = folder / against
                require_growth(found, Document.from_json(path.read_text(encoding="utf-8"), str(path)), growth)
        except PeakError as error:
            pytest.fail(f"{error}\n\n{found}", pytrace=False)


def _arguments(mark: pytest.Mark) -> tuple[int | str | None, str | None, float]:
    """What the mark says. Raises pytest.UsageError for anything else."""

    def arguments(most: int | str | None = None, *, against: str | None = None, growth: float = 0) -> Any:
        if most is None and against is None:
            raise TypeError("neither a number of bytes nor a report")
        return most, against, growth

    try:
        return arguments(*mark.args, **mark.kwargs)
    except TypeError as error:
        raise pytest.UsageError(f"expected {_USAGE}, got {error}") from error
