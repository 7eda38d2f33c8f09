"""Altair and Vega for pages and pictures: what the charts of all reports share. The extra `report` has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from hotdesk.errors import MissingExtraError
from hotdesk.report.text import place, size


def require_drawing() -> None:
    """Raises MissingExtraError where pages and pictures cannot be made."""
    for package, module in (("altair", "altair"), ("jinja2", "jinja2"), ("vl-convert-python", "vl_convert")):
        if find_spec(module) is None:
            raise MissingExtraError.of("drawing a report", "report", package)


def altair() -> Any:
    """The library. Raises MissingExtraError."""
    try:
        import altair
    except ImportError as error:
        raise MissingExtraError.of("drawing a report", "report", "altair") from error
    return altair


def rendered(template: str, values: Mapping[str, Any], data: Any) -> str:
    """A page of a template beside this module, with Vega's JavaScript and `data` inside. Raises MissingExtraError."""
    try:
        import jinja2
        from markupsafe import Markup, escape
    except ImportError as error:
        raise MissingExtraError.of("a report in HTML", "report", "jinja2") from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )

    def breaking(text: str) -> Any:
        """A path whose lines end behind a dot or a slash, not within a word."""
        return escape(text).replace(".", Markup(".<wbr>")).replace("/", Markup("/<wbr>"))

    environment.filters.update(size=size, place=place, breaking=breaking)
    text = files("hotdesk.report").joinpath(template).read_text(encoding="utf-8")
    return environment.from_string(text).render(**values, script=_library(), data=_embedded(data))


def svg_of(chart: Mapping[str, Any]) -> str:
    """A chart as a picture. Raises MissingExtraError."""
    return _converter().vegalite_to_svg(chart)


def png_of(chart: Mapping[str, Any]) -> bytes:
    """A chart as a picture, two pixels a point. Raises MissingExtraError."""
    return _converter().vegalite_to_png(chart, scale=2.0)


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtraError.of("drawing a report", "report", "vl-convert-python") from error
    return vl_convert


@cache
def _library() -> str:
    """Vega, Vega-Lite and their embedding, in JavaScript."""
    return _converter().javascript_bundle().replace("</script", "<\\/script")


def _embedded(data: Any) -> str:
    """JSON that can stand in a script element of a page."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
