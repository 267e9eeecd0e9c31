"""A server that does not keep to anything: what it hands out as a result, what it names without end. Each is the attack itself."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import consilience as cs
from consilience import errors
from consilience.protocol.framing import decode, encode
from consilience.protocol.handshake import Closing, Proposal, from_server
from consilience.protocol.messages import Announced, Round, RoundRequest
from consilience.protocol.survey import Survey
from consilience.secagg import Identity
from consilience.service.agent import Agent, Home, StudyFolder
from consilience.service.agent import entry as rest
from consilience.service.agent.rehearsal import rehearse
from consilience.service.agent.result import read_result
from consilience.service.config import AgentConfig
from consilience.service.contract import decode_contract
from consilience.service.fetching import MOST_WORDS, message_of, read_json
from consilience.service.invitation import Invitation
from consilience.service.result_files import documents_of
from consilience.web.pages.result import ResultSource, prepared
from consilience.web.rendering import Shell
from tests.service.agent.sites import CLIENTS, CONTRACT, STUDY, changed, proposal, run_of, shown_by_a_server, site_in
from tests.service.hostile import Evil, evil_server

MANY = 8_000_000
TOKEN = "a token"


@pytest.fixture
def evil() -> Iterator[Evil]:
    with evil_server() as server:
        yield server


@pytest.fixture(scope="module")
def result() -> bytes:
    """A true one."""
    return dict(documents_of(cs.discover(cs.Server(CLIENTS)), CONTRACT, ("site0", "site1", "site2"), 3, 96))["result.json"]


def folder_at(evil: Evil, path: Path, *, agreed: bool = True) -> StudyFolder:
    folder = Home(path).enter(Invitation(evil.url, STUDY, "site0", bytes(32), Identity.generate().public_bytes))
    if agreed:
        folder.accept(CONTRACT)
    return folder


def download(folder: StudyFolder) -> list[Path]:
    return rest.download(folder, TOKEN, {"A", "C"}, insecure=True)


@contextmanager
def at_most(megabytes: float) -> Iterator[None]:
    """What Python takes in here, at its peak."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * 1e6
    finally:
        tracemalloc.stop()


# documents before any contract


def test_a_study_that_is_finished_before_anything_was_agreed_to_is_a_lie(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    with pytest.raises(errors.ProtocolError, match="agreed to no contract of the study, and takes no result"):
        site.handle(Closing("finished", "look at this"))
    assert site_in(tmp_path / "other").handle(Closing("cancelled", "by its owner")) is None


def test_no_document_is_asked_for_where_nothing_was_agreed_to(evil: Evil, tmp_path: Path, result: bytes) -> None:
    evil.says = {"result.json": (200, result), "report.html": (200, b"<script>"), "tests.csv": (200, b"x")}
    folder = folder_at(evil, tmp_path, agreed=False)
    with pytest.raises(errors.ResultError, match="agreed to no contract"):
        download(folder)
    assert evil.asked == []
    assert {path.name for path in folder.path.iterdir()} == {"study.json"}


# what is written at the site


def test_only_data_come_from_the_server_and_pages_are_made_here(evil: Evil, tmp_path: Path, result: bytes) -> None:
    told = json.loads(result)
    told["tests"][0]["reason"] = "<img src=x onerror=alert(1)>=1+1"
    body = json.dumps(told).encode()
    evil.says = {"result.json": (200, body), "report.html": (200, b"<script>fetch('//evil')</script>"), "tests.csv": (200, b"=cmd()\n")}
    folder = folder_at(evil, tmp_path)
    written = download(folder)
    names = ["result.json", "tests.csv", "report.html", "local-pag.svg", "local-pag.json"]
    assert [path.name for path in written] == names
    assert [path.rpartition("/")[2] for path in evil.asked] == ["result.json"]
    assert (folder.path / "result.json").read_bytes() == body
    page = (folder.path / "report.html").read_text()
    assert page == cs.Discovery.from_dict(told).to_html()
    assert "default-src 'none'" in unescape(page)
    assert "evil" not in page
    assert "<img" not in page
    assert "=cmd" not in (folder.path / "tests.csv").read_text()
    assert all((folder.path / name).stat().st_mode & 0o077 == 0 for name in names)


def test_who_has_withdrawn_stands_in_the_report_that_is_made_here(evil: Evil, tmp_path: Path, result: bytes) -> None:
    told = json.loads(result)
    told["study"]["withdrawn"] = ["<b>site2</b> withdrew on 2026-01-31.", "site1 withdrew."]
    evil.says = {"result.json": (200, json.dumps(told).encode())}
    folder = folder_at(evil, tmp_path)
    download(folder)
    page = (folder.path / "report.html").read_text()
    assert '<p class="withdrawn"><strong>&lt;b&gt;site2&lt;/b&gt; withdrew on 2026-01-31. site1 withdrew.</strong></p>' in page


def broken(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    def made(result: bytes) -> bytes:
        told = json.loads(result)
        change(told)
        return json.dumps(told).encode()

    return made


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _: b"",
    "no JSON": lambda _: b"<html>",
    "no text": lambda _: b"\xff\xfe\x00",
    "a list": lambda _: b"[]",
    "deep": lambda _: b'{"study": ' + b"[" * 200_000,
    "of another study": broken(lambda told: told["study"].update(id="ffffffffffffffff")),
    "without graphs": broken(lambda told: told.pop("local_pags")),
    "graphs that are none": broken(lambda told: told.update(local_pags=[1])),
    "no matrix": broken(lambda told: told["local_pags"][0].update(matrix=[[7]])),
    "a set of another study": broken(lambda told: told["local_pags"][0].update(variables=["X", "Y"])),
    "other variables": broken(lambda told: told["pags"][0].update(labels=["A", "<script>"])),
    "too many graphs": broken(lambda told: told.update(local_pags=told["local_pags"] * 2)),
    "tests of others": broken(lambda told: told["tests"][0].update(x="Z")),
    "no tests": broken(lambda told: told.update(tests={"x": 1})),
    "withdrawals that are none": broken(lambda told: told["study"].update(withdrawn=[7])),
    "no settings": broken(lambda told: told.pop("alpha")),
    "numbers that are words": broken(lambda told: told["tests"][0].update(p_value="small")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_result_that_is_none_is_an_error_in_words_and_nothing_is_written(evil: Evil, tmp_path: Path, result: bytes, name: str) -> None:
    evil.says = {"result.json": (200, BROKEN[name](result))}
    folder = folder_at(evil, tmp_path)
    with pytest.raises(errors.ResultError, match=r"The server's result .*Nothing was written\. Ask the study's owner\."):
        download(folder)
    assert not (folder.path / "result.json").exists()
    assert not (folder.path / "report.html").exists()


def test_a_finished_study_without_a_result_is_said(evil: Evil, tmp_path: Path) -> None:
    with pytest.raises(errors.ResultError, match="has no result"):
        download(folder_at(evil, tmp_path))


# what is named without end


def test_variable_sets_without_end_in_a_contract_are_refused_before_they_are_read() -> None:
    long = (
        changed(datasets=(("A", "C"),) * 2)
        .encoded()
        .replace(b"\x92\x92\xa1A\xa1C\x92\xa1A\xa1C", b"\xdd" + MANY.to_bytes(4, "big") + b"\x92\xa1A\xa1C" * MANY)
    )
    assert len(long) > MANY
    with at_most(1), pytest.raises(errors.ProtocolError, match="up to 4,194,304 bytes"):
        decode_contract(long)
    short = changed(datasets=(("A", "C"),) * 300).encoded()
    with pytest.raises(errors.ProtocolError, match="length <= 256"):
        decode_contract(short)


def test_variable_sets_without_end_in_a_request_are_refused_before_they_are_read() -> None:
    request = RoundRequest(b"r" * 16, 0, b"d" * 32, Survey((("A",),)), (Announced(("A",), 3, 30),))
    sets, said = b"\xa4sets\x91\x91\xa1A", b"\xa9announced\x91\x93\x91\xa1A\x03\x1e"
    data = encode(Round(request))
    assert sets in data
    assert said in data
    length = b"\xdd" + MANY.to_bytes(4, "big")
    for evil in (
        data.replace(sets, b"\xa4sets" + length + b"\x91\xa1A" * MANY),
        data.replace(said, b"\xa9announced" + length + b"\x93\x91\xa1A\x03\x1e" * MANY),
    ):
        with at_most(1), pytest.raises(errors.ProtocolError, match="length <= 1048576"):
            decode(evil, from_server)


def test_the_same_set_again_and_again_is_refused_in_words(tmp_path: Path) -> None:
    sites = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    for site in sites:
        site.handle(proposal())
    digest = run_of(sites, b"r" * 16)
    reply = sites[0].handle(Round(RoundRequest(b"r" * 16, 0, digest, Survey((("A",),) * 100_000))))
    assert "may stand once in a request; of 100000, 99999 stand there again" in reply.message


def test_a_study_or_a_result_without_end_is_not_read(evil: Evil, tmp_path: Path, result: bytes) -> None:
    many = b'{"study": {"id": "' + STUDY.encode() + b'"}, "local_pags": [' + b"[]," * MANY + b"[]]}"
    with at_most(1), pytest.raises(errors.ResultError, match=r"8,000,00\d parts"):
        read_result(many, CONTRACT)
    with pytest.raises(ValueError, match="parts"):
        read_json(b"," * ((1 << 26) + 1))
    evil.says = {STUDY: (200, b'{"variables": [' + b'["A"],' * 2_000_000 + b"[]]}")}
    with at_most(30), pytest.raises(errors.UnreachableError, match="more than 4194304 bytes"):
        rest.fetch_study(folder_at(evil, tmp_path), TOKEN, insecure=True)
    assert read_result(result, CONTRACT)[0].headline


@pytest.mark.parametrize("what", ["variables", "datasets", "sites"])
def test_a_study_that_is_shown_with_more_than_a_study_has_is_not_rehearsed(what: str) -> None:
    study = shown_by_a_server()
    with pytest.raises(errors.StudyError, match=r"A study has up to \d+"):
        rehearse(CLIENTS[0], {**study, what: study[what] * 2000})


def test_a_contract_whose_sets_are_not_of_its_variables_is_refused(tmp_path: Path) -> None:
    for contract in (changed(datasets=(("A", "Z"),)), changed(datasets=()), changed(datasets=(("A",),))):
        with pytest.raises(errors.RefusalError, match="variables that no study may have"):
            site_in(tmp_path).handle(Proposal(contract.encoded()))


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"[" * 200_000, b'{"study": 1}'])
def test_a_damaged_file_is_said_on_the_sites_pages(body: bytes) -> None:
    source = ResultSource(STUDY, "trial", STUDY, lambda _: body, Shell("Consilience"))
    with pytest.raises(errors.ConsilienceError, match=r"result\.json"):
        prepared._read(source)


def test_a_server_that_talks_without_end_is_cut_short(tmp_path: Path) -> None:
    """Both ways to say something to a site's owner: why an invitation is not taken, and how a study ended."""
    assert len(message_of(403, json.dumps({"message": "no " * 1_000_000}).encode())) == MOST_WORDS
    site = site_in(tmp_path)
    agent = Agent(site._joined, CLIENTS[0].identity, AgentConfig(), lambda _: None)

    class Line:
        async def recv(self) -> bytes:
            return b"\x00" + encode(Closing("cancelled" * 1000, "\x1b[2J" + "words " * 100_000))

    outcome = asyncio.run(agent._answer(Line(), site))  # type: ignore[arg-type]
    assert len(outcome.state) == MOST_WORDS
    assert len(outcome.message) < MOST_WORDS + 10
    assert outcome.message.startswith(r"\x1b[2Jwords")
