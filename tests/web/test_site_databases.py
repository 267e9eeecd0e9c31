"""The app's form for a database, against a real PostgreSQL server; and a plan that the agent's settings name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

from consilience.service.config import AgentConfig
from consilience.web.desk import SiteDesk
from consilience.web.site_app import Launch, create_site_app
from tests.data.sources.postgres import PASSWORD, Postgres, running
from tests.data.sources.tables import hospital
from tests.web.apps import words_of
from tests.web.test_site_sources import ORIGIN, Owner


@contextmanager
def opened(folder: Path, **settings: str) -> Iterator[Owner]:
    desk, launch = SiteDesk(folder, AgentConfig(home=str(folder / "home"), **settings)), Launch()
    with TestClient(create_site_app(desk, port=8098, launch=launch), base_url=ORIGIN, headers={"Origin": ORIGIN}) as client:
        assert client.get(f"/launch?token={launch.token()}").status_code == 200
        yield Owner(folder, client, desk)


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with running(tmp_path_factory.mktemp("postgres")) as found:
        yield found


def asked(owner: Owner, address: str, **how: str) -> str:
    answer = owner.send("/data", "/data/database", address=address, **how).text
    assert PASSWORD not in answer
    return words_of(answer)


@pytest.mark.slow
def test_a_table_and_a_query_of_a_real_server(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    postgres.keep("patients", hospital())
    with opened(tmp_path) as owner:
        assert "60 rows, 4 columns" in asked(owner, postgres.address(), table="patients")
        assert owner.frame.equals(hospital())
        asked(owner, postgres.address(), query="SELECT age, sex FROM patients WHERE stage = 1")
        assert owner.frame.equals(hospital().filter(pl.col("stage") == 1).select("age", "sex"))
        before = owner.frame
        assert "Nothing was run" in asked(owner, postgres.address(), query="DELETE FROM patients")
        assert "does not exist" in asked(owner, postgres.address(), table="nowhere")
        assert "may hold no password" in asked(owner, f"postgresql://owner:{PASSWORD}@127.0.0.1:{postgres.port}/postgres", table="patients")
        monkeypatch.setenv("PGPASSWORD", "wrong")
        assert "does not accept user and password" in asked(owner, postgres.address(), table="patients")
        assert owner.frame.equals(before), "what was there stays"
    assert postgres.run("SELECT count(*) FROM patients") == "60"


def test_a_plan_that_the_settings_name_is_followed_from_the_first_table_on(tmp_path: Path) -> None:
    plan = tmp_path / "site.toml"
    plan.write_text('columns.Geschlecht = { rename = "sex", recode = { w = "female", m = "male" } }\n', encoding="utf-8")
    pl.DataFrame({"age": [61.5, 70.25] * 30, "Geschlecht": ["m", "w"] * 30}).write_csv(tmp_path / "a.csv")
    pl.DataFrame({"age": [61.5, 70.25] * 30}).write_csv(tmp_path / "other.csv")
    with opened(tmp_path, harmonise=str(plan)) as owner:
        owner.choose("a.csv")
        assert owner.desk.table is not None
        assert owner.desk.table.used() == ["age", "sex"]
        assert owner.desk.table.column("sex").to_list()[:2] == ["male", "female"]
        assert "which the table does not have" in owner.choose("other.csv")
        assert owner.desk.table.used() == ["age", "sex"], "what was there stays"
        plan.write_text("columns.Geschlecht.unti = 1", encoding="utf-8")
        assert "has no key" in owner.choose("a.csv")
