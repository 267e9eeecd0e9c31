"""The browser that tests of pages use, if there is one."""

from __future__ import annotations

import shutil

from tests.programs import missing

__all__ = ["browser"]


def browser() -> str:
    """Its path. Without one the test is left out with a word; where all must run (``CI``), it fails."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return missing("pages are tried in chromium, chromium-browser or google-chrome, and none is installed")
