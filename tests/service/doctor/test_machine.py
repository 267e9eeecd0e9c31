"""The program and its packages, as the installed distribution says; what does not load, and a port that is taken."""

from __future__ import annotations

import socket
import sys
import webbrowser
from importlib import metadata
from pathlib import Path

import pytest

from consilience.service.doctor import machine
from consilience.service.doctor.machine import look_at_machine, packages_needed, port_sign
from consilience.service.doctor.sign import Standing, in_the_way


def installed(folder: Path, *requires: str) -> None:
    """A distribution of another name that is installed in a folder of its own."""
    info = folder / "trialpackage-1.0.dist-info"
    info.mkdir()
    lines = "".join(f"Requires-Dist: {line}\n" for line in requires)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: trialpackage\nVersion: 1.0\n{lines}")


def test_packages_are_those_that_the_project_declares() -> None:
    needed = {(name, extra) for name, _, extra in packages_needed("consilience")}
    assert {("polars", ""), ("websockets", "service"), ("jinja2", "web")} <= needed
    assert not {name for name, _ in needed} & {"consilience"}


@pytest.mark.slow
def test_this_machine_is_well() -> None:
    signs = look_at_machine("1.2.3")
    assert in_the_way(signs) == []
    assert [sign.about for sign in signs] == ["versions", "packages", "loading", "browser", "port"]
    assert "1.2.3" in signs[0].words
    assert f"numpy {metadata.version('numpy')}" in signs[1].words


def test_what_is_missing_or_too_old_is_named_with_the_command_that_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "numpy>=2.0", "nosuchthing>=3", "polars>=999.1", "nopages>=1 ; extra == 'web'", "other ; extra == 'unasked'")
    monkeypatch.syspath_prepend(str(tmp_path))
    ours, web = machine._package_signs("trialpackage")
    assert ours.standing is Standing.OBSTACLE
    assert "nosuchthing" in ours.words
    assert f"polars of version 999.1 or later (there is {metadata.version('polars')})" in ours.words
    assert "numpy" not in ours.words
    assert "pip install 'trialpackage'" in ours.ask
    assert (web.standing, "pip install 'trialpackage[web]'" in web.ask) == (Standing.NOTICE, True)
    (copied,) = machine._package_signs("nosuchdistribution")
    assert copied.standing is Standing.NOTICE


@pytest.mark.parametrize(
    ("program", "words"),
    [("raise ImportError('DLL load failed')", "DLL load failed"), ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "code -4")],
)
def test_a_package_that_does_not_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, words: str) -> None:
    (tmp_path / "brokenpackage.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = machine._loading_sign(("json", "brokenpackage", "colorsys"))
    assert found.standing is Standing.OBSTACLE
    assert "brokenpackage cannot be loaded" in found.words
    assert words in found.words
    assert "security program" in found.ask
    assert machine._loading_sign(("json", "colorsys")).standing is Standing.GOOD


def test_an_interpreter_that_may_not_start_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert "starting processes" in machine._loading_sign(("json",)).ask


def test_a_machine_without_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "_tryorder", [])
    monkeypatch.setattr(webbrowser, "_browsers", {})
    assert machine._browser_sign().standing is Standing.NOTICE
    webbrowser.register("trial browser", None, webbrowser.GenericBrowser("true"), preferred=True)
    assert machine._browser_sign().standing is Standing.GOOD


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = port_sign(port)
        assert found.standing is Standing.OBSTACLE
        assert f"port {port}" in found.ask
    assert port_sign(0).standing is Standing.GOOD
