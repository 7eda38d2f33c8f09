"""What is installed is listed in docs/dependencies.md, with a licence, and bounded."""

from __future__ import annotations

import re
from pathlib import Path

import tomllib

_ROOT = Path(__file__).parents[2]
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
_EXTRAS: dict[str, list[str]] = _PROJECT["optional-dependencies"]
_PERMISSIVE = {"Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "MIT", "MPL-2.0"}


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9_.-]+", requirement)
    assert found is not None
    return found[0]


def test_each_package_is_listed_once_where_it_is_first_installed() -> None:
    rows = re.findall(r"^\| ([^|]*)\| ([\w-]+) \| ([^|]+) \|", (_ROOT / "docs" / "dependencies.md").read_text(), re.M)
    assert rows.pop(0) == ("installed by ", "package", "licence")
    listed: dict[str, list[str]] = {}
    of = ""
    for by, name, licence in rows:
        of = by.strip(" `") or of
        listed.setdefault(of, []).append(name)
        assert licence in _PERMISSIVE, (name, licence)
    expected = {"Hotdesk": [_name(each) for each in _PROJECT["dependencies"]]}
    known = set(expected["Hotdesk"])
    for extra in ("torch", "onnx", "jax", "aot", "blas", "exact", "report", "bench", "docs", "dev"):
        expected[extra] = [name for name in map(_name, _EXTRAS[extra]) if name not in known]
        known.update(expected[extra])
    assert listed == expected
    assert expected.keys() - {"Hotdesk"} == _EXTRAS.keys()


def test_what_users_install_is_bounded() -> None:
    extras = [each for extra, found in _EXTRAS.items() if extra not in ("dev", "docs") for each in found]
    open_ended = [each for each in (*_PROJECT["dependencies"], *extras) if ",<" not in each]
    assert [_name(each) for each in open_ended] == ["torch-mlir"]
