"""The owner's page says when the server's certificate ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from consilience.service.tls import self_signed
from tests.web.pages.server.helpers import browsing, words


@pytest.mark.parametrize(("days", "said"), [(20, True), (100, False)])
def test_a_certificate_that_ends_soon_is_said_to_owners_and_programs(tmp_path: Path, days: int, said: bool) -> None:
    certificate = tmp_path / "tls.crt"
    certificate.write_text(self_signed(["study.example"], days=days)[0])
    with browsing(tmp_path, tls_cert=str(certificate)) as ada:
        ada.login()
        assert ("Renew it: consilience server renew-certificate" in words(ada.get("/studies"))) is said
        told = ada.client.get("/health").json()
        assert ("warning" in told) is said
        assert told["certificate_ends"]
        statement = ada.client.get("/api/v1/certificate").json()
        assert statement["certificate"] == certificate.read_text()


def test_without_a_certificate_there_is_nothing_to_say(tmp_path: Path) -> None:
    with browsing(tmp_path) as ada:
        assert "certificate_ends" not in ada.client.get("/health").json()
        assert ada.client.get("/api/v1/certificate").status_code == 404
