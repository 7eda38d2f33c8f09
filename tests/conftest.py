"""What every test may use."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests import memory_checks

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is printed to tests/golden/ and pass")
    memory_checks.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    memory_checks.install(config.getoption(memory_checks.OPTION))


@pytest.fixture(autouse=True)
def checked_memory(request: pytest.FixtureRequest) -> Generator[None]:
    """What the test compiled runs under the memory checker when the test is done."""
    yield
    memory_checks.check_pending(request.config.getoption(memory_checks.OPTION))


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
