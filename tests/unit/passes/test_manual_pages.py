"""The pages of docs/passes: made from the passes as they are now, complete, and with every reason that a pass gives."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hotdesk.cli.opt import main
from hotdesk.errors import HotdeskError
from hotdesk.explain import Reason
from hotdesk.passes.manual import manual
from hotdesk.passes.registry import BUILT_IN, load
from hotdesk.passes.textual import MLIRPasses, parse_pipeline
from tests.running.filecheck import DIRECTORY, parsed, pieces

FOLDER = Path(__file__).parents[3] / "docs" / "passes"
LIT = sorted(path for stage in ("tensor", "bufferize", "buffers") for path in (DIRECTORY / stage).glob("*.mlir"))


@pytest.fixture(scope="module")
def generator() -> Any:
    spec = importlib.util.spec_from_file_location("pages", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(generator: Any) -> dict[str, str]:
    return generator.pages()


def test_no_page_is_out_of_date(pages: dict[str, str]) -> None:
    """What the pages show of IR, before and after, the passes made just now."""
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert written.keys() == pages.keys(), "`make pages` writes them"
    for name, text in pages.items():
        assert written[name] == text, f"{name} is out of date: `make pages`"


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_page_has_every_part(name: str, pages: dict[str, str]) -> None:
    text = pages[f"{name}.md"]
    before, after = re.findall(r"^```mlir\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert str(parsed(before)) != str(parsed(after)), "the pass does nothing to its example"
    assert re.search(r"^\d+\. |Legal iff|Always legal", text, re.MULTILINE), "no conditions"
    found = load(name)
    assert [o.name for o in manual(name).options] == [f.name.replace("_", "-") for f in fields(found)]  # type: ignore[arg-type]
    assert all(option.text for option in manual(name).options), "an option that nothing is said of"
    assert all(f"| `{reason}` | {reason.text} |" in text for reason in found.reasons)
    assert len(set(found.reasons)) == len(found.reasons)


@pytest.mark.parametrize("name", BUILT_IN)
def test_defaults_are_those_of_the_pass(name: str) -> None:
    options = manual(name).options
    given = " ".join(f"{option.name}={option.default}" for option in options if option.default)
    assert str(parse_pipeline(f"builtin.module({name}{{{given}}})")) == f"builtin.module({name})"


@pytest.mark.parametrize("name", BUILT_IN)
def test_links_lead_somewhere(name: str, pages: dict[str, str]) -> None:
    text = pages[f"{name}.md"]
    headings = {
        re.sub(r"[^\w-]", "", line.lower().replace(" ", "-")) for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]*)\)", text):
        assert target[1:] in headings if target.startswith("#") else (FOLDER / target).exists(), target


def _decided(path: Path) -> Iterator[tuple[str, Reason]]:
    """Each reason that a pass gives for a file of lit's, with the name of the pass."""
    for piece in pieces(path):
        for pipeline in piece.pipelines:
            module = parsed(piece.text)
            for one in parse_pipeline(pipeline).passes:
                try:
                    taken = type(parse_pipeline("builtin.module()"))((one,)).run(module)
                except HotdeskError:  # the file is about the error
                    break
                yield from ((one.name, decision.reason) for decision in taken if not isinstance(one, MLIRPasses))


@pytest.mark.parametrize("path", LIT, ids=lambda path: path.stem)
def test_every_reason_is_listed(path: Path) -> None:
    for name, reason in set(_decided(path)):
        assert reason in load(name).reasons, f"{name} gives the reason {reason}, which its `reasons` do not have"


def test_the_help_lists_every_pass_with_its_options() -> None:
    text = io.StringIO()
    with contextlib.redirect_stdout(text), pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    lines = text.getvalue().splitlines()
    for name in BUILT_IN:
        found = manual(name)
        at = next(i for i, line in enumerate(lines) if line.startswith(f"  --{name} "))
        assert lines[at].endswith(f" - {found.summary}")
        for number, option in enumerate(found.options, at + 1):
            assert lines[number].startswith(f"    --{option.name}=<{option.kind}> ")
            assert option.text.rstrip(".") in lines[number]
