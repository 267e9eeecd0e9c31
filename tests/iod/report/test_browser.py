"""The page alive in a real browser."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from consilience.iod import Check, Discovery
from tests.chromium import browser
from tests.iod.report.helpers import Reader, hostile, small

STEPS = """<!doctype html><meta charset="utf-8"><iframe src="page.html" width="{width}" height="900"></iframe><pre id="said"></pre>
<script>
window.addEventListener("load", () => {{
  const page = document.querySelector("iframe").contentDocument, said = {{}};
  const $ = (query) => page.querySelector(query);
  const column = (table, k) => [...$(table).tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[k].textContent);
  const click = (table, k) => $(table).tHead.rows[0].cells[k].querySelector("button").click();
  const choose = (id, value) => {{ const one = $(id); one.value = value; one.dispatchEvent(new Event("change")); }};
  try {{ {steps} }} catch (error) {{ said.error = String(error); }}
  document.getElementById("said").textContent = JSON.stringify(said);
}});
</script>"""


def tried(found: Discovery | Check, steps: str, folder: Path, width: int = 1200) -> dict[str, object]:
    """What a page that holds the report, unchanged, sees when it clicks in it."""
    found.to_html(folder / "page.html")
    (folder / "steps.html").write_text(STEPS.format(steps=steps, width=width), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-extensions"]
    options += ["--disable-dev-shm-usage", "--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [browser(), *options, "--virtual-time-budget=5000", (folder / "steps.html").as_uri()],
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=120,
    )
    reader = Reader()
    reader.feed(done.stdout[done.stdout.index('<pre id="said">') :].split("</pre>")[0] + "</pre>")
    said: dict[str, object] = json.loads(reader.root.one("pre").text)
    assert "error" not in said, said
    return said


@pytest.mark.slow
def test_columns_sort_and_rows_are_chosen_by_clicks(tmp_path: Path) -> None:
    steps = """
      said.before = column("#ci", 3);
      click("#ci", 3); said.up = column("#ci", 3); said.sort = $("#ci").tHead.rows[0].cells[3].getAttribute("aria-sort");
      click("#ci", 3); said.down = column("#ci", 3);
      click("#ci", 7); said.rows = column("#ci", 7);
      click("#ci", 2); said.given = column("#ci", 2);
      said.sorted = [...$("#ci").tHead.rows[0].cells].map((head) => head.getAttribute("aria-sort"));
      choose("#ci-variable", "3"); said.with_d = column("#ci", 1); said.shown = $("#ci-shown").textContent;
      choose("#ci-decision", "independent"); said.both = column("#ci", 3);
      choose("#ci-variable", ""); choose("#ci-decision", ""); said.again = column("#ci", 3).length;
      said.choices = $("#ci-choices").hidden;
      click("#summary table", 5); said.shares = column("#summary table", 5);
    """
    said = tried(small(), steps, tmp_path)
    up = ["< 10⁻¹⁵", "1.0 × 10⁻⁷", "2.0 × 10⁻⁴", "0.049", "0.300", "0.700", "–"]
    assert said["before"] != up
    assert said["up"] == up
    assert said["sort"] == "ascending"
    assert said["down"] == [*up[-2::-1], "–"]
    assert said["rows"] == ["70", "80", "200", "700", "900", "1,000", "3,000"]
    assert said["given"] == ["–"] * 5 + ["C"] * 2
    assert said["sorted"] == [None, None, "ascending", *[None] * 8]
    assert said["with_d"] == ["D", "D", "D"]
    assert said["shown"] == "3 of 7 shown"
    assert said["both"] == ["0.700"]
    assert said["again"] == 7
    assert said["choices"] is False
    assert said["shares"] == ["50%", "100%", "100%", "100%"]


@pytest.mark.slow
def test_the_policy_lets_the_style_work_and_nothing_of_the_users_run(tmp_path: Path) -> None:
    steps = """
      said.sticky = page.defaultView.getComputedStyle($("thead th")).position;
      said.open = page.defaultView.getComputedStyle($("svg.consilience-graph")).maxWidth;
      said.scripts = page.scripts.length;
      said.strange = page.querySelectorAll("img, iframe, [onload], [onerror]").length;
    """
    said = tried(hostile(), steps, tmp_path)
    assert said == {"sticky": "sticky", "open": "100%", "scripts": 1, "strange": 0}


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_wider_than_the_window(width: int, tmp_path: Path) -> None:
    steps = """
      const root = page.documentElement;
      said.inside = root.clientWidth; said.needed = root.scrollWidth;
      said.out = [...page.querySelectorAll("p, li, figure, .scroll, h1, h2, h3, nav")].filter(
        (node) => node.getBoundingClientRect().right > root.clientWidth + 1).map((node) => node.outerHTML.slice(0, 80));
    """
    for number, found in enumerate((small(), hostile())):
        (tmp_path / str(number)).mkdir()
        said = tried(found, steps, tmp_path / str(number), width)
        assert said["needed"] == said["inside"]
        assert said["out"] == []
