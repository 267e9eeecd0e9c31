"""Templates, and how numbers, sizes and times are written in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from consilience.iod.wording import counted, format_p
from consilience.service.browsers import browser

__all__ = ["Link", "Shell", "browser", "duration", "fragment", "moment", "number", "prepare", "render", "share", "size", "static_mount"]

_UNITS = ("kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of a navigation: where it leads, in words, whether it is the page one is on, and its state as a small label."""

    title: str
    href: str
    current: bool = False
    state: str = ""


@dataclass(frozen=True, slots=True)
class Shell:
    """What stands around every page: the product's name and where it leads, the navigation, who one is, how to log out.

    ``steps`` is the site's task list, shown at the side; ``links`` are few, shown at the top. ``logout`` is the address a form posts to,
    with ``csrf``.
    """

    product: str
    home: str = "/"
    links: tuple[Link, ...] = ()
    steps: tuple[Link, ...] = ()
    who: str = ""
    logout: str = ""
    csrf: str = ""
    footer: str = ""


def number(value: float) -> str:
    """A number with its thousands apart; few digits after the point.

    >>> number(1234567), number(-0.12345), number(12.0), number(float("nan"))
    ('1,234,567', '−0.123', '12', '–')
    """
    if not math.isfinite(value):
        return "–"
    few = isinstance(value, float) and abs(value) < 1000 and value != int(value)
    return (f"{value:,.3g}" if few else f"{value:,.0f}").replace("-", "−")


def size(count: int) -> str:
    """A number of bytes.

    >>> size(1), size(999), size(12_345), size(268_435_456)
    ('1 byte', '999 bytes', '12.3 kB', '268 MB')
    """
    if count < 1000:
        return counted(count, "byte")
    power = min(len(_UNITS), int(math.log10(count) / 3))
    return f"{count / 1000**power:.3g} {_UNITS[power - 1]}"


def share(part: float) -> str:
    """A share of a whole, in per cent; never 0 % for something, nor 100 % for less than all.

    >>> share(0.0), share(0.00001), share(0.00667), share(0.126), share(0.5), share(0.9999), share(1)
    ('0 %', '< 0.1 %', '0.7 %', '12.6 %', '50 %', '> 99.9 %', '100 %')
    """
    if 0 < part < 0.001:
        return "< 0.1 %"
    if 0.999 < part < 1:
        return "> 99.9 %"
    return f"{100 * part:.1f}".removesuffix(".0") + " %"


def moment(value: float | str) -> str:
    """A time, from seconds since 1970 or an ISO text, in words.

    >>> moment(0), moment("2026-03-01T12:30:00+00:00")
    ('1 January 1970, 00:00 UTC', '1 March 2026, 12:30 UTC')
    """
    try:
        when = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return "–"
    when = when.astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def duration(seconds: float) -> str:
    """A length of time.

    >>> duration(0.4), duration(75), duration(3600), duration(3 * 3600 + 120), duration(604800)
    ('less than a second', '1 min 15 s', '1 h', '3 h 2 min', '7 days')
    """
    if seconds < 1:
        return "less than a second"
    whole = round(seconds)
    if whole < 60:
        return counted(whole, "second")
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    if whole < 2 * 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min".removesuffix(" 0 min")
    return counted(whole // 86400, "day")


@cache
def _environment() -> Environment:
    # autoescape for everything, whatever a template is called: a name can hold anything
    made = Environment(
        loader=PackageLoader("consilience.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {
        "number": number,
        "p_value": format_p,
        "size": size,
        "share": share,
        "moment": moment,
        "browser": browser,
        "duration": duration,
        "counted": counted,
    }
    return made


def prepare(folder: str = "") -> None:
    """Compile the templates of a folder, or all, before anybody waits for a page: a large one takes a twentieth of a second.

    >>> prepare("result")
    """
    environment = _environment()
    for name in environment.list_templates(extensions=["html"]):
        if name.startswith(f"{folder}/" if folder else ""):
            environment.get_template(name)


def fragment(template: str, /, **values: Any) -> Markup:
    """A piece of a page, for events and for other pages: it is escaped already, and says so."""
    return Markup(_environment().get_template(template).render(**values))  # noqa: S704  what the template escapes is all that was not written by us


def render(template: str, /, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any) -> HTMLResponse:
    """A page. ``base.html`` needs ``shell`` (a :class:`Shell`) and ``title``."""
    return HTMLResponse(fragment(template, **values), status, dict(headers or {}))


def static_mount() -> Mount:
    """The route of style sheets and scripts, ``/static``."""
    return Mount("/static", StaticFiles(directory=Path(str(resources.files("consilience.web"))) / "static"), name="static")
