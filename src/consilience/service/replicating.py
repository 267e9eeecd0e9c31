"""Replicates of a study over a network: its tests over resampled rows and without each of its sites, as its settings ask for."""

from __future__ import annotations

from collections.abc import Callable

from consilience.citest.rounding import PUBLISHED_DIGITS
from consilience.federation.federated import FederatedTest
from consilience.iod.answers import Answers
from consilience.iod.discover import plan_of
from consilience.iod.stability import AskedSites, first_questions, kept_of
from consilience.service.contract import Contract

__all__ = ["replicated"]


def replicated(contract: Contract, federated: FederatedTest, answers: Answers, say: Callable[[str], None]) -> tuple[tuple[bytes, ...], int]:
    """Ask the sites of a study for its replicates, once its tests are ``answers``.

    Returns
    -------
    tuple
        The replicates as they are kept (:mod:`consilience.iod.stability.kept`), and how many rounds they took.
    """
    settings, source = contract.settings, AskedSites(federated)
    before, plan = source.rounds, plan_of(settings, answers.names, contract.datasets, digits=PUBLISHED_DIGITS)
    first = first_questions(plan, answers.results)
    found = source.replicates(plan, first, settings.bootstrap, say, leave_one_out=settings.leave_one_out)
    return tuple(kept_of(name, asked) for name, asked in found), source.rounds - before
