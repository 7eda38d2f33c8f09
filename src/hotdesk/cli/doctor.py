"""`hotdesk doctor`: what Hotdesk finds on this machine: platform, processor, threads, packages, extras and the cache.

    hotdesk doctor
    hotdesk doctor --json

Exit codes: 0; 1 where nothing can be compiled here, with what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hotdesk import __version__
from hotdesk.cli.parsers import parser_of

EXAMPLES = ("hotdesk doctor", "hotdesk doctor --json")
_MODULES = {"vl-convert-python": "vl_convert", "scipy-openblas32": "scipy_openblas32", "jinja2": "jinja2"}


def main(arguments: Sequence[str]) -> int:
    """Runs `hotdesk doctor` and returns its exit code."""
    options = parser().parse_args(arguments)
    found = examined()
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(_lines(found)))
    return 0 if found["compiles"] else 1


def examined() -> dict[str, Any]:
    """What there is, by name."""
    compiles, why = _compiles()
    return {
        "hotdesk": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "threads": _threads() if compiles else None,
        "packages": {name: _version(name) for name in ("torch-mlir", "numpy", "sympy", "rich")},
        "extras": _extras(),
        "cache": _cache(),
        "compiles": compiles,
        "problem": why,
    }


def _compiles() -> tuple[bool, str]:
    """Whether a program of one operation compiles and gives the right numbers, or why not."""
    try:
        import numpy as np

        from hotdesk.compiling.compile import compile

        program = compile(
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>\n"
            "  return %0 : tensor<4xf32>\n}"
        )
        x: Any = np.arange(4, dtype=np.float32)
        right = bool(np.array_equal(program(x), x + x))
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"
    return right, "" if right else "a sum came out wrong"


def _processor() -> dict[str, Any]:
    from hotdesk.kernels.machine import host

    try:
        machine = host()
    except Exception as error:
        return {"name": platform.machine(), "problem": str(error)}
    return {"name": platform.machine(), **{name: getattr(machine, name) for name in type(machine).__dataclass_fields__}}


def _threads() -> int:
    from hotdesk.runtime.code.threads import get_num_threads

    return get_num_threads()


def _extras() -> dict[str, dict[str, str | None]]:
    """The packages of each extra, with the version that is here, or None."""
    found: dict[str, dict[str, str | None]] = {}
    try:
        needed = requires("hotdesk") or []
    except PackageNotFoundError:
        return found
    for line in needed:
        name, extra = re.match(r"[\w.-]+", line), re.search(r"extra == ['\"](\w+)['\"]", line)
        if name is not None and extra is not None and extra[1] != "dev":
            found.setdefault(extra[1], {})[name[0]] = _version(name[0])
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return "without metadata" if find_spec(_MODULES.get(name, name.replace("-", "_"))) is not None else None


def _cache() -> dict[str, Any]:
    from hotdesk.runtime.cache import keeps_programs, the_cache

    cache = the_cache()
    if cache is None:
        return {"folder": None, "programs": False, "bytes": 0}
    files = [each for each in Path(cache.folder).rglob("*") if each.is_file()]
    return {
        "folder": str(cache.folder),
        "programs": keeps_programs(),
        "bytes": sum(each.stat().st_size for each in files),
    }


def _lines(found: Mapping[str, Any]) -> list[str]:
    processor = found["processor"]
    features = ", ".join(f"{name} {value}" for name, value in processor.items() if name != "name")
    cache = found["cache"]
    lines = [
        f"hotdesk     {found['hotdesk']} on Python {found['python']}",
        f"platform    {found['platform']}",
        f"processor   {processor['name']}: {features}",
        f"cores       {found['cores']}, threads {found['threads'] if found['threads'] is not None else 'unknown'}",
        f"packages    {_spelled(found['packages'])}",
    ]
    for extra, packages in found["extras"].items():
        missing = any(each is None for each in packages.values())
        hint = f"  (pip install 'hotdesk[{extra}]')" if missing else ""
        lines.append(f"extra       {extra}: {_spelled(packages)}{hint}")
    kept = "programs and code" if cache["programs"] else "code"
    lines.append(
        f"cache       {cache['folder'] or 'off'}" + (f", {kept}, {cache['bytes']:,} bytes" if cache["folder"] else "")
    )
    lines.append("compiles    yes" if found["compiles"] else f"compiles    no: {found['problem']}")
    return lines


def _spelled(packages: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {value or 'missing'}" for name, value in packages.items())


def parser() -> argparse.ArgumentParser:
    made = parser_of("doctor", "Says what Hotdesk finds on this machine.", EXAMPLES)
    made.add_argument("--json", action="store_true", help="as JSON")
    return made
