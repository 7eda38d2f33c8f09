"""Writes a page for every pass, and their index, from what the passes say of themselves: `make pages`.

What that is, hotdesk.passes.base lists. IR before and after is what the pass makes of `before/NAME.mlir`, whose first line is the
command. Files beside this one that are no page any more are deleted.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from hotdesk.cli.opt import main as hotdesk_opt
from hotdesk.passes.manual import Manual, condition_modules, docstring, manual
from hotdesk.passes.registry import BUILT_IN, load

HERE = Path(__file__).resolve().parent
_MODULE = re.compile(r"`((?:analysis|passes|planning|ir)\.[\w.]+)`")
_STAGES = {
    "tensor": "On tensors",
    "bufferize": "From tensors to buffers",
    "buffers": "On buffers",
}


def main() -> None:
    wanted = pages()
    for name, text in wanted.items():
        (HERE / name).write_text(text, encoding="utf-8")
    for path in set(HERE.glob("*.md")) - {HERE / name for name in wanted}:
        path.unlink()


def pages() -> dict[str, str]:
    """The text of every file, by its name in this folder."""
    manuals = [manual(name) for name in BUILT_IN]
    return {"index.md": _index(manuals), **{f"{each.name}.md": _page(each) for each in manuals}}


def _index(manuals: list[Manual]) -> str:
    parts = [
        "# Passes",
        "What `hotdesk-opt` runs beside MLIR's passes, in the order of the pipeline; made from the source (`make pages`).",
    ]
    for stage, title in _STAGES.items():
        rows = [
            f"| [{each.name}]({each.name}.md) | {each.summary} |" for each in manuals if f".{stage}." in each.module
        ]
        parts += [f"## {title}", "\n".join(["| pass | |", "|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _page(found: Manual) -> str:
    modules = condition_modules(found.text)
    parts = [f"# {found.name}", _linked(found.text, modules), *_checked(found.name), *_example(found.name)]
    for module in modules:
        parts += [f"## Conditions of {module}", _linked(docstring(f"hotdesk.{module}"), modules)]
    return "\n\n".join([*parts, "## Options", _options(found), "## Reasons", _reasons(found.name)]) + "\n"


def _checked(name: str) -> list[str]:
    """What the pass requires and ensures, with its usual options."""
    usual = load(name)()
    said = (("Requires", usual.requires()), ("Ensures", usual.ensures()))
    return [f"{verb} that {' and '.join(each.says for each in all_of)} (checked)." for verb, all_of in said if all_of]


def _linked(text: str, here: Sequence[str]) -> str:
    """A docstring with a link behind each module: to its part of this page, or to its source."""

    def link(found: re.Match[str]) -> str:
        name = found[1]
        if name in here:
            return f"[{found[0]}](#conditions-of-{name.replace('.', '')})"
        path = Path("src", "hotdesk", *name.split("."))
        file = path.with_suffix(".py") if (HERE.parents[1] / path.with_suffix(".py")).exists() else path
        return f"[{found[0]}](../../{file.as_posix()})"

    return _MODULE.sub(link, text)


def _example(name: str) -> list[str]:
    command, _, before = (HERE / "before" / f"{name}.mlir").read_text(encoding="utf-8").partition("\n")
    flags = shlex.split(command)[2:]
    after, said = run(before, [*flags, "--print-decisions"])
    shown = [f"```mlir\n{after}```", *([f"```\n{said}```"] if said else [])]
    run_as = command.removeprefix("// hotdesk-opt ")
    return [
        "## Before",
        f"```mlir\n{before}```",
        "## After",
        f"`hotdesk-opt in.mlir {run_as} --print-decisions`",
        *shown,
    ]


def run(before: str, flags: list[str]) -> tuple[str, str]:
    """What hotdesk-opt writes to stdout and to stderr for a program."""
    out, err = io.StringIO(), io.StringIO()
    with patch("sys.stdin", io.StringIO(before)), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = hotdesk_opt(["-", *flags])
    said = err.getvalue().replace("<stdin>", "in.mlir")
    if code:
        raise ValueError(f"hotdesk-opt {' '.join(flags)}: {said}")
    return re.sub(r"\n+$", "\n", re.sub(r" +$", "", out.getvalue(), flags=re.MULTILINE)), said


def _options(found: Manual) -> str:
    if not found.options:
        return "None."
    rows = [f"| `{o.name}` | {o.kind} | {f'`{o.default}`' if o.default else ''} | {o.text} |" for o in found.options]
    return "\n".join(["| option | value | default | |", "|---|---|---|---|", *rows])


def _reasons(name: str) -> str:
    rows = [f"| `{reason.value}` | {reason.text} |" for reason in load(name).reasons]
    return "\n".join(["| code | |", "|---|---|", *rows]) if rows else "The pass reports no decisions."


if __name__ == "__main__":
    main()
