"""What a pass says of itself, read from its source: listing passes and their options imports none of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from hotdesk.errors import HotdeskError, PassError
from hotdesk.explain.conditions import condition, conditions_with
from hotdesk.passes.registry import load, target_of

_ENTRY = re.compile(r"^    ([\w, -]+): (.*(?:\n {5,}.*)*)", re.MULTILINE)
_NUMBERED = re.compile(r"^\d+\. ", re.MULTILINE)
_RULES = re.compile(r"\b(?:rules?|constraints?|conditions?)\b[^.;`]*?`(analysis\.[\w.]+)`", re.IGNORECASE)
_HEADING = re.compile(r"rules for \"([^\"]+)\"")
_KINDS = {"bool": "bool", "int": "int", "str": "string", "tuple[str, ...]": "names"}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a pass: its name on the command line, the kind of its value, its default as text, and what it does."""

    name: str
    kind: str
    default: str
    text: str


@dataclass(frozen=True, slots=True)
class Manual:
    """What a pass says of itself; `module` is the name of its module, `text` that module's docstring."""

    name: str
    module: str
    text: str
    options: tuple[Option, ...]

    @property
    def summary(self) -> str:
        """What the pass does, in one sentence."""
        return one_line(self.text.partition("\n\n")[0])


@cache
def manual(name: str) -> Manual:
    """What the pass of that name says of itself.

    Raises:
        OptionError: there is no such pass.
        PassError: its source cannot be found, or has no such class.
    """
    module, _, class_name = target_of(name).partition(":")
    tree = ast.parse(_source(name, module))
    found = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == class_name), None)
    if found is None:
        raise PassError(f"pass '{name}'", expected=f"a class {class_name} in {module}", got="none")
    texts = _entries(ast.get_docstring(found) or "")
    fields = [
        n for n in found.body if isinstance(n, ast.AnnAssign) and not ast.unparse(n.annotation).startswith("Class")
    ]
    options = tuple(_option(name, field, texts, _constants(tree)) for field in fields)
    return Manual(name, module, ast.get_docstring(tree) or ast.get_docstring(found) or "", options)


def condition_modules(text: str) -> tuple[str, ...]:
    """The modules, without the package's name, whose numbered conditions a docstring refers to, and those that these refer to."""
    return tuple(dict.fromkeys(_condition_modules(text)))


def _condition_modules(text: str) -> Iterator[str]:
    for name in _referred(text):
        yield name
        yield from _condition_modules(docstring(f"hotdesk.{name}"))


def _referred(text: str) -> tuple[str, ...]:
    """The modules with numbered conditions that a docstring refers to itself."""
    return tuple(name for name in _RULES.findall(text) if _NUMBERED.search(docstring(f"hotdesk.{name}")))


@cache
def failed_condition(name: str, code: str) -> str:
    """What a pass asks for that a reason code says is not so: number and words of its page's conditions; "" if none is named.

    A condition names the codes behind its words. Of conditions under several headings, those count that the pass refers to; of
    modules that refer to one another, the first that name the code.
    """
    try:
        text = manual(name).text
    except HotdeskError:  # MLIR's own pass
        return ""
    level: tuple[str, ...] = (text,)
    while level:
        found = [each for part in level for each in conditions_with(_asked_for(part, text), code)]
        if found:
            told = " or ".join(f"{number} {condition(part, number)}" for number, part in found)
            return f"condition {told} of docs/passes/{name}.md"
        level = tuple(docstring(f"hotdesk.{module}") for part in level for module in _referred(part))
    return ""


def _asked_for(part: str, text: str) -> str:
    """The conditions of a docstring under the heading that the pass's own refers to: all, if it refers to none."""
    for heading in _HEADING.findall(text):
        for found in re.finditer(r"^[*](.*?)[*](?:.*\n)((?:.+\n?)*)", part, re.MULTILINE):
            if found[1].lower() == heading.lower():
                return found[2]
    return part


def docstring(module: str) -> str:
    """The docstring of a module; "" if there is no such module."""
    try:
        return ast.get_docstring(ast.parse(_source(module, module))) or ""
    except PassError:
        return ""


def one_line(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def _source(name: str, module: str) -> str:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError) as error:
        raise PassError(f"pass '{name}'", expected=f"a module {module}", got=str(error)) from error
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise PassError(f"pass '{name}'", expected=f"the source of a module {module}", got="none")
    return Path(spec.origin).read_text(encoding="utf-8")


def _entries(text: str) -> dict[str, str]:
    """What a docstring says of each field; one entry may be for several."""
    _, _, listed = text.partition("Options:\n")
    found: dict[str, str] = {}
    for names, said in _ENTRY.findall(listed):
        found.update(dict.fromkeys((name.strip() for name in names.split(",")), one_line(said)))
    return found


def _option(name: str, field: ast.AnnAssign, texts: dict[str, str], constants: dict[str, object]) -> Option:
    own = ast.unparse(field.target)
    kind = ast.unparse(field.annotation)
    default = "" if field.value is None else option_text(_default(name, own, field.value, constants))
    return Option(own.replace("_", "-"), _KINDS.get(kind, kind), default, texts.get(own, ""))


def _default(name: str, field: str, value: ast.expr, constants: dict[str, object]) -> object:
    """The default of a field; one that other modules have a part in is asked of the class itself."""
    try:
        return eval(compile(ast.Expression(value), name, "eval"), {"__builtins__": {}}, constants)
    except NameError:
        return cast(Any, load(name)).__dataclass_fields__[field].default


def _constants(tree: ast.Module) -> dict[str, object]:
    """What the module assigns to names of its own, where that is a literal."""
    found: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            targets, values = (
                each.elts if isinstance(each, ast.Tuple) else [each] for each in (node.targets[0], node.value)
            )
            for target, value in zip(targets, values, strict=False):
                if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                    found[target.id] = value.value
    return found


def option_text(value: object) -> str:
    """The value of an option as a pipeline text has it."""
    if isinstance(value, tuple):
        return ",".join(map(str, cast("tuple[object, ...]", value)))
    return str(value).lower() if isinstance(value, bool) else str(value)
