"""The server's pages are there where their extra is installed; elsewhere it serves without them, and says so."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from consilience.cli import server
from tests.service.helpers import make_app


def test_with_the_extra_there_are_pages(tmp_path: Path) -> None:
    app = make_app(tmp_path)
    before = len(app.user_middleware)
    assert server._pages(app) is app
    assert len(app.user_middleware) == before + 1


def test_without_the_extra_the_server_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    app = make_app(tmp_path)
    before = list(app.user_middleware)
    monkeypatch.setattr(server, "find_spec", lambda _name: None)
    with caplog.at_level(logging.WARNING):
        assert server._pages(app) is app
    assert app.user_middleware == before
    assert "pip install 'consilience[web]'" in caplog.text
