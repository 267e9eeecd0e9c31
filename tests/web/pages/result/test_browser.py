"""The drawing alive, in a real browser under the policy of the pages: pointing, keys, dragging, pictures. Nothing may go wrong silently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

import consilience as cs
from tests.chromium import browser as chromium
from tests.iod.report.helpers import small
from tests.web.pages.result.cases import hostile
from tests.web.pages.result.stage import served, stage

pytestmark = pytest.mark.slow
OPTIONS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"
EDGE = '.alive .edge[data-from="C"][data-to="D"]'
SHAPES = """(root) => [...root.querySelectorAll("svg.consilience-graph:not(.sample) > .edge")].map((edge) => [
  edge.dataset.from + edge.dataset.to,
  [...edge.querySelectorAll(".line, .mark")].map((one) => one.getAttribute("d") ?? `${one.getAttribute("cx")} ${one.getAttribute("cy")}`),
])"""
"""The edges of a drawing, each with its line and its marks."""
NODE = '.alive .node[data-label="A"]'


def until(page: Page, expression: str) -> None:
    """Ask until it is true. Playwright's own way asks the second time with ``eval``, which the pages' policy forbids."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"{expression} did not come true within ten seconds.")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    found = {"small": small(), "hostile": hostile()}
    found["mixed"] = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D, E o-> D"), datasets=["ABCD", "CDE"]))
    with served(stage(found)) as at:
        yield at


ABORTED = "ERR_ABORTED"
"""A page that is left while its icon is still on its way; what is not there is a response of its own."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=chromium(), args=OPTIONS.split())
        yield one
        one.close()


@contextmanager
def opened(browser: Browser, url: str, *, script: bool = True, width: int = 1280, alive: bool = True) -> Iterator[Page]:
    """A page; whatever its console, the policy or the network complains about fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=script, accept_downloads=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}") if ABORTED not in (request.failure or "") else None)
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith(("http://127.0.0.1", "blob:")) else None)
    page.on("response", lambda response: wrong.append(f"{response.status} {response.url}") if response.status >= 400 else None)
    page.goto(url)
    if script and alive:
        page.wait_for_selector("svg.alive")
    yield page
    assert wrong == []
    context.close()


def said(page: Page) -> str:
    return " ".join(page.locator(".details-body").inner_text().split())


def place(page: Page, label: str) -> tuple[float, float]:
    x, y, wide, high = (
        float(page.locator(f'.node[data-label="{label}"] rect').get_attribute(name) or "nan") for name in ("x", "y", "width", "height")
    )
    return x + wide / 2, y + high / 2


def test_pointing_at_an_edge_tells_what_decided_it(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/studies/small/result?show=1") as page:
        assert said(page).startswith("Why is it so?")
        page.locator(f"{EDGE} .hit").hover(force=True)
        assert said(page).startswith("C --> D")
        assert "C is a cause of D, directly or through others." in said(page)
        assert "p < 10⁻¹⁵, n = 70" in said(page)
        assert page.locator(".edge-table tr.chosen").count() == 1
        page.mouse.move(5, 5)
        assert said(page).startswith("Why is it so?")
        page.locator(f"{EDGE} .hit").click(force=True)
        page.mouse.move(5, 5)
        assert said(page).startswith("C --> D")
        assert "pair=2-3" in page.url
        page.reload()
        page.wait_for_selector("svg.alive")
        assert said(page).startswith("C --> D")


def test_the_panel_says_the_same_with_and_without_a_script(browser: Browser, address: str) -> None:
    url = f"{address}/studies/small/result?show=1&pair=0-1"
    with opened(browser, url) as alive, opened(browser, url, script=False) as still:
        assert said(alive) == said(still)
        assert said(still).startswith("A no edge B")
        assert still.locator(".tools").is_hidden()
        assert still.locator("[data-png]").is_hidden()


def test_missing_edges_are_reached_by_two_variables_or_all_at_once(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/studies/small/result?show=1") as page:
        page.locator(f"{NODE} rect").click()
        gaps = page.locator(".alive .gap")
        assert sorted(gaps.evaluate_all("all => all.map((one) => one.dataset.pair)")) == ["0-1", "0-3"]
        page.locator('.alive .gap[data-pair="0-3"] .hit').hover(force=True)
        assert said(page).startswith("A no edge D")
        assert "No data set has both" in said(page)
        page.locator('.node[data-label="B"] rect').click()
        page.mouse.move(5, 5)
        assert said(page).startswith("A no edge B")
        page.get_by_role("button", name="Show missing edges").click()
        assert gaps.count() == 3


def test_everything_is_reached_by_keys(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/studies/small/result?show=1") as page:
        page.locator(EDGE).focus()
        assert said(page).startswith("C --> D")
        page.keyboard.press("Enter")
        page.locator(NODE).focus()
        assert said(page).startswith("C --> D")
        page.keyboard.press("Escape")
        assert said(page).startswith("Why is it so?")
        before = place(page, "A")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowDown")
        assert place(page, "A") == pytest.approx((before[0] + 10, before[1] + 40), abs=0.1)
        with page.expect_response(lambda answer: "drawing.svg" in answer.url):
            pass
        expect(page.locator(NODE)).to_be_focused()  # the drawing is new, the focus where it was
        expect(page.locator("[data-status]").first).to_have_text("A moved.")


def test_what_is_dragged_stays_there_in_all_graphs_of_the_study(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/studies/small/result?show=1") as page:
        before = place(page, "A")
        box = page.locator(f"{NODE} rect").bounding_box()
        assert box is not None
        scale = page.evaluate("document.querySelector('svg.alive').getScreenCTM().a")
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(*middle)
        page.mouse.down()
        page.mouse.move(middle[0] - 20, middle[1] - 30, steps=4)
        with page.expect_response(lambda answer: "drawing.svg" in answer.url):
            page.mouse.up()
        moved = (before[0] - 20 / scale, before[1] - 30 / scale)
        page.wait_for_timeout(100)
        assert place(page, "A") == pytest.approx(moved, abs=1.0)
        assert page.locator(".node.chosen").count() == 0  # a drag is no choice
        for query in ("?show=2", "?show=summary", "?show=set-1", "?alpha=0.04"):
            with page.expect_response(lambda answer: "drawing.svg" in answer.url):
                page.goto(f"{address}/studies/small/result{query}")
            page.wait_for_timeout(100)
            assert place(page, "A") == pytest.approx(moved, abs=1.0)
        page.goto(f"{address}/studies/mixed/result")
        page.wait_for_selector("svg.alive")
        assert page.get_by_role("button", name="Reset the layout").is_hidden()
        page.goto(f"{address}/studies/small/result?show=1")
        page.get_by_role("button", name="Reset the layout").click()
        until(page, "localStorage.length === 0")
        page.wait_for_selector("svg.alive")
        assert place(page, "A") == pytest.approx(before)


def test_edges_follow_while_a_variable_moves_with_their_marks(browser: Browser, address: str) -> None:
    """The straight lines of the script end where the server's would: the server draws the same layout, and lines agree to a pixel."""
    with opened(browser, f"{address}/studies/small/result?show=1") as page:
        page.route("**/drawing.svg*", lambda route: None)  # the server never answers
        page.locator(NODE).focus()
        for _ in range(4):
            page.keyboard.press("ArrowUp")
        ours = page.evaluate(f"({SHAPES})(document)")
        places = ";".join(f"{x},{y}" for x, y in (place(page, name) for name in "ABCD"))
        page.unroute("**/drawing.svg*")
        url = f"{address}/studies/small/result/drawing.svg?show=1&at={places}"
        parsed = "new DOMParser().parseFromString(text, 'image/svg+xml')"
        theirs = page.evaluate(f"(url) => fetch(url).then((answer) => answer.text()).then((text) => ({SHAPES})({parsed}))", url)
        assert [name for name, _ in ours] == [name for name, _ in theirs]
        for (_, one), (_, other) in zip(ours, theirs, strict=True):
            if "Q" in "".join(other):  # the server goes around something
                continue
            for mine, its in zip(one, other, strict=True):
                assert numbers(mine) == pytest.approx(numbers(its), abs=1.0)


def numbers(path: str) -> list[float]:
    return [float(word) for word in path.translate(str.maketrans("MLZ", "   ")).split()]


def test_the_picture_is_a_real_png_of_the_right_size(browser: Browser, address: str, tmp_path: Path) -> None:
    for study in ("small", "hostile"):
        with opened(browser, f"{address}/studies/{study}/result?show=1") as page:
            sheet = page.evaluate("fetch(document.querySelector('figure.canvas').dataset.sheet).then((answer) => answer.text())")
            with page.expect_download() as waiting:
                page.get_by_role("button", name="PNG with legend").click()
            assert waiting.value.suggested_filename == f"{study}-graph-1.png"
            waiting.value.save_as(tmp_path / "graph.png")
        with Image.open(tmp_path / "graph.png", formats=["PNG"]) as image:
            dots = image.convert("RGB")
        size = [float(sheet.partition(f' {name}="')[2].partition('"')[0]) for name in ("width", "height")]
        assert dots.size == pytest.approx([2 * side for side in size], abs=3)
        assert dots.getpixel((0, 0)) == (255, 255, 255)  # on white
        assert len(dots.getcolors(dots.width * dots.height)) > 10  # and something on it


def test_tests_are_sorted_and_searched_at_once(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/studies/small/result/tests?words=too", alive=False) as page:
        rows = page.locator("#ci tbody tr:visible")
        assert rows.count() == 1
        page.get_by_label("Search").fill("")
        assert rows.count() == 7
        page.get_by_label("Decision").select_option("independent")
        assert rows.count() == 2
        page.get_by_label("Decision").select_option("")
        page.get_by_role("button", name="p-value").click()
        assert rows.first.locator("td").nth(3).inner_text() == "< 10⁻¹⁵"
        assert page.get_by_role("button", name="Search").is_hidden()
    with opened(browser, f"{address}/studies/small/result/tests", script=False) as page:
        page.get_by_label("Search").fill("too few")
        page.get_by_role("button", name="Search").click()
        assert page.locator("#ci tbody tr:visible").count() == 1
        page.get_by_role("link", name="p-value").click()
        assert page.locator('th[aria-sort="ascending"]').inner_text().startswith("p-value")


def test_another_level_by_the_slider_and_without_a_script(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/studies/mixed/result") as page:
        page.get_by_label("Level α, on a logarithmic scale").fill("-2")
        assert page.locator("#alpha").input_value() == "0.01"
        page.get_by_role("button", name="Decide anew").click()
        page.wait_for_selector("svg.alive")
        assert "Decided anew at α = 0.01" in page.locator("main").inner_text()
    with opened(browser, f"{address}/studies/mixed/result", script=False) as page:
        assert page.locator(".slider").is_hidden()
        page.locator("#alpha").fill("0.02")
        page.get_by_role("button", name="Decide anew").click()
        assert "Decided anew at α = 0.02" in page.locator("main").inner_text()
        page.get_by_label("Show").select_option("set-1")
        page.get_by_role("button", name="Show", exact=True).click()
        assert "alpha=0.02" in page.url
        assert page.locator("#graph-title").inner_text() == "Data set 1 alone"


@pytest.mark.parametrize("path", ["?show=1", "?show=summary&pair=0-1", "?show=1&with=2", "/tests", "/conflicts", "/about"])
def test_hostile_names_run_nothing_and_break_nothing(browser: Browser, address: str, path: str) -> None:
    with opened(browser, f"{address}/studies/hostile/result{path}", alive=path.startswith("?")) as page:
        for edge in page.locator("svg.alive > .edge").all():
            edge.focus()
            assert not said(page).startswith("Why is it so?")
        assert page.locator("main script, main img, main iframe").count() == 0
        inside, needed = page.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollWidth]")
        assert needed <= inside


@pytest.mark.parametrize("path", ["?show=1", "?show=summary&pair=0-1", "?show=1&with=2", "/tests", "/conflicts", "/about"])
def test_no_violation_of_accessibility(browser: Browser, address: str, path: str) -> None:
    with opened(browser, f"{address}/studies/small/result{path}", alive=path.startswith("?")) as page:
        for chosen in (False, True):
            if chosen and path.startswith("?"):
                page.locator(f"{NODE} rect").click()
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", [400, 820, 1280])
def test_nothing_is_wider_than_the_window(browser: Browser, address: str, width: int) -> None:
    for study in ("small", "hostile"):
        for path in ("?show=summary", "/tests", "/about"):
            with opened(browser, f"{address}/studies/{study}/result{path}", width=width, alive=False) as page:
                inside, needed = page.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollWidth]")
                assert needed <= inside, path
