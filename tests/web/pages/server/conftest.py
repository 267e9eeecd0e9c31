"""An owner's browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.pages.server.helpers import Browser, browsing


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with browsing(tmp_path) as found:
        yield found


@pytest.fixture
def ada(browser: Browser) -> Browser:
    assert browser.login().status_code == 303
    return browser
