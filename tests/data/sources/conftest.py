"""The database server that tests of sources share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.data.sources.postgres import Postgres, running


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with running(tmp_path_factory.mktemp("postgres")) as found:
        yield found
