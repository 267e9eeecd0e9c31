"""Everything that is said about a result, and a reader who holds each sentence against what is known to be true."""

from __future__ import annotations

import re
from io import StringIO

from rich.console import Console

from consilience.cli.show import show_discovery
from consilience.iod import Discovery
from consilience.iod.report import render, render_digest
from consilience.iod.report.graphs import common_positions, graph_list, summary_section
from consilience.iod.report.sections import conflicts, overview
from consilience.iod.report.sentences import title
from consilience.settings import Resolve
from tests.iod.report.helpers import read


def everything_said(found: Discovery, *, drawings: bool = True, whole: bool = True) -> dict[str, str]:
    """The texts by where they stand: every form of a result that a person reads. The part that explains graphs in general is left out.

    Without drawings it takes a tenth of the time, and lacks the sections that have some. Not as a whole page, the sections are made and
    read alone: of a page about many tests, most is their tables, which are not among the texts.
    """
    out = StringIO()
    show_discovery(found, Console(file=out, width=100_000))
    texts = {"headline": found.headline, "repr": repr(found), "title": title(found), "terminal": out.getvalue()}
    if not drawings:
        return texts | {f"page: {name}": read(part(found)).text for name, part in (("result", overview), ("conflicts", conflicts))}
    if whole:
        page = read(render(found))
        assert page.one("h1").text == texts["title"]
        texts |= {f"page: {name}": page.one("section", id=name).text for name in ("result", "summary", "graphs", "conflicts")}
    else:
        positions = common_positions(found)
        parts = {"summary": summary_section(found, positions), "graphs": graph_list(found, positions)}
        parts |= {"result": overview(found), "conflicts": conflicts(found)}
        texts |= {f"page: {name}": read(part).text for name, part in parts.items()}
    return texts | {"notebook": read(render_digest(found)).text}


def check_sentences(found: Discovery, *, drawings: bool = True, whole: bool = True) -> None:
    """No sentence is false, and none that is needed is missing."""
    texts = everything_said(found, drawings=drawings, whole=whole)
    told, n = found.resolution, len(found.pags)
    for where, text in texts.items():
        _check_counts(found, f"{where}: {text}", text)
        _check_claims(found, f"{where}: {text}", text)
    head = found.headline
    for where in ("repr", "notebook", "page: result", "terminal"):
        assert head in texts.get(where, head), where
    if n and not found.complete:
        assert "there may be more" in head, head
    if n and told.undecided:
        assert re.search(r"may contradict the other (one|[\d,]+)\.", head), head
    if n and told.how is Resolve.OPTIMAL and not told.proved and found.overruled:
        assert ("how much less would do is not known" if not told.bound else "so that the gap is") in head, head
    if n and found.overruled:
        wrong = r"if the ((\d+ )?overruled decisions? (is|are)|decisions that a graph contradicts are) wrong"
        for where in ("page: summary", "terminal"):
            assert where not in texts or re.search(wrong, texts[where]), where
    if found.missing.height:
        assert re.search(rf"\b{found.missing.height} questions? that this needs (was|were) never asked", head), head


def _check_counts(found: Discovery, where: str, text: str) -> None:
    """Numbers of graphs are said only of graphs that are there, and as all there are only of complete lists."""
    n = len(found.pags)
    assert not re.search(r"\b0 (or more|graphs? or more|graphs (agree|that|had|give))|(?<!\d)0\+", text), where
    for count, _ in re.findall(r"(?<!first )\b([Ee]xactly one|[\d,]+) graphs? (agrees? with|gives? up)", text):
        assert found.complete, where
        assert ("1" if count.lower() == "exactly one" else count.replace(",", "")) == str(n), where
    if re.search(r"exactly one graph", text, re.IGNORECASE):
        assert (found.complete, n) == (True, 1), where
    if not n:
        nothing = ("In all", "in every", "hold in", "What follows", "certain", "the rest", "joined in no", "edges in all", "best graph")
        assert not [words for words in nothing if words in text], where
    if re.search(r"\bno edge(?! that is known)\b", text, re.IGNORECASE) and "no edges" not in text:
        statuses = set(found.summary.frame["edge"])
        assert not statuses & {"all", "unknown"}, where


def _check_claims(found: Discovery, where: str, text: str) -> None:
    """What is said to agree, to contradict, to be least, or to have cut the search short."""
    told, n = found.resolution, len(found.pags)
    refuted = told.how is not Resolve.OPTIMAL and bool(told.overruled)
    proved_to_cost = told.bound > 0 or (told.how is Resolve.OPTIMAL and told.proved and told.given_up > 0)
    empty = not n and found.complete and told.proved
    if re.search(r"All ([\d,]+ )?decisions agree|one decision holds|agrees with all decisions\.", text) and "No graph agrees" not in text:
        assert n, where
        assert not [*told.overruled, *found.overruled, *found.conflicts], where
        assert not told.undecided, where
    if "contradict each other" in text:
        assert found.conflicts or refuted or proved_to_cost or empty, where
        assert ("what is known contradict" in text) == bool(found.knowledge), where
    if re.search(r"[Nn]o graph (agrees with (all|what)|gives up)", text):
        assert empty or (told.proved and told.how is Resolve.OPTIMAL) or told.bound > 0, where
    if "less weight than" in text or "cost the least" in text:
        assert told.how is Resolve.OPTIMAL, where
        assert told.proved, where
    if "time limit of" in text or "time ran out" in text or "--time-limit" in text:
        assert not found.stopped, where
        assert not (found.complete and told.proved), where
    if "was stopped" in text:
        assert found.stopped, where
    if "which is the limit" in text or "--limit NUMBER" in text:
        assert n == found.settings["limit"], where
        assert not found.complete, where
    if "Strongest first" in text:
        assert told.how is Resolve.STRONGEST, where
        assert not told.undecided, where
