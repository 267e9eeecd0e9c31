"""The page is escaped, asks for nothing, runs nothing but its own script, and can be read."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from consilience.iod import Discovery
from consilience.iod.report import render
from tests.iod.report.helpers import HOSTILE, KNOWN, SECTIONS, hostile, read, small


def test_hostile_text_stays_text() -> None:
    plain, root = read(render(replace(small(), knowledge=KNOWN))), read(render(hostile()))
    assert root.tags() <= plain.tags() | {"details", "summary"}
    assert [section.attributes["id"] for section in root.one("main").all("section")] == [*SECTIONS[:6], "knowledge", *SECTIONS[6:]]
    assert len(root.all("script")) == len(root.all("style")) == 1
    for node in root.nodes():
        assert not any(name.startswith("on") for name in node.attributes)
        assert "style" not in node.attributes
    shown = {cell.text for cell in root.one("table", id="matrix").all("th")}
    assert set(HOSTILE[:4]) <= shown
    assert "␀␇" in shown
    assert f"{'x' * 79}…" in shown
    labels = {node.attributes["data-label"] for node in root.all("g", class_="node")}
    assert set(HOSTILE[:4]) <= labels
    assert "<img src=x> and \"&' weight 0.2" in [item.text for item in root.one("section", id="conflicts").all("li")]


@pytest.mark.parametrize("make", [small, hostile])
def test_the_page_asks_for_nothing(make: Callable[[], Discovery]) -> None:
    page = render(make())
    root = read(page)
    assert not root.tags() & {"link", "img", "iframe", "object", "embed", "base", "form", "video", "audio", "source", "use", "image"}
    for node in root.nodes():
        assert not {"src", "srcset", "action", "formaction", "xlink:href", "ping", "background"} & set(node.attributes)
        assert node.attributes.get("href", "#").startswith("#")
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}
    style = root.one("style").text
    assert not re.search(r"url\(|@import|@font-face|expression", style)
    assert not re.search(r"fetch|XMLHttp|import\(|eval|innerHTML|document\.write|localStorage|cookie", root.one("script").text)


def test_the_policy_names_this_style_and_this_script_only() -> None:
    root = read(render(hostile()))
    (meta,) = [node for node in root.all("meta") if "http-equiv" in node.attributes]
    assert meta.attributes["http-equiv"] == "Content-Security-Policy"
    policy = dict(part.strip().split(" ", 1) for part in meta.attributes["content"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(root.one(tag).text.encode()).digest()).decode()
        assert policy[f"{tag}-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in meta.attributes["content"]


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    return float(np.dot([0.2126, 0.7152, 0.0722], [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]))


def test_colours_can_be_read_on_light_and_dark_pages() -> None:
    """WCAG 2.1: text has a contrast of 4.5 at least."""
    style = read(render(small())).one("style").text
    schemes = [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)]
    # the page's own and those of the parts that it shares with other pages, each light and dark
    assert len(schemes) == 4
    schemes = [schemes[0] | schemes[2], schemes[1] | schemes[3]]
    for colours in schemes:
        for ground in (colours["page"], colours["soft"]):
            for name in ("ink", "quiet", "link", "accent", "independent", "dependent", "uninformative"):
                low, high = sorted([luminance(ground), luminance(colours[name])])
                assert (high + 0.05) / (low + 0.05) >= 4.5, name
