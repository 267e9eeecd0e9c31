"""The server of a study: CI tests over all sites, from sums alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from consilience.citest.batch import batch, drive
from consilience.citest.combine import fisher as fisher_p
from consilience.citest.interface import CITest, Progress
from consilience.citest.pooled import Pooled
from consilience.citest.question import Question
from consilience.citest.requests import LOCAL_FIELDS, LocalTests
from consilience.citest.result import CIResult
from consilience.citest.study import Options, Study
from consilience.data.schema import Schema, unite
from consilience.errors import DuplicateClientError, NoClientsError, OptionError, check_option
from consilience.federation.client import Client
from consilience.federation.transport import LocalTransport
from consilience.glm.layout import Ordinal, SiteEffects

__all__ = ["Server", "fisher", "pooled"]

METHODS = ("fedci", "fisher")


class Server(CITest):
    """Federated CI tests over several clients.

    ``method="fedci"`` fits common models from sums over clients; ``"fisher"`` combines the p-values of the clients' own tests.
    ``site_effects`` is ``"profiled"`` (each client keeps its own intercepts to itself), ``"coordinate"`` (the paper's fedCI-CA),
    ``"joint"`` (the paper's fedCI: the server sees the intercepts) or ``"none"``. ``ordinal`` is ``"proportional"`` or
    ``"generalized"``. ``schema`` declares the study's variables in advance; by default it is the union of what the clients hold.

    >>> import polars as pl
    >>> a = Client("a", pl.DataFrame({"X": [1.0, 2.0, 3.0, 4.5], "Y": [1.0, 2.5, 2.0, 4.0]}))
    >>> b = Client("b", pl.DataFrame({"X": [0.0, 2.0, 1.0, 3.0], "Y": [5.0, 7.5, 6.0, 7.0]}))
    >>> r = Server([a, b]).test("X", "Y")
    >>> r.n, r.contributors, r.directions[0].df, round(r.p_value, 4)
    (8, 2, 1, 0.0004)
    """

    def __init__(
        self,
        clients: Iterable[Client],
        *,
        schema: Schema | Mapping[str, Any] | None = None,
        method: str = "fedci",
        site_effects: str = "profiled",
        ordinal: str = "proportional",
        ridge: float = 0.0,
    ) -> None:
        self.clients = _checked(clients)
        self.method = check_option("method", method, METHODS)
        effects = SiteEffects(check_option("site_effects", site_effects, tuple(SiteEffects)))
        if not ridge >= 0.0:
            raise OptionError(f"ridge must be zero or a positive number; got {ridge!r}.")
        self.schema = _schema(self.clients, schema)
        for client in self.clients:
            client.join(self.schema)
        self.variables = tuple(self.schema)
        self.datasets = tuple(dict.fromkeys(frozenset(c.declarations) & frozenset(self.schema) for c in self.clients))
        options = Options(effects, Ordinal(check_option("ordinal", ordinal, tuple(Ordinal))), ridge, len(self.clients))
        self._study = Study(self.schema, options)
        self._transport = LocalTransport(self.clients)

    @property
    def rounds(self) -> int:
        """Exchanges with the clients so far."""
        return self._transport.rounds

    @property
    def bytes(self) -> int:
        """Bytes that a network would have carried so far, requests and answers of all clients."""
        return self._transport.bytes

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order. What is learnt before an interruption is not asked for again."""
        if self.method == "fisher":
            return self._fisher(questions, progress)
        return drive(batch(questions, self._study, progress), self._transport.ask)

    def _fisher(self, questions: Sequence[Question], progress: Progress | None) -> list[CIResult]:
        options = self._study.options
        total = self._transport.ask(LocalTests(tuple(questions), options.ordinal, options.ridge))
        if progress is not None:
            progress(len(questions), len(questions))
        return [_fisher_result(q, *part) for q, part in zip(questions, total.reshape(-1, LOCAL_FIELDS).tolist(), strict=True)]


def _fisher_result(question: Question, sites: float, n: float, statistic: float) -> CIResult:
    contributors = round(sites)
    return CIResult(
        question.x,
        question.y,
        question.given,
        fisher_p(statistic, contributors),
        round(n),
        contributors,
        rounds=1,
        informative=contributors > 0,
        reason="" if contributors else "no site can test this on its own rows",
        converged=True,
        directions=(),
    )


def _checked(clients: Iterable[Client]) -> tuple[Client, ...]:
    clients = tuple(clients)
    if not clients:
        raise NoClientsError("A study needs at least one client; got none.")
    names = [client.name for client in clients]
    for name in names:
        if names.count(name) > 1:
            raise DuplicateClientError(
                f"Every client needs a name of its own; {names.count(name)} are called {name!r}. Rename all but one."
            )
    return clients


def _schema(clients: Sequence[Client], schema: Schema | Mapping[str, Any] | None) -> Schema:
    if schema is None:
        return unite({client.name: client.declarations for client in clients})
    return schema if isinstance(schema, Schema) else Schema(schema)


def fisher(clients: Iterable[Client], **options: Any) -> Server:
    """Fisher's method over the clients' own tests, as a CI test: only p-values are combined.

    >>> import polars as pl
    >>> a = Client("a", pl.DataFrame({"X": [1.0, 2.0, 3.0, 4.5], "Y": [1.0, 2.5, 2.0, 4.0]}))
    >>> round(fisher([a]).test("X", "Y").p_value, 4)
    0.0091
    """
    return Server(clients, method="fisher", **options)


def pooled(
    data: Iterable[Any],
    *,
    schema: Schema | Mapping[str, Any] | None = None,
    site_effects: bool = True,
    ordinal: str = "proportional",
    ridge: float = 0.0,
) -> Pooled:
    """The pooled analysis as a CI test: all rows in one place, the site as a factor (``site_effects=False``: without it).

    ``data`` are clients, frames or paths.

    >>> import polars as pl
    >>> frames = [pl.DataFrame({"X": [1.0, 2.0, 3.0, 4.5], "Y": [1.0, 2.5, 2.0, 4.0]})]
    >>> round(pooled(frames).test("X", "Y").p_value, 4)
    0.0091
    """
    clients = _checked(d if isinstance(d, Client) else Client(f"site{i}", d) for i, d in enumerate(data, start=1))
    common = _schema(clients, schema)
    chosen = Ordinal(check_option("ordinal", ordinal, tuple(Ordinal)))
    return Pooled({c.name: c.frame for c in clients}, common, site_factor=site_effects, ordinal=chosen, ridge=ridge)
