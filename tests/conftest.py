"""What every test may use."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import settings

from hotdesk.models import registry
from tests import hashing, memory_checks, memory_coverage

GOLDEN = Path(__file__).parent / "golden"
_coverage = memory_coverage.Coverage()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is printed to tests/golden/ and pass")
    memory_checks.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("HOTDESK_CACHE", "code")  # programs are compiled, not read: some tests change passes
    memory_checks.install(memory_checks.mode_of(config))
    memory_coverage.install()
    hashing.refuse()
    settings.register_profile("hotdesk", deadline=None)  # how long a test takes says nothing of what it tests
    settings.load_profile("hotdesk")


def pytest_collection_finish() -> None:
    """Searches for garbage pass over what all tests are made of: items and modules, millions of objects that stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def fresh_dynamo() -> Generator[None]:
    """Dynamo has compiled nothing, and what falls back to eager PyTorch is an error."""
    import torch  # not for tests without it

    import hotdesk

    torch._dynamo.reset()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hotdesk.FallbackWarning)
        yield
    torch._dynamo.reset()


@pytest.fixture(autouse=True)
def own_models() -> Generator[None]:
    """What a test registers is gone after it."""
    registry.all_built_in()  # so that the built-in models are there
    before = dict(registry._MODELS)
    yield
    registry._MODELS.clear()
    registry._MODELS.update(before)


@pytest.fixture(autouse=True)
def checked_memory(request: pytest.FixtureRequest) -> Generator[None]:
    """What the test compiled runs under the memory checker when the test is done."""
    yield
    try:
        if request.node.get_closest_marker("unchecked") is None:
            memory_checks.check_pending(memory_checks.mode_of(request.config))
        memory_checks.forget_pending()
    finally:
        memory_coverage.note(request.node)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _coverage.read(report)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where all is to be checked, a file of which nothing was fails the session."""
    if memory_checks.is_all(session.config) and _coverage.unchecked():
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if memory_checks.is_all(config):
        terminalreporter.section("under the memory checker")
        for line in _coverage.lines():
            terminalreporter.line(line)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)` compares `text` with the file `tests/golden/<name>`, or writes it if asked to."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")
        assert path.exists(), f"{path} is missing: run this test with --update-golden and read what it wrote"
        assert f"{text}\n" == path.read_text(encoding="utf-8")

    return compare
