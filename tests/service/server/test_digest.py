"""The digest of a study's contract: its owner and its sites work out the same, before and after the start; what is edited has another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from consilience.errors import StudyError
from consilience.secagg import Identity
from consilience.service.contract import contract_shown
from tests.service.helpers import STUDY, bearer, joined, new_study, serving

SETTINGS: dict[str, Any] = {
    "alpha": 0.01,
    "max_given": 2,
    "tiers": [["A"], ["C"]],
    "required": ["exogenous A"],
    "return_seconds": 60,
    "method": "auto",
}
VARIABLES = [
    {"name": "A", "kind": "continuous", "unit": "mmol/l", "range": [0.5, None]},
    {"name": "C", "kind": "binary"},
    {"name": "D", "kind": "ordinal", "levels": ["I", "II", "III"]},
]


def test_sites_work_out_the_digest_that_the_owner_sees(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        ada = bearer(client)
        study = new_study(client, ada, variables=VARIABLES, datasets=[["D", "A", "C"], ["C", "A"]], settings=SETTINGS)

        def shown() -> Any:
            return client.get(f"/api/v1/studies/{study}", headers=ada).json()

        assert shown()["contract"] is None, "a study of nobody has no contract"
        for name in ("b", "a", "B"):
            joined(client, ada, study, name)
        before = shown()
        assert contract_shown(before).digest.hex() == before["contract"]
        assert client.post(f"/api/v1/studies/{study}/open", headers=ada).status_code == 200
        assert client.post(f"/api/v1/studies/{study}/start", headers=ada).status_code == 200
        after = shown()
        assert after["contract"] == before["contract"] == contract_shown(after).digest.hex()


def test_whatever_is_edited_changes_the_digest(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        ada = bearer(client)
        study = new_study(client, ada)
        for name in ("a", "b"):
            joined(client, ada, study, name)
        found = [client.get(f"/api/v1/studies/{study}", headers=ada).json()["contract"]]
        for change in (
            {"settings": {"min_rows": 1}},
            {"settings": {"on_dropout": "restart"}},
            {"name": "another"},
            {"datasets": [["A"], ["C"]]},
        ):
            assert client.put(f"/api/v1/studies/{study}", json={**STUDY, **change}, headers=ada).status_code == 200
            found.append(client.get(f"/api/v1/studies/{study}", headers=ada).json()["contract"])
        joined(client, ada, study, "c")
        found.append(client.get(f"/api/v1/studies/{study}", headers=ada).json()["contract"])
        assert len(set(found)) == 6


def test_a_server_that_shows_another_key_than_the_fingerprint_is_not_believed(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        ada = bearer(client)
        study = new_study(client, ada)
        for name in ("a", "b"):
            joined(client, ada, study, name)
        found = client.get(f"/api/v1/studies/{study}", headers=ada).json()
    found["sites"][0]["identity"] = Identity.generate().public_bytes.hex()
    with pytest.raises(StudyError, match="'a' with a fingerprint that is not that of its key"):
        contract_shown(found)
    for broken in ({"sites": [{"name": "a"}]}, {"settings": {"alpha": "x"}}, {"variables": None}, {"settings": {"strange": 1}}):
        with pytest.raises(StudyError):
            contract_shown({**found, **broken})
