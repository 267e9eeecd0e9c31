"""A draft's variables and settings: by forms, by a file, from declarations; and what is wrong with them, said at the field."""

from __future__ import annotations

import re
from typing import Any

import pytest

from consilience.data.kinds import Kind
from consilience.protocol.handshake import DeclaredVariable
from consilience.service.settings import VariableSpec
from consilience.service.store import StudyRow
from consilience.settings import NetworkSettings
from consilience.settings.declaration import NETWORK_SETTINGS
from consilience.web.forms import Form
from consilience.web.pages.server.settings_form import DANGERS, plain, read_settings
from consilience.web.pages.server.variables_form import MOST_SETS, VariablesForm
from tests.web.pages.server.helpers import HOST, Browser, is_troubled, words


def row_of(ada: Browser, study: str) -> StudyRow:
    found: StudyRow = ada.client.app.state.services.store.studies.get(study)  # type: ignore[attr-defined]
    return found


def send(ada: Browser, study: str, page: str, **fields: Any) -> Any:
    return ada.post(f"/studies/{study}/{page}", f"/studies/{study}/{page}", **fields)


def upload(ada: Browser, study: str, content: bytes = b"", text: str = "", name: str = "study.toml") -> Any:
    parts = {"csrf": (None, ada.csrf(f"/studies/{study}/file")), "text": (None, text), "upload": (name, content)}
    return ada.client.post(f"/studies/{study}/file", files=parts, headers={"Origin": HOST}, follow_redirects=False)


def test_what_is_typed_is_not_lost_when_rows_and_sets_are_added(ada: Browser) -> None:
    study = ada.new_study()
    fields = {"rows": "1", "sets": "1", "name-0": "age", "kind-0": "ordinal", "levels-0": "I, II", "in-0": "0"}
    more = send(ada, study, "variables", **fields, **{"more-rows": "1"})
    assert more.status_code == 200
    assert 'value="age"' in more.text
    assert 'name="name-6"' in more.text
    wider = send(ada, study, "variables", **fields, **{"more-sets": "1"})
    assert "Set 2" in wider.text
    assert row_of(ada, study).variables is None


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"name-0": "A", "name-1": "A"}, "name-1", "There are two variables 'A'"),
        ({"name-0": "A", "kind-0": "ordinal"}, "levels-0", "name its levels"),
        ({"name-0": "A", "kind-0": "ordinal", "levels-0": '"I'}, "levels-0", "quotation marks"),
        ({"name-0": "A", "levels-0": "I, II"}, "levels-0", "is continuous and has no levels"),
        ({"name-0": "A", "kind-0": "count", "levels-0": "1, 2"}, "levels-0", "is a count and has no levels"),
        ({"name-0": "A", "in-0": "7"}, "in-0-0", "is in no set"),
        ({"name-0": "", "levels-0": "I, II"}, "name-0", "levels and no name"),
        ({"name-0": "A", "kind-0": "nonsense"}, "kind-0", "is one of continuous"),
        ({}, "name-0", "at least one variable"),
    ],
)
def test_what_is_wrong_is_said_at_the_field(ada: Browser, fields: dict[str, str], field: str, said: str) -> None:
    study = ada.new_study()
    full = {"rows": "2", "sets": "1", **{f"kind-{i}": "continuous" for i in range(2)}, **{f"in-{i}": "0" for i in range(2)}, **fields}
    reply = send(ada, study, "variables", **full)
    assert is_troubled(reply)
    assert f'href="#{field}"' in reply.text
    assert f'id="{field}"' in reply.text
    assert said in words(reply)
    assert row_of(ada, study).variables is None


def test_a_form_of_variables_is_read_as_it_was_written() -> None:
    numbers = [VariableSpec("age", Kind.CONTINUOUS), VariableSpec("visits", Kind.COUNT)]
    specs = [*numbers, VariableSpec("stage", Kind.ORDINAL, ("I", "II, late", 'a "b"'))]
    sets = [["age", "visits", "stage"], ["stage"]]
    assert VariablesForm.of_study(specs, sets).read() == (specs, sets, [])


def test_more_fields_than_a_study_has_are_not_read() -> None:
    form = Form([("rows", "9" * 4), ("sets", "9" * 4), *((f"name-{i}", f"v{i}") for i in range(500))])
    found = VariablesForm.of_form(form)
    assert (len(found.rows), found.sets) == (64, MOST_SETS)


def test_variables_can_be_taken_back_so_that_sites_are_asked(ada: Browser) -> None:
    study = ada.new_study()
    send(ada, study, "variables", **{"rows": "1", "sets": "1", "name-0": "A", "kind-0": "continuous", "in-0": "0"})
    assert row_of(ada, study).variables is not None
    send(ada, study, "variables", ask="1", rows="0")
    assert row_of(ada, study).variables is None


def settings_fields(**changes: str) -> dict[str, str]:
    """What a browser sends for the settings as they are."""
    values = {name: plain(setting.default) for name, setting in NETWORK_SETTINGS.items() if setting.type is not bool}
    values |= {name: "on" for name, setting in NETWORK_SETTINGS.items() if setting.default is True}  # a box that is not ticked is not sent
    return {**values, **changes}


def test_settings_are_saved_and_their_defaults_are_shown(ada: Browser) -> None:
    study = ada.new_study()
    page = words(ada.get(f"/studies/{study}/settings"))
    assert all(name.replace("_", " ").capitalize() in page for name in NETWORK_SETTINGS)
    assert "Default: 604800 (7 days)." in page
    assert page.count("discloses") == len(DANGERS) + 2  # the words at the top, and "discloses numbers" of allow_joint
    reply = send(ada, study, "settings", **settings_fields(alpha="0.01", max_given="3", selection_bias="on", tiers='A, B\n"C, D"'))
    assert reply.status_code == 303, words(reply)
    found = row_of(ada, study).settings
    assert (found.alpha, found.max_given, found.selection_bias, found.tiers) == (0.01, 3, True, (("A", "B"), ("C, D",)))
    assert "alpha = 0.01" in words(ada.get(f"/studies/{study}"))


def test_settings_as_they_are_change_nothing() -> None:
    assert read_settings(Form(list(settings_fields().items()))) == (NetworkSettings(), [])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"alpha": "2"}, "alpha"),
        ({"alpha": "nan"}, "alpha"),
        ({"min_contributors": "1"}, "min_contributors"),
        ({"min_rows": "ten"}, "min_rows"),
        ({"method": "magic"}, "method"),
        ({"site_effects": "joint"}, "site_effects"),
        ({"limit": ""}, ""),
        ({"required": "nonsense"}, ""),
    ],
)
def test_a_setting_that_cannot_be_is_said_at_its_field(ada: Browser, changes: dict[str, str], field: str) -> None:
    study = ada.new_study()
    reply = send(ada, study, "settings", **settings_fields(**changes))
    if changes == {"limit": ""}:  # an empty field has its default
        assert reply.status_code == 303
        return
    assert is_troubled(reply)
    assert (f'href="#{field}"' in reply.text) == bool(field)
    assert row_of(ada, study).settings == NetworkSettings()


def test_what_resampling_costs_and_discloses_is_said(ada: Browser) -> None:
    study = ada.new_study()
    form = words(ada.get(f"/studies/{study}/settings"))
    assert "How sure the result is" in form
    for told in ("Each copy is as much work for a site as the study itself", "the difference of the two sums is that site's part"):
        assert told in form
    send(ada, study, "settings", **settings_fields(bootstrap="30"))
    page = words(ada.get(f"/studies/{study}"))
    assert "bootstrap = 30: All sums are made of resampled copies of each site's rows as well." in page
    assert row_of(ada, study).settings.bootstrap == 30


def test_a_dangerous_setting_is_warned_of(ada: Browser) -> None:
    study = ada.new_study()
    send(ada, study, "settings", **settings_fields(on_dropout="restart"))
    assert "If a site vanishes, sums are made again without it" in words(ada.get(f"/studies/{study}"))


TOML = """
name = "not taken"
datasets = [["age", "stage"], ["age"]]
[settings]
alpha = 0.02
[variables]
age = "continuous"
stage = { kind = "ordinal", levels = ["I", "II"] }
[sites.muenster]
file = "/secret/place.csv"
"""


@pytest.mark.parametrize("as_text", [True, False])
def test_a_study_file_is_taken_over(ada: Browser, as_text: bool) -> None:
    study = ada.new_study("my name")
    reply = upload(ada, study, text=TOML) if as_text else upload(ada, study, TOML.encode())
    assert reply.headers["location"] == f"/studies/{study}/variables"
    row = row_of(ada, study)
    assert (row.name, row.settings.alpha, row.datasets) == ("my name", 0.02, (("age", "stage"), ("age",)))
    assert "secret" not in ada.get(f"/studies/{study}/audit").text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"not toml [", "cannot be read as a study file"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"[" * 200_000, "cannot be read as a study file"),
        (b'variables.age = "magic"', "magic"),
        (b"nonsense = 1", "nonsense"),
        (b"settings.min_contributors = 1", "min_contributors"),
        (b'settings.limit = "many"', "limit"),
        (b"", "Choose a file"),
    ],
)
def test_a_file_that_is_none_says_so(ada: Browser, content: bytes, said: str) -> None:
    study = ada.new_study()
    reply = upload(ada, study, content)
    assert is_troubled(reply)
    assert said in words(reply)
    assert row_of(ada, study).variables is None


def test_a_file_that_is_too_long_is_not_read(ada: Browser) -> None:
    reply = upload(ada, ada.new_study(), b"# " + b"x" * 600_000)
    assert reply.status_code == 413


def test_variables_come_from_what_sites_have_declared(ada: Browser) -> None:
    asked, study = ada.new_study("asked"), ada.new_study("new")
    store = ada.client.app.state.services.store  # type: ignore[attr-defined]
    for site, names in (("one", "AB"), ("two", "BC")):
        store.database.write(
            "insert into sites (study, name, identity, joined) values (?, ?, ?, 0)", (asked, site, site.encode().ljust(32))
        )
        store.studies.declare(asked, site, tuple(DeclaredVariable(n, "continuous", (), True, False, "", "") for n in names))
    assert "one – asked" in words(ada.get(f"/studies/{study}/declaration"))
    assert send(ada, study, "declaration", site=[f"{asked}/one", f"{asked}/two"]).status_code == 303
    row = row_of(ada, study)
    assert row.datasets == (("A", "B"), ("B", "C"))
    assert is_troubled(send(ada, study, "declaration", site=f"{asked}/three"))
    lobby = words(ada.get(f"/studies/{asked}/lobby"))
    assert "Never tested, since nobody measures both: A – C" in lobby
    assert "One site alone can test: A – B; B – C" in lobby


def test_a_study_that_is_no_draft_is_shown_and_not_changed(ada: Browser) -> None:
    study = ada.new_study()
    upload(ada, study, TOML.encode())
    token = ada.csrf(f"/studies/{study}")
    ada.act(study, "open")
    assert not re.search(r"<select|<textarea", ada.get(f"/studies/{study}/settings").text)
    gone = ada.get(f"/studies/{study}/file")
    assert gone.status_code == 409
    assert f'<a href="/studies/{study}">Back to the study</a>' in gone.text
    for page in ("variables", "settings", "name", "declaration"):
        reply = ada.post(f"/studies/{study}/{page}", "", csrf=token, name="other", **{"rows": "1", "name-0": "A", "in-0": "0"})
        assert reply.status_code == 409, page
    assert row_of(ada, study).name == "trial"
