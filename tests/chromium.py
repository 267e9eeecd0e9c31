"""The browser that tests of pages use, if there is one."""

from __future__ import annotations

import os
import shutil

import pytest

__all__ = ["browser"]


def browser() -> str:
    """Its path. Without one the test is left out with a word; where all must run (``CI``), it fails."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    reason = "pages are tried in chromium, chromium-browser or google-chrome, and none is installed"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
