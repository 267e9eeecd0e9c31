"""One study file for ``consilience discover`` and for ``consilience server study create``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.cli import study as study_commands
from consilience.cli.app import app
from tests.service.helpers import bearer, serving

runner = CliRunner()
GRAPH = "A o-> C, B o-> C, C --> D"
SETTINGS = '[settings]\nalpha = 0.01\nmax_given = 1\nmin_rows = 20\nmethod = "fisher"\ntiers = [["A", "B"], ["C", "D"]]\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A simulated study, with settings."""
    args = ["simulate", "--graph", GRAPH, "--sites", "3", "--n", "600", "--exclusive", "A,D", "--seed", "3", "--out", str(tmp_path)]
    kinds = ("A=ordinal", "B=continuous", "C=continuous", "D=binary")
    assert runner.invoke(app, [*args, *(word for kind in kinds for word in ("--kind", kind))]).exit_code == 0
    path = tmp_path / "study.toml"
    head, sign, rest = path.read_text(encoding="utf-8").partition("[variables.")
    path.write_text(head + SETTINGS + sign + rest, encoding="utf-8")
    return path


def found_in(*words: str) -> Any:
    answer = runner.invoke(app, ["discover", "--json", *words])
    assert answer.exit_code in (0, 3), answer.output
    return json.loads(answer.stdout)


def created_on_a_server(study: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Any]]:
    """The study that a server has made of the file, and what it was sent."""
    sent: list[Any] = []
    folder.mkdir()
    with serving(folder) as client:
        ada = bearer(client)

        def call(_: Any, method: str, path: str, body: Any = None) -> Any:
            sent.append(body)
            reply = client.request(method, f"/api/v1{path}", json=body, headers=ada)
            assert reply.status_code == 201, reply.text
            return reply.json()

        monkeypatch.setattr(study_commands, "call", call)
        monkeypatch.setenv("CONSILIENCE_SERVER_TOKEN", "of the test client")
        answer = runner.invoke(app, ["server", "study", "create", str(study), "--server", "https://study.example"])
        assert answer.exit_code == 0, answer.output
        return client.get(f"/api/v1/studies/{answer.stdout.strip()}", headers=ada).json(), sent


def test_data_sets_are_read_off_the_files_where_none_are_declared(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = study.read_text(encoding="utf-8").splitlines(keepends=True)
    study.write_text("".join(line for line in lines if not line.startswith("datasets")), encoding="utf-8")
    created, sent = created_on_a_server(study, tmp_path / "server", monkeypatch)
    assert sorted(created["datasets"]) == [["A", "B", "C"], ["B", "C", "D"]]
    assert ".csv" not in json.dumps(sent)


def test_columns_that_the_file_does_not_name_are_left_alone(study: Path) -> None:
    """As on a server: an identifier beside the study's variables is no variable of the study."""
    table = study.parent / "site1.csv"
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([f"{head},patient", *(f"{row},{i}" for i, row in enumerate(rows))]) + "\n", encoding="utf-8")
    found = found_in(str(study))
    assert "patient" not in {name for test in found["tests"] for name in (test["x"], test["y"], *test["given"])}
    assert all("patient" not in local["variables"] for local in found["local_pags"])


def test_a_variable_that_no_file_has_is_blamed_on_the_file(study: Path) -> None:
    study.write_text(study.read_text(encoding="utf-8") + '\n[variables.Z]\nkind = "continuous"\n', encoding="utf-8")
    error = runner.invoke(app, ["discover", str(study)]).exception
    assert isinstance(error, cs.errors.UnknownVariableError)
    assert "[variables]" in str(error)


def test_the_same_file_is_a_study_on_a_server_and_a_discovery_here(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    created, sent = created_on_a_server(study, tmp_path / "server", monkeypatch)
    assert ".csv" not in json.dumps(sent)
    assert "site1" not in json.dumps(sent)
    assert created["name"] == "synthetic study"
    assert created["datasets"] == [["A", "B", "C"], ["B", "C", "D"]]
    assert created["settings"]["min_rows"] == 20
    assert created["settings"]["on_dropout"] == "stop"
    here = found_in(str(study))
    assert here["method"] == created["settings"]["method"] == "fisher"
    assert here["alpha"] == created["settings"]["alpha"] == 0.01
    assert here["max_given"] == created["settings"]["max_given"] == 1
    assert [v["name"] for v in created["variables"]] == sorted({name for test in here["tests"] for name in (test["x"], test["y"])})


def test_settings_of_the_file_count_and_options_win(study: Path) -> None:
    made = cs.simulate.from_graph(
        GRAPH, n=600, sites=3, seed=3, exclusive="AD", kinds={"A": "ordinal", "B": "continuous", "C": "continuous", "D": "binary"}
    )
    known = cs.Knowledge(tiers=[["A", "B"], ["C", "D"]])
    wanted = cs.discover(cs.fisher(made.clients(), min_rows=20), alpha=0.01, max_given=1, knowledge=known)
    found = found_in(str(study))
    assert [pag["edges"] for pag in found["pags"]] == [[str(edge) for edge in pag.edges] for pag in wanted.pags]
    assert found["knowledge"] == wanted.to_dict()["knowledge"]
    other = found_in("--alpha", "0.2", "--method", "pooled", "--max-given", "0", str(study))
    assert (other["method"], other["alpha"], other["max_given"]) == ("pooled", 0.2, 0)
    tested = json.loads(runner.invoke(app, ["test", "A", "B", "--json", str(study)]).stdout)
    assert tested["method"] == "fisher"
    assert tested["p_value"] == pytest.approx(cs.fisher(made.clients(), min_rows=20).test("A", "B").p_value, rel=1e-9)


def test_limits_of_the_file_are_kept(study: Path) -> None:
    study.write_text(study.read_text(encoding="utf-8").replace("min_rows = 20", "min_rows = 100_000"), encoding="utf-8")
    assert "fewer than the 100000" in runner.invoke(app, ["test", "A", "B", "--json", str(study)]).stdout
    assert "fewer than the" not in runner.invoke(app, ["test", "A", "B", "--json", "--min-rows", "20", str(study)]).stdout


def test_what_does_not_go_together_is_said_wherever_it_stands(study: Path) -> None:
    study.write_text(study.read_text(encoding="utf-8").replace("alpha = 0.01", 'engine = "iod"'), encoding="utf-8")
    answer = runner.invoke(app, ["discover", "--resolve", "optimal", str(study)])
    assert isinstance(answer.exception, cs.errors.OptionError)
    assert "resolve='optimal' needs engine='exact'" in str(answer.exception)
    assert isinstance(runner.invoke(app, ["server", "study", "create", "none.toml", "--server", "x"]).exception, cs.errors.ConsilienceError)
