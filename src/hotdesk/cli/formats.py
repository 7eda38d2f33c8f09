"""The formats that a record is shown in: JSON, a page, pictures; else tables on a terminal, and text in a pipe."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hotdesk.report.vega import require_drawing


@dataclass(frozen=True, slots=True)
class Formats:
    """How a record is shown; each format is made, and what it needs imported, when it is asked for.

    Attributes:
        text: its lines.
        json: the whole of it.
        page: a page that needs no network.
        svg, png: the charts.
        tables: what `rich` prints.
    """

    text: Callable[[], str]
    json: Callable[[], str]
    page: Callable[[], str]
    svg: Callable[[], str]
    png: Callable[[], bytes]
    tables: Callable[[], Iterable[Any]]

    def write(self, options: argparse.Namespace) -> None:
        """Writes the formats that a command line asks for; if it asks for none, shows the record on stdout."""
        for path, made in ((options.json, self.json), (options.html, self.page), (options.svg, self.svg)):
            if path == "-":
                print(made(), end="")
            elif path:
                Path(path).write_text(made(), encoding="utf-8")
        if options.png:
            Path(options.png).write_bytes(self.png())
        if not (options.json or options.html or options.svg or options.png):
            self._show()

    def _show(self) -> None:
        if not sys.stdout.isatty():
            print(self.text())
            return
        from rich.console import Console

        console = Console()
        for each in self.tables():
            console.print(each)


def require_formats(options: argparse.Namespace) -> None:
    """Tells before a model is compiled and measured what `Formats.write` could not write.

    Raises:
        MissingExtraError: pages and pictures need an extra that is not installed.
        OSError: a file cannot be written.
    """
    if options.html or options.svg or options.png:
        require_drawing()
    for path in filter(None, (options.json, options.html, options.svg, options.png)):
        if path != "-":
            require_writable(path)


def require_writable(path: str) -> None:
    """Raises OSError where a file cannot be written."""
    folder = Path(path).parent
    wrong = errno.EISDIR if Path(path).is_dir() else 0 if folder.is_dir() else errno.ENOENT
    if not wrong and not os.access(path if Path(path).exists() else folder, os.W_OK):
        wrong = errno.EACCES
    if wrong:
        raise OSError(wrong, os.strerror(wrong), path)


def add_formats(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `Formats.write` reads."""
    add = parser.add_argument
    add("--json", nargs="?", const="-", metavar="FILE", help="the whole record; without FILE on stdout")
    add("--html", metavar="FILE", help="a page that needs no network (extra 'report')")
    add("--svg", metavar="FILE", help="the charts as a picture")
    add("--png", metavar="FILE", help="the charts as a picture")
