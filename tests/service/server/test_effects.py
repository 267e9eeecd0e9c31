"""Effects over a network: agreed to in the contract, asked when the graphs are found, published with six digits."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

import consilience as cs
from consilience.data.errors import UnknownVariableError
from consilience.errors import OptionError
from consilience.iod.effects import Effects
from consilience.protocol.errors import WrongTermsError
from consilience.service.contract import Contract
from consilience.service.server.services import Services
from consilience.service.settings import check_knowledge, checked
from consilience.settings import Method, NetworkSettings
from tests.service.run_links import run
from tests.service.whole_study import running_study


def frame(seed: int, n: int) -> pl.DataFrame:
    """I and C act on X, and X and C on Y: X --> Y is visible, and C is adjusted for."""
    rng = np.random.default_rng(seed)
    i, c = rng.normal(size=(2, n))
    x = i + 0.8 * c + rng.normal(size=n)
    return pl.DataFrame({"I": i, "C": c, "X": x, "Y": x + 0.8 * c + rng.normal(size=n)})


@cache
def clients() -> tuple[cs.Client, ...]:
    return tuple(cs.Client(name, frame(seed, 400)) for seed, name in enumerate(("a", "b", "c")))


def services_of(client: TestClient) -> Services:
    services: Services = client.app.state.services  # type: ignore[attr-defined]
    return services


def result_of(services: Services, contract: Contract) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(services.store.runs.document(contract.study, "result.json") or b"{}")
    return found


@pytest.mark.slow
def test_a_study_with_effects_has_them_in_its_result(client: TestClient) -> None:
    services = services_of(client)
    contract, ledgers, links = running_study(services, clients=clients(), effects=("X -> Y", "Y -> X"), min_cell=1)
    run(services.runner, contract, links)
    told = result_of(services, contract)
    to_y, to_x = (Effects.from_dict(one) for one in told["effects"])
    assert to_x.says[0].identification == "zero"
    (estimate,) = to_y.estimates
    wanted = cs.Server(clients()).effect("X", "Y", ["C"])
    assert estimate == wanted.rounded(6)
    assert estimate.given == ("C",)
    assert any("outcomes under 1 intervention" in line.what for line in ledgers["a"].entries)
    report = services.store.runs.document(contract.study, "report.html")
    assert report is not None
    assert "share of graphs" in report.decode()


@pytest.mark.slow
def test_a_search_that_was_cut_off_asks_for_nothing_twice(client: TestClient) -> None:
    """Its tests and estimates are stored, and the journal answers the rest."""
    services = services_of(client)
    contract, _, links = running_study(services, clients=clients(), effects=("X -> Y",), min_cell=1)
    services.runner._links[contract.study] = links  # type: ignore[assignment]
    services.runner._ask(contract, links)  # type: ignore[arg-type]
    asked = links.asked
    services.runner._asking.clear()  # the process ended here
    run(services.runner, contract, links, search_only=True)
    assert result_of(services, contract)["effects"][0]["estimates"]
    assert links.asked < 2 * asked


def test_a_site_answers_no_effect_that_it_has_not_agreed_to(client: TestClient) -> None:
    services = services_of(client)
    contract, _, links = running_study(services, clients=clients(), effects=("X -> Y",), min_cell=1)
    asking = services.runner._begun(contract, links)  # type: ignore[arg-type]
    assert asking.federated.effect("X", "Y", ["C"]).known
    with pytest.raises(WrongTermsError, match="has not agreed to an effect of 'Y' on 'X'"):
        asking.federated.effect("Y", "X", ["C"])


def test_the_contract_says_what_effects_take_and_tell() -> None:
    settings = NetworkSettings(effects=("X -> Y", "* -> C"))
    lines = "\n".join(Contract("00112233aabbccdd", "trial", (), (), settings, ()).lines())
    assert "effects are estimated (X -> Y; * -> C)" in lines
    assert "what a fitted model predicts for their rows" in lines
    plain = "\n".join(Contract("00112233aabbccdd", "trial", (), (), NetworkSettings(), ()).lines())
    assert "effects are estimated" not in plain


def test_effects_are_of_variables_of_the_study_and_of_a_method_with_sums() -> None:
    with pytest.raises(UnknownVariableError, match="'Q'"):
        check_knowledge(NetworkSettings(effects=("X -> Q",)), cs.Server(clients()).schema)
    with pytest.raises(OptionError, match="method='fisher'"):
        checked(NetworkSettings(effects=("X -> Y",), method=Method.FISHER))
    with pytest.raises(OptionError, match="cause -> outcome"):
        checked(NetworkSettings(effects=("X to Y",)))
