"""What the owner of a start-up kit sets in it, and what is said of a folder that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from consilience.flare.kit import agree, allow, name_of, server_home, site_settings, write_settings
from consilience.service.errors import ConfigurationError
from tests.flare.trial import make_kit


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    return make_kit(tmp_path / "kit", "mainz")


def test_a_sites_name_is_that_of_its_certificate(kit: Path) -> None:
    assert name_of(kit) == "mainz"
    with pytest.raises(ConfigurationError, match=r"startup/client\.crt"):
        name_of(kit / "local")


def test_a_class_is_allowed_besides_those_that_are(kit: Path) -> None:
    assert allow(kit, "consilience.X")
    assert not allow(kit, "consilience.X")
    content = json.loads((kit / "local" / "resources.json").read_text())
    assert content == {"format_version": 2, "class_allow_list": ["a.b.C", "consilience.X"]}
    (kit / "local" / "resources.json").write_text('{"class_allow_list": ["*"]}')
    assert not allow(kit, "consilience.Y")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"class_allow_list": 3}'])
def test_a_kit_without_such_a_list_is_said_to_have_none(kit: Path, text: str) -> None:
    (kit / "local" / "resources.json").write_text(text)
    with pytest.raises(ConfigurationError, match="class_allow_list"):
        allow(kit, "consilience.X")


def test_paths_are_seen_from_the_file_that_has_them(kit: Path) -> None:
    write_settings(kit, {"data": "table.csv", "policy": "/etc/policy.toml"})
    local = kit / "local"
    found = site_settings(local)
    assert (found.data, found.policy, found.harmonise) == (str(local / "table.csv"), "/etc/policy.toml", "")
    assert Path(found.home).resolve() == kit / "consilience"


def test_an_address_of_a_database_is_no_path(kit: Path) -> None:
    write_settings(kit, {"data": "postgresql://db/registry"})
    assert site_settings(kit / "local").data == "postgresql://db/registry"


def test_settings_are_not_written_over_others(kit: Path) -> None:
    write_settings(kit, {"data": "table.csv"})
    with pytest.raises(ConfigurationError, match="by hand"):
        write_settings(kit, {"data": "other.csv"})


def test_a_consent_takes_the_place_of_the_one_before_and_of_nothing_else(kit: Path) -> None:
    file = write_settings(kit, {"data": "table.csv"})
    file.write_text(file.read_text() + '[kinds]\nA = "ordinal"\n')
    for digest, subtraction in (("ab" * 32, True), ("cd" * 32, False)):
        agree(kit, digest, subtraction=subtraction)
        found = site_settings(kit / "local")
        assert (found.consent, found.allow_subtraction, found.kinds) == (digest, subtraction, {"A": "ordinal"})
    assert file.stat().st_mode & 0o077 == 0


def test_a_site_without_settings_or_table_is_told_how_to_have_them(kit: Path) -> None:
    for act in (lambda: site_settings(kit / "local"), lambda: agree(kit, "ab" * 32)):
        with pytest.raises(ConfigurationError, match="consilience nvflare site"):
            act()
    write_settings(kit, {"home": "elsewhere"})
    with pytest.raises(ConfigurationError, match="where the table is"):
        site_settings(kit / "local")


def test_journals_are_in_the_kit_or_where_the_server_says(kit: Path) -> None:
    local = kit / "local"
    assert server_home(local).resolve() == kit / "consilience"
    write_settings(kit, {"home": "/srv/journals"})
    assert server_home(local) == Path("/srv/journals")
    (local / "consilience.toml").write_text("hame = 1")
    with pytest.raises(ConfigurationError, match="journals"):
        server_home(local)
