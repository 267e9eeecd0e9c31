"""A server and an owner's token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.service.helpers import bearer, serving


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with serving(tmp_path, join_burst=1000, login_burst=1000) as found:
        yield found


@pytest.fixture
def ada(client: TestClient) -> dict[str, str]:
    return bearer(client)
