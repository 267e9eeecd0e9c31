"""What is disclosed of a site is said in the same words wherever it is said: consent, dry run, pages, and the document for the DPO."""

from __future__ import annotations

import asyncio
import html
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from starlette.testclient import TestClient

import consilience as cs
from consilience.cli.consenting import show_offer
from consilience.data.sources import Loaded
from consilience.disclosure.words import SOLVED, STATED
from consilience.protocol.handshake import Challenge, Consent, Proposal, Welcome
from consilience.secagg import Identity, fingerprint_text
from consilience.service.agent import Home, Site, StudyFolder
from consilience.service.agent.asking import Asked, Decision
from consilience.service.agent.disclosing import Disclosed, disclosed
from consilience.service.agent.rehearsal import rehearse
from consilience.service.config import AgentConfig
from consilience.service.contract import contract_shown
from consilience.settings import NetworkSettings
from consilience.settings.choices import Isolation, SingleSite
from consilience.web.desk import SiteDesk
from consilience.web.desk.leaving import Rehearsal
from consilience.web.desk.origin import Origin
from consilience.web.desk.table import SiteTable
from consilience.web.site_app import Launch, create_site_app
from tests.service.agent.sites import STUDY, folder_of

ORIGIN = "http://127.0.0.1:8097"
STUDIED = {
    "aggregate": NetworkSettings(),
    "strict": NetworkSettings(isolation=Isolation.STRICT, single_site=SingleSite.REFUSE),
    "no rules": NetworkSettings(min_cell=1),
}
FRAME = pl.DataFrame(
    {
        "A": [float(i % 17) for i in range(92)],
        "C": ["p"] * 50 + ["q"] * 40 + ["r"] * 2,
        "Z": [None if i % 4 == 0 else float(i % 13) for i in range(92)],
    }
)
"""A level that two patients have, and a number that a quarter of them lacks."""


class Scene:
    """A site in a study that has not started: its app, its home and what the server shows."""

    def __init__(self, path: Path, settings: NetworkSettings) -> None:
        self.folder: StudyFolder = folder_of(path / "home")
        identity, others = Home(path / "home").identity(), [Identity.generate() for _ in range(2)]
        kinds = {"A": ("continuous", []), "C": ("multinomial", ["p", "q", "r"]), "Z": ("continuous", [])}
        self.study: dict[str, Any] = {
            "id": STUDY,
            "name": "trial",
            "state": "open",
            "variables": [{"name": name, "kind": kind, "levels": levels} for name, (kind, levels) in kinds.items()],
            "datasets": [["A", "C", "Z"]],
            "sites": [
                {"name": f"site{i}", "identity": each.public_bytes.hex(), "fingerprint": fingerprint_text(each.fingerprint)}
                for i, each in enumerate([identity, *others])
            ],
            "settings": msgspec.to_builtins(settings),
        }
        self.contract = contract_shown(self.study)
        self.client = cs.Client("site0", FRAME, identity=identity)
        self.config = AgentConfig(home=str(path / "home"))
        self.desk = SiteDesk(path, self.config)
        self.desk.table, self.desk.shown = SiteTable(Origin("a.csv"), Loaded(FRAME)), self.study
        self.desk.confirm_fit()

    def asked(self) -> list[str]:
        """By the agent, when the study starts."""
        seen: list[Asked] = []

        def decide(asked: Asked) -> Decision:
            seen.append(asked)
            return Decision(yes=True, by="its owner")

        site = Site(self.client, self.folder, lambda *_: False, decide=decide)
        site.state.moves(Challenge)
        site.handle(Welcome("site0", STUDY, "trial", "open"))
        assert isinstance(site.handle(Proposal(self.contract.encoded())), Consent)
        return seen[0].lines

    def pages(self, *paths: str) -> list[str]:
        async def look() -> dict[str, Any]:
            return self.study

        self.desk.look = look  # type: ignore[method-assign]
        self.desk.dry_run.found = Rehearsal(tuple(rehearse(self.client, self.study).entries), self.desk.offer)
        launch = Launch()
        with TestClient(create_site_app(self.desk, port=8097, launch=launch), base_url=ORIGIN, headers={"Origin": ORIGIN}) as http:
            assert http.get(f"/launch?token={launch.token()}").status_code == 200
            return [html.unescape(http.get(path).text) for path in paths]


@pytest.mark.parametrize("rules", STUDIED)
def test_consent_dry_run_pages_and_document_say_the_same(rules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = Scene(tmp_path, STUDIED[rules])
    said = disclosed(scene.client, scene.contract).lines()
    limits = scene.contract.limits()
    show_offer(scene.client, scene.folder, scene.study, scene.config)
    shown = {"command line": capsys.readouterr().out}
    shown |= dict(zip(("dry run", "consent", "document"), scene.pages("/leaving", "/consent", "/leaving/document"), strict=True))
    shown["agent"] = "\n".join(scene.asked())
    for where, text in shown.items():
        for line in (*said, *limits):
            assert line in text, (where, line)
    everything = "\n".join(said)
    if rules != "no rules":
        assert "C = r" in everything, "the rare level is named to its owner"
        assert "left out" in everything
        assert SOLVED in everything
        assert any(SOLVED in line for line in limits)
        assert STATED in limits


@pytest.mark.parametrize("rules", STUDIED)
def test_what_is_shown_is_what_answers(rules: str, tmp_path: Path) -> None:
    scene = Scene(tmp_path, STUDIED[rules])
    before = disclosed(scene.client, scene.contract)
    members = scene.contract.fingerprints.values()
    half = scene.client.join(STUDY, scene.contract.schema, scene.contract.terms, members, contract=scene.contract.digest)
    assert Disclosed.of(half).min_cell == before.min_cell
    assert half.shielded.digest() == before.shielded.digest()
    assert half.shielded.statement == before.shielded.statement


def test_the_kept_consent_has_the_words_that_were_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path, STUDIED["aggregate"])
    said = disclosed(scene.client, scene.contract).lines()
    assert scene.desk.disclosed() == said
    assert scene.desk.disclosed() is scene.desk.disclosed(), "every page asks; the table is shielded once"
    monkeypatch.setattr(scene.desk, "begin", lambda *_, **__: None)
    asyncio.run(scene.desk.agree(scene.desk.offer))
    kept = scene.desk.consent
    assert kept is not None
    assert set(kept.lines) >= {*said, *scene.contract.limits()}
