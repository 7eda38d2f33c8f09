"""What mkdocs adds to the pages of this folder: pages made from the code, and the files of the repository that pages link to.

Pages link to files by paths in the repository, so that the links work there too. A file outside of this folder that some page
links to becomes a page below `repository/`: Markdown as it is, anything else as its text, a folder as a list of what is in it.
"""

from __future__ import annotations

import dataclasses
import inspect
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from hotdesk import errors
from hotdesk.cli.main import VERBS
from hotdesk.compiling.options import Options
from hotdesk.explain.reason import Reason

ROOT = Path(__file__).resolve().parents[1]
_OUTSIDE = "repository/"
_FENCED = re.compile(r"(^ *(`{3,}).*?^ *\2 *$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = _expanded(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, text in generated().items():
        files.append(File.generated(config, name, content=text))
    seen = {file.src_uri for file in files}
    wanted = [link for file in files.documentation_pages() for link in _outside(file.content_string, file.src_uri)]
    wanted += [f"{_OUTSIDE}{path}" for path in _named(config.nav)]
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        text = _text(name)
        if text is None:
            continue  # mkdocs says that the link leads nowhere
        files.append(File.generated(config, name, content=text))
        wanted += _outside(text, name)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page with links to pages of the site where it has links to files of the repository."""

    def target(found: re.Match[str]) -> str:
        return posixpath.relpath(_uri(found[1], page.file.src_uri), posixpath.dirname(page.file.src_uri))

    return "".join(part if fenced else _LINK.sub(target, _lists(part)) for part, fenced in _parts(markdown))


def generated() -> dict[str, str]:
    """The pages that are made from the code, by their names."""
    return {
        "reference/options.md": _options(),
        "reference/commands.md": _commands(),
        "reference/reasons.md": _reasons(),
        "errors/index.md": _errors(),
    }


def _options() -> str:
    says = dict(re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", inspect.getdoc(Options) or "", re.MULTILINE))
    says = {
        name: re.sub(r"docs/([\w-]+)\.md", r"[\1](../\1.md)", " ".join(text.split())) for name, text in says.items()
    }
    rows = [f"| `{f.name}` | `{f.default!r}` | {says[f.name]} |" for f in dataclasses.fields(Options)]
    head = "What `hotdesk.compile(…, options=hotdesk.Options(…))` takes. Passes have [pages with theirs](../passes/index.md)."
    return "\n\n".join(["# Options", head, _table("option", "default", "", rows=rows)]) + "\n"


def _commands() -> str:
    parts = [
        "# Commands",
        "What each verb of `hotdesk` says of itself with `--help`. `hotdesk-opt` has [a page](../hotdesk-opt.md).",
        '`eval "$(register-python-argcomplete hotdesk)"` in a shell\'s start file completes verbs, options and files.',
    ]
    for name, verb in VERBS.items():
        parser = verb.parser()
        parser.prog = f"hotdesk {name}"
        parts += [f"## hotdesk {name}", f"```\n{parser.format_help()}```"]
    return "\n\n".join(parts) + "\n"


def _reasons() -> str:
    rows = [f"| `{reason.value}` | {reason.text} |" for reason in Reason]
    head = "Every decision has one of these codes: in `program.decisions()`, in reports, and in what `hotdesk explain` says."
    return "\n\n".join(["# Reasons", head, _table("code", "", rows=rows)]) + "\n"


def _errors() -> str:
    found = sorted((getattr(errors, name) for name in errors.__all__), key=lambda each: each.code)
    rows = [f"| [{each.code}]({each.code}.md) | `{each.__name__}` | {_first(each)} |" for each in found]
    head = "Every exception has a code, which its message ends with, and a page with an example and the way out."
    return "\n\n".join(["# Errors", head, _table("code", "class", "", rows=rows)]) + "\n"


def _first(found: type[Any]) -> str:
    """The first sentence of what a class says of itself."""
    return " ".join((inspect.getdoc(found) or "").partition("\n\n")[0].split()).replace("|", "\\|")


def _table(*heads: str, rows: list[str]) -> str:
    return "\n".join([f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *rows])


def _expanded(nav: Any) -> Any:
    """A navigation in which `folder/*` stands for the pages of a folder, the index first."""
    if isinstance(nav, dict):
        return {title: _expanded(below) for title, below in nav.items()}
    if isinstance(nav, list):
        return [_expanded(each) for each in nav]
    if not nav.endswith("/*"):
        return nav
    folder = nav.removesuffix("/*")
    names = sorted(path.name for path in (ROOT / "docs" / folder).glob("*.md"))
    return [f"{folder}/{name}" for name in ["index.md", *(name for name in names if name != "index.md")]]


def _named(nav: Any) -> Iterator[str]:
    """The files of the repository that the navigation names."""
    if isinstance(nav, str):
        if nav.startswith(_OUTSIDE):
            yield nav.removeprefix(_OUTSIDE)
        return
    for each in nav.values() if isinstance(nav, dict) else nav:
        yield from _named(each)


def _lists(text: str) -> str:
    """Lists as Python-Markdown wants them: four spaces before an inner item, a blank line before the first."""
    text = re.sub(r"^ {2,3}(?=[-*] )", "    ", text, flags=re.MULTILINE)
    return re.sub(r"^(?![-*] |\d+\. )(\S.*\n)(?=- |1\. )", r"\1\n", text, flags=re.MULTILINE)


def _outside(text: str, uri: str) -> Iterator[str]:
    """The pages below `repository/` that a page links to."""
    for part, fenced in _parts(text):
        for found in () if fenced else _LINK.finditer(part):
            target = _uri(found[1], uri)
            if target.startswith(_OUTSIDE):
                yield target


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in order, in parts that are fenced code or are not."""
    end = 0
    for found in _FENCED.finditer(text):
        yield text[end : found.start()], False
        yield found[0], True
        end = found.end()
    yield text[end:], False


def _uri(link: str, uri: str) -> str:
    """The page of the site for a link on a page, as if that stood in the repository."""
    here = uri.removeprefix(_OUTSIDE) if uri.startswith(_OUTSIDE) else f"docs/{uri}"
    path = posixpath.normpath(posixpath.join(posixpath.dirname(here), link))
    if path.startswith("docs/"):
        inside = path.removeprefix("docs/")
        return f"{inside}/index.md" if (ROOT / path).is_dir() else inside
    if (ROOT / path).is_dir():
        return f"{_OUTSIDE}{path}/index.md"
    return f"{_OUTSIDE}{path}" if path.endswith(".md") else f"{_OUTSIDE}{path}.md"


def _text(uri: str) -> str | None:
    """A file or folder of the repository as a page, if there is one."""
    path = ROOT / uri.removeprefix(_OUTSIDE)
    if path.is_file():
        return path.read_text(encoding="utf-8")
    if path.name == "index.md" and path.parent.is_dir():
        name = path.parent.relative_to(ROOT).as_posix()
        return f"# {name}\n\n" + "".join(f"- `{each.name}`\n" for each in sorted(path.parent.iterdir()) if each.suffix)
    path = path.with_suffix("")
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    head = f"---\nsearch:\n  exclude: true\n---\n\n# {path.relative_to(ROOT).as_posix()}\n\n"
    return f"{head}`````{path.suffix.removeprefix('.').replace('py', 'python')}\n{text}`````\n"
