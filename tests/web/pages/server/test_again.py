"""A study once more, and a site that withdraws, on the server's pages."""

from __future__ import annotations

from consilience.citest.question import all_questions
from consilience.service.store import Principal, State
from tests.service.helpers import bearer
from tests.service.server.test_again import ended, over, store_of
from tests.web.pages.server.helpers import Browser, another, words

ALL = list(all_questions(["A", "B", "C"], None))


def test_it_is_run_again_decided_again_and_copied(ada: Browser) -> None:
    study = over(ada.client, bearer(ada.client), ALL)
    page = f"/studies/{study}"
    shown = words(ada.get(page))
    assert "Under the same contract: its sites have agreed to it, and are not asked again." in shown
    assert "from the 6 tests that were made: no site is asked" in shown
    wrong = ada.act(study, "rerun", alpha="much")
    assert "A level is a number between 0 and 1" in words(wrong)
    assert ada.act(study, "rerun", alpha="7").status_code in (200, 422)
    reply = ada.act(study, "rerun", alpha="0.01", resolve="auto")
    other = reply.headers["location"].split("/")[2]
    assert other != study
    assert ended(ada.client, bearer(ada.client), other)["state"] == "finished"
    assert "decided again from its tests, and no site was asked" in words(ada.get(f"/studies/{other}"))
    assert ada.act(study, "rerun").headers["location"] == f"{page}/progress"
    assert ended(ada.client, bearer(ada.client), study)["state"] == "finished"
    copied = ada.act(study, "again").headers["location"].split("/")[2]
    row = store_of(ada.client).studies.get(copied)
    assert row is not None
    assert (row.origin, row.state) == (study, State.DRAFT)


def test_a_site_withdraws_on_its_page_and_the_result_says_so(ada: Browser) -> None:
    study = over(ada.client, bearer(ada.client), ALL)
    ada.act(study, "rerun")
    assert ended(ada.client, bearer(ada.client), study)["state"] == "finished"
    before = ada.get(f"/studies/{study}/result")
    assert (before.status_code, "withdrew" in words(before)) == (200, False)
    token, _ = store_of(ada.client).accounts.issue(Principal(study=study, site="two"), 60.0)
    site = another(ada)
    assert site.post("/token", "/token", token=token).status_code == 303
    assert "Withdraw this site" in words(site.get(f"/studies/{study}"))
    assert site.act(study, "leave", reason="a mistake").status_code == 303
    assert "Withdraw this site" not in words(site.get(f"/studies/{study}"))
    for browser in (ada, site):
        assert "two withdrew on 1970-01-12: a mistake. What it had contributed before" in words(browser.get(f"/studies/{study}/result"))
        assert "two withdrew on 1970-01-12: a mistake." in words(browser.get(f"/studies/{study}/progress"))
    assert ada.act(study, "leave").status_code == 403
