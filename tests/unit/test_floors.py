"""The house: modules import from floors below their own, neither modules nor packages import one another in cycles, and each
class has a name of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

_SOURCE = Path(__file__).parents[2] / "src"
FLOORS = (
    (
        "errors",
        "sizes",
        "planning",
        "graphs",
        "elements",
        "python",
        "progress",
        "file_errors",
    ),
    ("_bindings", "ir", "explain"),
    ("report", "traces"),
    ("models",),
    ("program",),
    ("analysis",),
    ("kernels",),
    ("passes",),
    ("pipeline",),
    ("checker", "runtime", "artifacts", "frontends"),
    ("search",),
    ("compiling", "saved", "comparing", "jitting"),
    ("torch_compile", "training"),
    ("cli", "pytest_plugin"),
)
"""From the ground up, as DESIGN says; what `compiling` tries beside the pipeline stands below it."""

Graph = Mapping[str, frozenset[str]]


def test_modules_import_downward() -> None:
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    upward = [
        f"{module} imports {imported}"
        for module, names in _imports(deferred=True).items()
        for imported in sorted(names)
        if module.count(".") and imported.count(".") and floor[module.split(".")[1]] < floor[imported.split(".")[1]]
    ]
    assert upward == []


def test_every_module_has_a_floor() -> None:
    known = {name for names in FLOORS for name in names}
    assert {module.split(".")[1] for module in _modules() if module.count(".")} <= known


def test_modules_are_in_no_cycle() -> None:
    assert _cycles(_imports(deferred=False)) == []


def test_packages_are_in_no_cycle() -> None:
    packages: dict[str, set[str]] = {}
    for module, names in _imports(deferred=False).items():
        own = _package(module)
        others = {_package(name) for name in names}
        packages.setdefault(own, set()).update(p for p in others if not _one_holds_the_other(own, p))
    assert _cycles({package: frozenset(names) for package, names in packages.items()}) == []


def test_cycles_are_found() -> None:
    graph = {"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset({"b", "d"}), "d": frozenset[str]()}
    assert _cycles(graph) == [("b", "c")]


def test_class_names_occur_once() -> None:
    assert _repeated({module: path.read_text(encoding="utf-8") for module, path in _modules().items()}) == {}


def test_repeated_class_names_are_found() -> None:
    sources = {"a": "class Plan: ...\nclass Plans: ...", "b": "def f():\n    class Plan: ..."}
    assert _repeated(sources) == {"Plan": ["a", "b"]}


def _repeated(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """The names of classes that are defined more than once, with the modules that define them."""
    defined: dict[str, list[str]] = {}
    for module, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                defined.setdefault(node.name, []).append(module)
    return {name: modules for name, modules in defined.items() if len(modules) > 1}


def _one_holds_the_other(a: str, b: str) -> bool:
    return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.")


def _cycles(graph: Graph) -> list[tuple[str, ...]]:
    """The sets of nodes that reach one another."""
    reached = {node: _reached(graph, node) for node in graph}
    together = {tuple(sorted(b for b in reached[a] if a in reached.get(b, ()))) for a in graph if a in reached[a]}
    return sorted(together)


def _reached(graph: Graph, start: str) -> frozenset[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph.get(waiting.pop(), frozenset()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def _modules() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted((_SOURCE / "hotdesk").rglob("*.py")):
        parts = path.relative_to(_SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _package(module: str) -> str:
    return module if _modules()[module].name == "__init__.py" else module.rpartition(".")[0]


@cache
def _imports(deferred: bool) -> Graph:
    """What each module imports of Hotdesk; if `deferred`, inside of functions too."""
    return {
        module: frozenset(_imported(ast.parse(path.read_text(encoding="utf-8")), deferred)) - {module}
        for module, path in _modules().items()
    }


def _imported(tree: ast.Module, deferred: bool) -> Iterator[str]:
    modules = _modules()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in names if node.module in modules)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif deferred or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += ast.iter_child_nodes(node)
