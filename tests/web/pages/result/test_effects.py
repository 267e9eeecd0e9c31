"""What would change, on the pages of a result: a page of its own, the panel, and the files."""

from __future__ import annotations

import csv
import io

from consilience.iod.effects import Effects, GraphEffect
from tests.iod.report.effected import effected, effects
from tests.iod.report.sized import sized
from tests.web.pages.result.stage import client_of
from tests.web.pages.result.test_pages import page


def test_a_page_of_its_own() -> None:
    tree = page(effected(), "/effects")
    assert "What would change 2" in tree.one("nav", class_="tabs").text.replace("\n", " ")
    assert "+10.0 (6.0 to 14.0)" in tree.text
    assert "leaves it open" in tree.text
    assert "No effects were asked for." in page(sized(), "/effects").text
    assert "What would change" not in page(sized(), "").one("nav", class_="tabs").text


def test_the_panel_says_it() -> None:
    assert "The effect of age on pressure: in the only graph" in page(effected(), "?show=1&pair=0-1").one("section", id="details").text


def test_files_have_it_and_guard_their_cells() -> None:
    client = client_of(effected(effects(), Effects("=cmd", "ill", (GraphEffect("zero", words="=x"),), listed=1)))
    rows = list(csv.DictReader(io.StringIO(client.get("/studies/s/result/export/effects.csv").text)))
    assert [row["identification"] for row in rows] == ["adjusted", "zero", "hidden cause", "zero"]
    assert (rows[0]["estimate"], rows[0]["low"], rows[0]["high"]) == ("0.1", "0.06", "0.14")
    assert (rows[3]["x"], rows[3]["reason"]) == ("'=cmd", "'=x")
    told = client.get("/studies/s/result/export/json?show=1").json()
    assert [one["x"] for one in told["effects"]] == ["smoker", "=cmd"]
    assert "effects" not in client_of(sized()).get("/studies/s/result/export/json?show=1").json()
    assert client_of(sized()).get("/studies/s/result/export/effects.csv").status_code == 404
