"""One file that needs every kind of repair, in a real browser: what was found out, verdicts, ways out, before and after, the check.

At the end the steps are downloaded, and the command line's own client, given the file and the steps, has the table that was meant.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Locator, expect

import consilience as cs
from consilience.data.harmonise import Plan
from consilience.service.agent.home import StudyFolder
from tests.system.processes import Server
from tests.web.browser import street
from tests.web.holder import Holder
from tests.web.process import App
from tests.web.tables import traces

MARKER = 171.6203
VISIT = date(2024, 1, 1)


def meant(rows: int = 240) -> pl.DataFrame:
    """The table as the study wants it."""
    rng = np.random.default_rng(15)
    born = [VISIT - timedelta(days=int(days)) for days in rng.integers(9_000, 30_000, rows)]
    weight = np.round(rng.normal(78, 12, rows), 1)
    weight[0] = MARKER
    return pl.DataFrame(
        {
            "born": born,
            "age": [(VISIT - day).days / 365.25 for day in born],
            "sbp": np.round(rng.normal(135, 15, rows), 1),
            "leukocytes": np.round(rng.uniform(4.001, 11.999, rows), 3),
            "chol": rng.integers(140, 310, rows).astype(float),
            "crp": rng.integers(1, 80, rows).astype(float),
            "hb": np.round(rng.normal(13.5, 1.4, rows), 1),
            "sex": rng.choice(["male", "female"], rows),
            "weight": weight,
        }
    )


def write(frame: pl.DataFrame, path: Path) -> None:
    """As a hospital has it: semicolons, windows-1252, decimal commas, words and codes for missing, units, other names and levels."""

    def comma(value: float, digits: int) -> str:
        return f"{value:.{digits}f}".replace(".", ",")

    lines = ["Patient;Geburt;Größe_sys;leukocytes;chol;crp;hb;Geschlecht;weight"]
    for i, row in enumerate(frame.iter_rows(named=True)):
        lines.append(
            f"P{i:05};{row['born']:%Y-%m-%d};{comma(row['sbp'], 1)};{comma(row['leukocytes'], 3)};{row['chol']:.0f} mg/dl;"
            f"{-9 if i % 12 == 5 else int(row['crp'])};{'k.A.' if i % 40 == 7 else comma(row['hb'], 1)};"
            f"{'M' if row['sex'] == 'male' else 'F'};{'7800,0' if i == 3 else comma(row['weight'], 4 if i == 0 else 1)}"
        )
    path.write_bytes("\n".join(lines).encode("cp1252"))


STUDY = {
    "name": "Blood and pressure",
    "variables": [
        {"name": "age", "kind": "continuous", "levels": []},
        {"name": "sbp", "kind": "continuous", "levels": []},
        {"name": "leukocytes", "kind": "continuous", "levels": []},
        {"name": "chol", "kind": "continuous", "levels": [], "unit": "mmol/l", "range": [0.5, 30]},
        {"name": "crp", "kind": "continuous", "levels": [], "unit": "mg/l", "range": [0, 500]},
        {"name": "hb", "kind": "continuous", "levels": []},
        {"name": "sex", "kind": "binary", "levels": ["female", "male"]},
        {"name": "weight", "kind": "continuous", "levels": [], "range": [20, 400]},
    ],
    "datasets": [["age", "sbp", "leukocytes", "chol", "crp", "hb", "sex", "weight"]],
    "settings": {},
}


@pytest.mark.slow
def test_a_file_that_needs_every_kind_of_repair(server: Server, tmp_path: Path) -> None:
    truth, data = meant(), tmp_path / "data"
    data.mkdir()
    write(truth, data / "klinik.csv")
    study = server.do("POST", "/studies", STUDY)["id"]
    server.do("POST", f"/studies/{study}/open")
    invitation = server.do("POST", f"/studies/{study}/invitations", {"site": "klinik"})["invitation"]
    app = App("klinik", data, tmp_path)
    with street(tmp_path) as people:
        try:
            holder = Holder(people.person("holder", app.start().origin), app)
            holder.open()
            _read(holder)
            _verdicts_and_ways_out(holder)
            _columns(holder)
            holder.join(invitation)
            _fit(holder)
            _before_and_after(holder)
            _check(holder)
            plan = holder.download_from("/harmonise", "Download site.toml")
            _consent(holder, app, plan)
            assert holder.person.wrong() == []
        finally:
            app.kill()
    _same_as_meant(truth, data / "klinik.csv", plan, tmp_path)
    assert traces(tmp_path, marker=MARKER) == [], "the file itself has it with a comma"


def _row(holder: Holder, column: str) -> Locator:
    return holder.page.get_by_role("row").filter(has=holder.page.get_by_role("link", name=column, exact=True))


def _read(holder: Holder) -> None:
    """What was found out about the file is shown, and can be said otherwise."""
    holder.choose("klinik.csv")
    holder.page.wait_for_url("**/columns")
    holder.go("/reading")
    main = holder.page.get_by_role("main")
    expect(main).to_contain_text("separated by semicolons")
    expect(main).to_contain_text("encoding windows-1252")
    expect(main.get_by_role("row").filter(has_text="k.A.")).to_contain_text("hb")
    holder.person.see("site-reading")
    holder.page.get_by_label("Encoding", exact=True).fill("utf-8")
    holder.person.allowed.add(422)
    holder.page.get_by_role("button", name="Read it again so").click()
    expect(holder.page.get_by_role("alert")).to_contain_text("is no text in utf-8")
    holder.page.get_by_label("Encoding", exact=True).fill("windows-1252")
    holder.page.get_by_role("button", name="Read it again so").click()
    expect(holder.page.get_by_role("alert")).to_have_count(0)
    expect(holder.page.get_by_label("Encoding", exact=True)).to_have_value("windows-1252")


def _verdicts_and_ways_out(holder: Holder) -> None:
    holder.go("/columns")
    for column, verdict in (
        ("Patient", "excluded"),
        ("Geburt", "excluded"),
        ("Größe_sys", "sure"),
        ("leukocytes", "refused"),
        ("chol", "refused"),
        ("crp", "doubtful"),
        ("hb", "sure"),
    ):
        expect(_row(holder, column).locator(".tag")).to_have_text(verdict)
    expect(_row(holder, "hb")).to_contain_text("read as missing: 'k.A.'")
    holder.person.see("site-verdicts")
    holder.column("crp")
    holder.person.see("site-column-ways")
    holder.page.get_by_role("button", name="Make '-9' missing").click()
    expect(holder.page.get_by_text("'-9' made missing")).to_be_visible()
    holder.column("leukocytes")
    holder.page.get_by_role("button", name="Read ',' as the decimal mark").click()
    expect(holder.page.get_by_text("with the decimal mark ',' read as numbers")).to_be_visible()


def _columns(holder: Holder) -> None:
    holder.column("chol")
    holder.say(strip="mg/dl", unit="furlong", unit_to="mmol/l")
    expect(holder.page.get_by_role("alert")).to_contain_text("'furlong' is no unit of the table")
    holder.say(unit="mg/dl", unit_to="")
    holder.page.wait_for_url("**/columns")
    holder.column("Geburt")
    holder.say(date="age at", date_of=VISIT.isoformat(), rename="age")
    holder.page.wait_for_url("**/columns")
    holder.column("weight")
    holder.say(low="20", high="400")
    holder.page.wait_for_url("**/columns")
    holder.leave_out("Patient")
    holder.columns_are_right()


def _fit(holder: Holder) -> None:
    """A column under another name, levels of another language, the study's unit."""
    page = holder.page
    holder.go("/fit")
    chol = page.locator("section.variable").filter(has=page.get_by_role("heading", name="chol"))
    expect(chol).to_contain_text("Converted: mg/dl -> mmol/l, cholesterol")
    page.locator("section.variable").filter(has=page.get_by_role("heading", name="sbp")).get_by_role("combobox").select_option("Größe_sys")
    page.locator("section.variable").filter(has=page.get_by_role("heading", name="sbp")).get_by_role(
        "button", name="Use this column"
    ).click()
    sex = page.locator("section.variable").filter(has=page.get_by_role("heading", name="sex"))
    sex.get_by_role("combobox").select_option("Geschlecht")
    sex.get_by_role("button", name="Use this column").click()
    expect(sex.get_by_text("Conflict")).to_be_visible()
    sex.get_by_label("F is", exact=True).select_option("female")
    sex.get_by_label("M is", exact=True).select_option("male")
    sex.get_by_role("button", name="Use these levels").click()
    crp = page.locator("section.variable").filter(has=page.get_by_role("heading", name="crp"))
    expect(crp).to_contain_text("nobody has said the unit of this column")
    crp.get_by_label("Your column is in").fill("mg/l")
    crp.get_by_role("button", name="This is its unit").click()
    expect(crp.get_by_label("Your column is in")).to_have_count(0)
    expect(page.get_by_text("8 of 8")).to_be_visible()
    holder.person.see("site-fit-units")
    holder.fits()


def _before_and_after(holder: Holder) -> None:
    holder.go("/harmonise")
    page = holder.page
    for words in ("'-9' made missing", "outside 20 to 400 made missing", "dates became ages in years", "renamed 'sbp'", "'F' -> 'female'"):
        expect(page.get_by_role("main")).to_contain_text(words)
    page.get_by_label("Name of the new variable").fill("pulse pressure")
    page.get_by_label("Expression", exact=True).fill("sbp / wieght")
    page.get_by_role("button", name="Add this variable").click()
    expect(page.get_by_role("alert")).to_contain_text("weight")
    page.get_by_label("Expression", exact=True).fill("sbp / weight")
    page.get_by_role("button", name="Add this variable").click()
    expect(page.get_by_role("row").filter(has_text="pulse pressure").first).to_be_visible()
    holder.person.see("site-harmonise")
    page.get_by_role("button", name="Take back pulse pressure").click()
    expect(page.get_by_text("pulse pressure")).to_have_count(0)


def _check(holder: Holder) -> None:
    holder.go("/check")
    main = holder.page.get_by_role("main")
    expect(main).to_contain_text("0 refused")
    expect(main.get_by_role("row").filter(has_text="in mmol/l, 0.5 to 30")).to_contain_text("holds")
    holder.person.see("site-check")


def _consent(holder: Holder, app: App, plan: bytes) -> None:
    """What is agreed to holds for this plan: it is kept beside the consent, as the agent keeps it."""
    holder.fits()
    holder.rehearse()
    holder.go("/consent")
    expect(holder.page.get_by_role("heading", name="What is done with your table first")).to_be_visible()
    holder.person.see("site-consent-plan")
    holder.consent("klinik")
    found = next((app.home / "studies").iterdir())
    assert Plan.parse(plan.decode()).digest in (found / "consent.json").read_text(encoding="utf-8")
    assert StudyFolder(found).plan.digest == "", "which the agent writes when there is a contract"


def _same_as_meant(truth: pl.DataFrame, file: Path, plan: bytes, folder: Path) -> None:
    (folder / "site.toml").write_bytes(plan)
    client = cs.Client("klinik", file, harmonise=folder / "site.toml")
    rows = np.arange(truth.height)
    wanted = truth.drop("born").with_columns(
        pl.when(pl.Series(rows % 12 != 5)).then("crp").alias("crp"),
        pl.when(pl.Series(rows % 40 != 7)).then("hb").alias("hb"),
        pl.when(pl.Series(rows != 3)).then("weight").alias("weight"),
    )
    for name in wanted.columns:
        assert client.frame[name].cast(wanted[name].dtype).to_list() == pytest.approx(wanted[name].to_list(), nan_ok=True), name
