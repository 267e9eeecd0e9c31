"""Programs of the machine that tests need besides Python."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

__all__ = ["missing"]


def missing(reason: str) -> NoReturn:
    """A program is not there. The test is left out with a word; where all must run (``CI``), it fails."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
