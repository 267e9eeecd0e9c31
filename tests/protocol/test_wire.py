"""The bytes of version 6: a message that changes its bytes needs a new version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from consilience.protocol.framing import decode, encode
from consilience.protocol.handshake import from_server, from_site
from consilience.protocol.version import VERSION
from tests.protocol.messages import FROM_SERVER, FROM_SITE, REQUESTS

RECORDED = json.loads((Path(__file__).parent / "wire.json").read_text(encoding="utf-8"))
MESSAGES = REQUESTS | FROM_SERVER | FROM_SITE


def test_all_that_was_recorded_is_still_said() -> None:
    assert VERSION == 6
    assert set(RECORDED) == set(MESSAGES)


@pytest.mark.parametrize("name", MESSAGES)
def test_bytes_are_those_of_the_version(name: str) -> None:
    assert encode(MESSAGES[name]).hex() == RECORDED[name]


@pytest.mark.parametrize("name", FROM_SERVER)
def test_a_site_understands_all_that_a_server_says(name: str) -> None:
    assert decode(encode(FROM_SERVER[name]), from_server) == FROM_SERVER[name]


@pytest.mark.parametrize("name", FROM_SITE)
def test_a_server_understands_all_that_a_site_says(name: str) -> None:
    assert decode(encode(FROM_SITE[name]), from_site) == FROM_SITE[name]
