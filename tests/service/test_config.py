"""Settings from file, environment and command line; the table in the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from consilience import errors
from consilience.service.config import AgentConfig, ServerConfig, describe, load_agent, load_server

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("kind", "page"), [(ServerConfig, "operations.md"), (AgentConfig, "site.md")])
def test_the_documentation_has_every_setting_with_its_default_and_meaning(kind: type[ServerConfig] | type[AgentConfig], page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for name, default, words in describe(kind):
        shown = f"`{default}`" if default not in ("", "{}") else "–"
        assert f"| `{name}` | {shown} | {words} |" in text


def test_the_later_wins(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('port = 1000\nhost = "10.0.0.1"\nmetrics = false\n')
    environment = {"CONSILIENCE_SERVER_PORT": "2000", "CONSILIENCE_SERVER_BEHIND_PROXY": "true", "UNRELATED": "x"}
    found = load_server(file, environment, host="10.0.0.2", public_url=None)
    assert (found.port, found.host, found.metrics, found.behind_proxy) == (2000, "10.0.0.2", False, True)


def test_maps_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    file.write_text('data = "x.csv"\n[kinds]\nstage = "ordinal"\n[levels]\nstage = ["I", "II"]\n[peers]\nmarburg = "ab12"\n')
    found = load_agent(file, {})
    assert (found.kinds, found.levels, found.peers) == ({"stage": "ordinal"}, {"stage": ["I", "II"]}, {"marburg": "ab12"})


@pytest.mark.parametrize("text", ["port = 70000", 'port = "many"', "strange = 1", "port = ", "token_hours = 0", 'login_burst = "x"'])
def test_settings_that_cannot_be_used_are_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "server.toml"
    file.write_text(text)
    with pytest.raises(errors.ConfigurationError):
        load_server(file, {})


def test_a_file_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigurationError, match="no-such"):
        load_server(tmp_path / "no-such.toml", {})
