"""Sites in one Python program, as one federated test; and the pooled analysis to compare it with."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from consilience.data.schema import Schema, unite
from consilience.errors import StudyError
from consilience.federation.errors import DuplicateClientError, NoClientsError
from consilience.federation.federated import FederatedTest
from consilience.federation.pooled import Pooled
from consilience.federation.site.client import Client
from consilience.federation.transport.local import LocalTransport
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.options import check_number, check_option
from consilience.settings.choices import Dropout, Method, SingleSite
from consilience.settings.terms import Terms

__all__ = ["Server", "fisher", "pooled"]


class Server(FederatedTest):
    """Federated CI tests over several clients.

    ``method="fedci"`` fits common models from sums over clients; ``"fisher"`` combines the p-values of the clients' own tests.
    ``site_effects`` is ``"profiled"`` (each client keeps its own intercepts to itself), ``"coordinate"`` (the paper's fedCI-CA),
    ``"joint"`` (the paper's fedCI: the server sees the intercepts) or ``"none"``. ``ordinal`` is ``"proportional"`` or
    ``"generalized"``. ``schema`` declares the study's variables in advance; by default it is the union of what the clients hold.

    Sums are masked: the server sees no client's numbers (``masking=False`` is for measurements). No sum is made over fewer than
    ``min_contributors`` clients or ``min_rows`` rows; a test that one client alone can do is answered by that client
    (``single_site="local"``) or not at all (``"refuse"``). When a client vanishes, the batch restarts with the others
    (``on_dropout="restart"``) or the run stops (``"stop"``).

    >>> import polars as pl
    >>> a = Client("a", pl.DataFrame({"X": [1.0, 2.0, 3.0, 4.5, 2.2, 0.9], "Y": [1.0, 2.5, 2.0, 4.0, 2.1, 1.4]}))
    >>> b = Client("b", pl.DataFrame({"X": [0.0, 2.0, 1.0, 3.0, 2.5, 0.1], "Y": [5.0, 7.5, 6.0, 7.0, 7.7, 5.2]}))
    >>> r = Server([a, b]).test("X", "Y")
    >>> r.n, r.contributors, r.directions[0].df, round(r.p_value, 6)
    (12, 2, 1, 4e-06)
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
        min_contributors: int = 2,
        min_rows: int = 10,
        single_site: str = "local",
        on_dropout: str = "restart",
        masking: bool = True,
    ) -> None:
        self.clients = _checked(clients)
        terms = Terms(
            SiteEffects(check_option("site_effects", site_effects, tuple(SiteEffects))),
            Ordinal(check_option("ordinal", ordinal, tuple(Ordinal))),
            float(check_number("ridge", ridge, least=0.0)),
            int(check_number("min_contributors", min_contributors, least=1)),
            int(check_number("min_rows", min_rows, least=1)),
            SingleSite(check_option("single_site", single_site, tuple(SingleSite))),
            Dropout(check_option("on_dropout", on_dropout, tuple(Dropout))),
            masking,
            Method(check_option("method", method, tuple(Method))),
        )
        common = _schema(self.clients, schema)
        self._name = study = secrets.token_hex(4)
        members = [client.identity.fingerprint for client in self.clients]
        sites = [client.join(study, common, terms, members) for client in self.clients]
        datasets = [frozenset(client.declarations) & frozenset(common) for client in self.clients]
        super().__init__(common, terms, datasets, LocalTransport(sites))

    def disclosed(self) -> pl.DataFrame:
        """What has left each client in this study so far, by the clients' own ledgers: messages, numbers, bytes, and refused requests."""
        rows = [{"site": client.name, **client.record.totals(self._name)} for client in self.clients]
        return pl.DataFrame(rows)


def _checked(clients: Iterable[Client]) -> tuple[Client, ...]:
    clients = tuple(clients)
    if not clients:
        raise NoClientsError("A study needs at least one client; got none.")
    for client in clients:
        if not isinstance(client, Client):
            raise StudyError(f"A study is made of clients; got {type(client).__name__}. Wrap data with consilience.Client(name, data).")
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
    >>> a = Client("a", pl.DataFrame({"X": [1.0, 2.0, 3.0, 4.5, 2.2, 0.9], "Y": [1.0, 2.5, 2.0, 4.0, 2.1, 1.4]}))
    >>> b = Client("b", pl.DataFrame({"X": [0.0, 2.0, 1.0, 3.0, 2.5, 0.1], "Y": [5.0, 7.5, 6.0, 7.0, 7.7, 5.2]}))
    >>> round(fisher([a, b]).test("X", "Y").p_value, 6)
    1.6e-05
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
    checked = float(check_number("ridge", ridge, least=0.0))
    return Pooled({c.name: c.frame for c in clients}, common, site_factor=site_effects, ordinal=chosen, ridge=checked)
