"""What all tests share: which of them are measured."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
WAITING = {"cli", "service", "web"}
"""Rooms whose slow tests mostly wait, so that measuring costs little. Elsewhere they repeat the same lines thousands of times, which
measuring makes much slower, or compare times, which it would distort."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests that compute run unmeasured."""
    for item in items:
        if item.get_closest_marker("slow") and TESTS in item.path.parents and item.path.relative_to(TESTS).parts[0] not in WAITING:
            item.add_marker("no_cover")
