"""Pages escape what they show, and a value that is missing is an error and not a gap."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import consilience.web
from consilience.web.forms import Trouble
from consilience.web.rendering import Link, Shell, _environment, render

HOSTILE = "<script>alert(1)</script>\"'&"
PAGE = """{% extends "base.html" %}{% block main %}
{{ ui.error_summary(troubles) }}{{ ui.field("a", name, value=name, hint=name, troubles=troubles) }}{{ ui.textarea("e", name, name) }}
{{ ui.select("b", name, [(name, name)], value=name) }}{{ ui.radios("c", name, [(name, name, name)]) }}{{ ui.checkbox("d", name) }}
{{ ui.summary_list([(name, name, name, name)]) }}{{ ui.tag(name) }}{{ ui.button(name) }}{{ ui.progress("x", 1, 2, name) }}
{% call ui.table(name, (name, (name, "number"))) %}<tr><td>{{ name }}</td></tr>{% endcall %}
{% call ui.notice("warn", name) %}{{ name }}{% endcall %}{% endblock %}"""


def test_everything_is_escaped() -> None:
    shell = Shell(HOSTILE, links=(Link(HOSTILE, "/"),), steps=(Link(HOSTILE, "/", True, HOSTILE),), who=HOSTILE, footer=HOSTILE)
    text = _environment().from_string(PAGE).render(shell=shell, title=HOSTILE, name=HOSTILE, troubles=[Trouble("a", HOSTILE)])
    assert "alert(1)" in text
    assert "<script" not in text
    assert "\"'&" not in text
    assert 'href="#a"' in text
    assert 'aria-describedby="a-hint a-error-1" aria-invalid="true"' in text


def test_no_page_has_code_of_its_own() -> None:
    """The policy forbids inline scripts and styles; a template that had one would be broken, not dangerous."""
    folder = Path(consilience.web.__file__).parent / "templates"
    for file in folder.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert " style=" not in text
        assert "<style" not in text
        assert " onclick" not in text
        assert "<script>" not in text
        assert "|safe" not in text.replace("| safe", "|safe"), file.name
        assert "//" not in text.replace("https://…", "").replace("postgresql://user@host", ""), f"{file.name} names another host"


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("base.html", title="x")


def test_the_error_is_in_the_title() -> None:
    page = render("base.html", shell=Shell("consilience"), title="Data", troubles=[Trouble("", "x")])
    assert b"<title>Error: Data" in page.body


def test_templates_and_style_sheets_are_in_the_wheel() -> None:
    """It takes every file of the package that the project's history does not leave out."""
    root = Path(consilience.web.__file__).parents[3]
    built = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert built == {"packages": ["src/consilience"]}
    files = [str(f) for f in Path(consilience.web.__file__).parent.rglob("*") if f.suffix in (".html", ".css", ".js", ".svg")]
    assert len(files) >= 5
    left_out = subprocess.run(["git", "check-ignore", *files], cwd=root, capture_output=True, text=True, check=False)
    assert left_out.stdout == ""
