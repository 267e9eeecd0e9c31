"""Participants of a study with keys exchanged, to be asked by hand."""

from __future__ import annotations

import pytest

from tests.federation.helpers import Wire, mixed_clients


@pytest.fixture
def wire() -> Wire:
    return Wire.open(mixed_clients(2))


@pytest.fixture
def three() -> Wire:
    return Wire.open(mixed_clients(3))
