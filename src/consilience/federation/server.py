"""Sites in one Python program, as one federated test; and the pooled analysis to compare it with."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from consilience.data.judging import Common, in_common
from consilience.data.schema import Schema, shown_levels
from consilience.errors import OptionError, StudyError
from consilience.federation.checking import across
from consilience.federation.errors import DuplicateClientError, NoClientsError
from consilience.federation.federated import FederatedTest
from consilience.federation.pooled import Pooled
from consilience.federation.pooled_auto import PooledAuto
from consilience.federation.pooled_residual import PooledResidual
from consilience.federation.site.client import Client
from consilience.federation.transport.local import LocalTransport
from consilience.frames import pl
from consilience.options import check_flag
from consilience.settings import DEFAULTS, LOCAL, Alternatives, Method, Settings, SiteEffects, settings_of, terms_of
from consilience.showing import first, table
from consilience.wording import counted

__all__ = ["Server", "fisher", "pooled"]


class Server(FederatedTest):
    """Federated conditional-independence tests over several clients, from masked sums.

    Parameters
    ----------
    clients : iterable of Client
        The sites, each with a name of its own.
    schema : Schema or mapping, optional
        The study's variables, declared in advance. By default the union of what the clients hold.
    method : {"fedci", "fisher", "residual", "auto"}
        ``"fedci"`` compares nested models that are fitted from sums over clients; ``"fisher"`` combines the p-values of the clients' own
        tests; ``"residual"`` multiplies the residuals of smooth models, which needs neither straight lines nor equal variances;
        ``"auto"`` is fedci where the linear models hold, and residual where they do not.
    site_effects : {"profiled", "coordinate", "joint", "none", "random"}
        Where the sites' intercepts live: ``"profiled"`` (each client keeps its own to itself), ``"coordinate"`` (the paper's fedCI-CA),
        ``"joint"`` (the paper's fedCI: the server sees them), ``"none"`` (one intercept for all) or ``"random"`` (intercepts from a
        normal law whose variance is estimated: for many small clients).
    ordinal : {"proportional", "generalized"}
        How ordinal responses are modelled: proportional odds, or slopes of their own for each level.
    ridge : float
        Penalty on coefficients; 0 for none.
    min_contributors : int
        No sum is made over fewer clients than this.
    min_rows : int
        No sum is made over fewer rows than this.
    single_site : {"local", "refuse"}
        A test that one client alone can do is answered by that client, with a p-value of three digits and no statistic, or not at all.
    on_dropout : {"restart", "stop"}
        When a client vanishes, the batch restarts with the others, or the run stops.
    site_slopes : bool
        With ``method="residual"``: conditioning variables have slopes of their own at every client.
    alternatives : {"linear", "smooth"}
        With ``method="residual"``: look for covariance, or for any smooth dependence.
    cluster : str, optional
        With ``method="residual"``: a column whose equal values mark rows that belong together (a ward, a patient with several visits). It
        is no variable of the study, and never leaves a client.
    small_sample : bool
        P-values that hold for few rows, and a refusal where no law does. False refers every statistic to the plain χ², as the paper does.
    diagnostics : bool
        With ``method="fedci"``: look whether the linear models hold, in one more round.
    isolation : {"aggregate", "strict"}
        What may be worked out about one client alone by subtracting sums: sums over at least ``min_rows`` of its rows, or nothing.
    min_cell : int
        No level count and no difference of row counts between 1 and this can be worked out; 1 for no such rule, as in one program.
    cells : {"told", "refuse"}
        With ``"refuse"`` a client stays out of sums over discrete variables of which fewer than ``min_cell`` of its rows have given levels
        together.
    masking : bool
        The server sees no client's numbers. False is for measurements only.

    Raises
    ------
    OptionError
        An option has a value that does not exist, or is out of its range.
    StudyError
        There are no clients, two have one name, or fewer than ``min_contributors``.
    SchemaError
        The clients disagree about a variable, or hold values outside the schema.

    See Also
    --------
    fisher : only p-values are combined.
    pooled : all rows in one place.
    discover : from tests to graphs.

    Examples
    --------
    >>> import polars as pl
    >>> a = Client("a", pl.DataFrame({"X": [1.0, 2.0, 3.0, 4.5, 2.2, 0.9], "Y": [1.0, 2.5, 2.0, 4.0, 2.1, 1.4]}))
    >>> b = Client("b", pl.DataFrame({"X": [0.0, 2.0, 1.0, 3.0, 2.5, 0.1], "Y": [5.0, 7.5, 6.0, 7.0, 7.7, 5.2]}))
    >>> server = Server([a, b])
    >>> r = server.test("X", "Y")
    >>> r.n, r.contributors, r.directions[0].df, round(r.p_value, 6)
    (12, 2, 1, 0.000102)
    >>> server
    Server(fedci, 2 clients: a, b; 2 variables; 3 rounds)
    """

    def __init__(
        self,
        clients: Iterable[Client],
        *,
        schema: Schema | Mapping[str, Any] | None = None,
        method: str = DEFAULTS.method.value,
        site_effects: str = DEFAULTS.site_effects.value,
        ordinal: str = DEFAULTS.ordinal.value,
        ridge: float = DEFAULTS.ridge,
        min_contributors: int = DEFAULTS.min_contributors,
        min_rows: int = DEFAULTS.min_rows,
        single_site: str = DEFAULTS.single_site.value,
        on_dropout: str = DEFAULTS.on_dropout.value,
        site_slopes: bool = DEFAULTS.site_slopes,
        alternatives: str = DEFAULTS.alternatives.value,
        cluster: str | None = DEFAULTS.cluster,
        small_sample: bool = DEFAULTS.small_sample,
        diagnostics: bool = DEFAULTS.diagnostics,
        isolation: str = DEFAULTS.isolation.value,
        min_cell: int = DEFAULTS.min_cell,
        cells: str = DEFAULTS.cells.value,
        masking: bool = LOCAL.masking,
    ) -> None:
        self.clients = _checked(clients)
        settings = settings_of(
            method=method,
            site_effects=site_effects,
            ordinal=ordinal,
            ridge=ridge,
            min_contributors=min_contributors,
            min_rows=min_rows,
            single_site=single_site,
            on_dropout=on_dropout,
            site_slopes=site_slopes,
            alternatives=alternatives,
            cluster=cluster,
            small_sample=small_sample,
            diagnostics=diagnostics,
            isolation=isolation,
            min_cell=min_cell,
            cells=cells,
        )
        terms = terms_of(settings, masking=check_flag("masking", masking))
        found = _common(self.clients, schema, settings.cluster)
        self.findings, self.left_out, common = found.findings, found.left_out, found.schema
        self._name = study = secrets.token_hex(4)
        members = [client.identity.fingerprint for client in self.clients]
        sites = [client.join(study, common, terms, members) for client in self.clients]
        datasets = [client.held(common) for client in self.clients]
        super().__init__(common, terms, datasets, LocalTransport(sites))

    def __repr__(self) -> str:
        who, rounds = counted(len(self.participants), "client"), counted(self.rounds, "round")
        return f"Server({self.method}, {who}: {', '.join(self.participants)}; {counted(len(self.variables), 'variable')}; {rounds})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the study's variables, and which clients measure each."""
        held = {client.name: client.held(self.schema) for client in self.clients if client.name in self.participants}
        by = {name: [site for site, names in held.items() if name in names] for name in self.schema}
        rows = [
            (v.name, v.kind.value, shown_levels(v), "all" if len(by[v.name]) == len(held) else first(by[v.name]))
            for v in self.schema.values()
        ]
        who, rounds = counted(len(held), "client"), counted(self.rounds, "round")
        caption = f"{self.method}: {who} ({first(list(held))}), {counted(len(rows), 'variable')}, {rounds}"
        return table(caption, ("variable", "kind", "levels", "measured by"), rows)

    def disclosed(self) -> pl.DataFrame:
        """What has left each client in this study so far, by the clients' own ledgers.

        Returns
        -------
        polars.DataFrame
            One row a client: ``site``, ``messages``, ``numbers``, ``bytes`` and ``refused`` requests.
        """
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


def _common(clients: Sequence[Client], schema: Schema | Mapping[str, Any] | None, cluster: str | None) -> Common:
    """The study's variables; the column that marks clusters is none unless somebody declares it, which is an error later."""
    declared = schema if schema is None or isinstance(schema, Schema) else Schema(schema)
    found = in_common({c.name: c.verdicts for c in clients}, () if cluster is None else (cluster,), declared)
    measured = [name for name, variable in found.schema.items() if variable.unit and (declared is not None or _all_say(clients, name))]
    return replace(found, findings=(*found.findings, *across(clients, declared, known=found.findings, measured=measured)))


def _all_say(clients: Sequence[Client], name: str) -> bool:
    """Whether every client that has a variable says its unit."""
    return all(client.declarations[name].variable.unit for client in clients if name in client.declarations)


def fisher(
    clients: Iterable[Client],
    *,
    schema: Schema | Mapping[str, Any] | None = None,
    site_effects: str = DEFAULTS.site_effects.value,
    ordinal: str = DEFAULTS.ordinal.value,
    ridge: float = DEFAULTS.ridge,
    min_contributors: int = DEFAULTS.min_contributors,
    min_rows: int = DEFAULTS.min_rows,
    single_site: str = DEFAULTS.single_site.value,
    on_dropout: str = DEFAULTS.on_dropout.value,
    small_sample: bool = DEFAULTS.small_sample,
    isolation: str = DEFAULTS.isolation.value,
    min_cell: int = DEFAULTS.min_cell,
    cells: str = DEFAULTS.cells.value,
    masking: bool = LOCAL.masking,
) -> Server:
    """Fisher's method over the clients' own tests, as a CI test: only p-values are combined.

    Parameters
    ----------
    clients : iterable of Client
        The sites, each with a name of its own.
    schema : Schema or mapping, optional
        The study's variables, declared in advance. By default the union of what the clients hold.
    site_effects : {"profiled", "coordinate", "joint", "none", "random"}
        Checked, and without effect: each client tests on its own rows, where there is one intercept.
    ordinal : {"proportional", "generalized"}
        How ordinal responses are modelled.
    ridge : float
        Penalty on coefficients; 0 for none.
    min_contributors : int
        No p-values are combined over fewer clients than this.
    min_rows : int
        None are combined over fewer rows than this.
    single_site : {"local", "refuse"}
        A test that one client alone can do is answered by that client, or not at all. With ``"local"`` every p-value that may be
        one client's own, which is every one, is rounded to three digits before it is combined.
    on_dropout : {"restart", "stop"}
        When a client vanishes, the batch restarts with the others, or the run stops.
    small_sample : bool
        P-values that hold for few rows, and a refusal where no law does. False refers every statistic to the plain χ², as the paper does.
    isolation : {"aggregate", "strict"}
        What may be worked out about one client alone by subtracting sums: sums over at least ``min_rows`` of its rows, or nothing.
    min_cell : int
        No level count and no difference of row counts between 1 and this can be worked out; 1 for no such rule.
    cells : {"told", "refuse"}
        With ``"refuse"`` a client stays out of sums over discrete variables of which fewer than ``min_cell`` of its rows have given levels
        together.
    masking : bool
        The server sees no client's p-values. False is for measurements only.

    Returns
    -------
    Server
        With ``method="fisher"``.

    Raises
    ------
    OptionError, StudyError, SchemaError
        As :class:`Server` does.

    Examples
    --------
    >>> import polars as pl
    >>> a = Client("a", pl.DataFrame({"X": [1.0, 2.0, 3.0, 4.5, 2.2, 0.9], "Y": [1.0, 2.5, 2.0, 4.0, 2.1, 1.4]}))
    >>> b = Client("b", pl.DataFrame({"X": [0.0, 2.0, 1.0, 3.0, 2.5, 0.1], "Y": [5.0, 7.5, 6.0, 7.0, 7.7, 5.2]}))
    >>> round(fisher([a, b], single_site="refuse").test("X", "Y").p_value, 6), round(fisher([a, b]).test("X", "Y").p_value, 6)
    (0.0012, 0.00119)
    """
    return Server(
        clients,
        method=Method.FISHER.value,
        schema=schema,
        site_effects=site_effects,
        ordinal=ordinal,
        ridge=ridge,
        min_contributors=min_contributors,
        min_rows=min_rows,
        single_site=single_site,
        on_dropout=on_dropout,
        small_sample=small_sample,
        isolation=isolation,
        min_cell=min_cell,
        cells=cells,
        masking=masking,
    )


def pooled(
    data: Iterable[Any],
    *,
    schema: Schema | Mapping[str, Any] | None = None,
    site_effects: str | bool = DEFAULTS.site_effects.value,
    ordinal: str = DEFAULTS.ordinal.value,
    ridge: float = DEFAULTS.ridge,
    method: str = DEFAULTS.method.value,
    site_slopes: bool = DEFAULTS.site_slopes,
    alternatives: str = DEFAULTS.alternatives.value,
    cluster: str | None = DEFAULTS.cluster,
    small_sample: bool = DEFAULTS.small_sample,
    diagnostics: bool = DEFAULTS.diagnostics,
) -> Pooled | PooledResidual | PooledAuto:
    """The pooled analysis as a CI test: all rows in one place, the site as a factor in every model.

    Parameters
    ----------
    data : iterable of Client, frames or paths
        One for each site.
    schema : Schema or mapping, optional
        The study's variables, declared in advance. By default the union of what the sites hold.
    site_effects : {"profiled", "coordinate", "joint", "none", "random"} or bool
        As for :class:`Server`: ``"none"`` leaves the site's factor out, ``"random"`` is a mixed model. Where all rows are in one place,
        the other three are one and the same: the site is a factor. True and False say the same, with and without.
    ordinal : {"proportional", "generalized"}
        How ordinal responses are modelled.
    ridge : float
        Penalty on coefficients; 0 for none.
    method : {"fedci", "fisher", "residual", "auto"}
        Which test to compare with: nested models, or products of residuals. Fisher's is refused: it combines tests of single sites.
    site_slopes : bool
        With ``method="residual"``: conditioning variables have slopes of their own at every site.
    alternatives : {"linear", "smooth"}
        With ``method="residual"``: look for covariance, or for any smooth dependence.
    cluster : str, optional
        With ``method="residual"``: a column whose equal values mark rows that belong together.
    small_sample : bool
        As for :class:`Server`.
    diagnostics : bool
        With ``method="fedci"``: look whether the linear models hold.

    Returns
    -------
    Pooled, PooledResidual or PooledAuto
        A CI test to compare federated ones with.

    Raises
    ------
    OptionError
        An option has a value that does not exist, or is out of its range.
    StudyError, SchemaError, DataError
        The data cannot be read or do not fit together.

    Examples
    --------
    >>> import polars as pl
    >>> frames = [pl.DataFrame({"X": [1.0, 2.0, 3.0, 4.5], "Y": [1.0, 2.5, 2.0, 4.0]})]
    >>> test = pooled(frames)
    >>> round(test.test("X", "Y").p_value, 4)
    0.0958
    >>> test
    Pooled(1 site: site1; 2 variables; 4 rows)
    """
    clients = _checked(d if isinstance(d, Client) else Client(f"site{i}", d) for i, d in enumerate(data, start=1))
    if isinstance(site_effects, bool):
        site_effects = DEFAULTS.site_effects if site_effects else SiteEffects.NONE
    chosen = {"method": method, "site_slopes": site_slopes, "alternatives": alternatives, "cluster": cluster}
    chosen |= {"small_sample": small_sample, "diagnostics": diagnostics}
    settings = settings_of(site_effects=site_effects, ordinal=ordinal, ridge=ridge, **chosen)
    found = _common(clients, schema, settings.cluster)
    test = _pooled(clients, settings, found.schema)
    test.findings, test.left_out = found.findings, found.left_out
    return test


def _pooled(clients: Sequence[Client], settings: Settings, common: Schema) -> Pooled | PooledResidual | PooledAuto:
    frames = {c.name: c.fitted(common, settings.cluster).frame for c in clients}
    if settings.method is Method.FISHER:
        raise OptionError(
            "Fisher's method combines tests of sites, and there are none where all rows are in one place; got method='fisher'."
        )
    features = settings.alternatives is Alternatives.SMOOTH
    if settings.method is Method.RESIDUAL:
        return PooledResidual(frames, common, slopes=settings.site_slopes, features=features, cluster=settings.cluster)
    auto = settings.method is Method.AUTO
    linear = Pooled(
        frames,
        common,
        effects=settings.site_effects,
        ordinal=settings.ordinal,
        ridge=settings.ridge,
        small_sample=settings.small_sample,
        diagnostics=settings.diagnostics or auto,
    )
    return PooledAuto(linear, PooledResidual(frames, common, slopes=settings.site_slopes, features=features)) if auto else linear
