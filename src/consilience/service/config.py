"""Settings of the two processes, from a TOML file and from the environment; the environment wins.

One table for each: the fields of :class:`ServerConfig` and :class:`AgentConfig`, with their meaning. A field ``port`` is ``port = 8443`` in
the file and ``CONSILIENCE_SERVER_PORT`` in the environment (``CONSILIENCE_CLIENT_…`` for a site). ``docs/operations.md`` and
``docs/site.md`` have the same tables, and a test holds them against each other.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from consilience.service.errors import ConfigurationError
from consilience.typed import from_plain

__all__ = ["AgentConfig", "ServerConfig", "describe", "load_agent", "load_server"]


def _said(words: str) -> Any:
    return msgspec.Meta(description=words)


class ServerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of ``consilience server``."""

    home: Annotated[str, _said("folder with the identity, the database and certificates")] = "consilience-server"
    host: Annotated[str, _said("address to listen on")] = "127.0.0.1"
    port: Annotated[int, _said("port to listen on"), msgspec.Meta(ge=0, le=65535)] = 8443
    public_url: Annotated[str, _said("address under which sites reach the server; it stands in invitations")] = ""
    tls_cert: Annotated[str, _said("certificate file (PEM); empty: no TLS here, which only loopback or a proxy in front allows")] = ""
    tls_key: Annotated[str, _said("its private key file (PEM)")] = ""
    behind_proxy: Annotated[bool, _said("a reverse proxy in front ends TLS; trust its X-Forwarded-For and -Proto")] = False
    proxy_cert: Annotated[
        str, _said("the proxy's certificate (PEM), read at the start: sites that see another are refused; empty: not compared")
    ] = ""
    trusted_proxies: Annotated[str, _said("addresses or networks of that proxy, with commas; nobody else's headers count")] = "127.0.0.1"
    metrics: Annotated[bool, _said("serve /metrics")] = True
    token_hours: Annotated[float, _said("how long an owner stays logged in"), msgspec.Meta(gt=0, le=8760)] = 12.0
    max_runs: Annotated[
        int, _said("studies that run at the same time; waiting for consent does not count"), msgspec.Meta(ge=1, le=1000)
    ] = 64
    search_workers: Annotated[
        int, _said("processes that look for graphs; 0: one less than there are processors, at least one"), msgspec.Meta(ge=0, le=256)
    ] = 0
    search_memory: Annotated[
        int, _said("most memory of one of them in MiB; a search that needs more is ended, its tests are kept"), msgspec.Meta(ge=256)
    ] = 2048
    search_seconds: Annotated[
        float, _said("most seconds for a search with its report, whatever the study's time_limit; then it is ended"), msgspec.Meta(gt=0)
    ] = 10800.0
    max_connections: Annotated[int, _said("connections at the same time"), msgspec.Meta(ge=8, le=100000)] = 2000
    max_connections_per_address: Annotated[
        int, _said("connections of one address at the same time; those of a trusted proxy are not counted"), msgspec.Meta(ge=8, le=100000)
    ] = 256
    max_body_bytes: Annotated[int, _said("longest body of a REST request"), msgspec.Meta(ge=1024)] = 1 << 20
    heartbeat_seconds: Annotated[float, _said("pings on the sites' connections; a site that misses one is lost"), msgspec.Meta(gt=0)] = 20.0
    login_rate: Annotated[float, _said("failed logins per minute and address; ten times that per account"), msgspec.Meta(gt=0)] = 6.0
    login_burst: Annotated[int, _said("failed logins in a row before the rate counts"), msgspec.Meta(ge=1)] = 10
    join_rate: Annotated[float, _said("failed invitations, challenges or one-time links per minute and address"), msgspec.Meta(gt=0)] = 12.0
    join_burst: Annotated[
        int, _said("failed invitations, challenges or one-time links in a row before the rate counts"), msgspec.Meta(ge=1)
    ] = 30
    oidc_issuer: Annotated[str, _said("login by OpenID Connect: the provider's issuer, https://…; empty: passwords only")] = ""
    oidc_client_id: Annotated[str, _said("what the provider calls this server")] = ""
    oidc_client_secret_file: Annotated[str, _said("file with the secret that the provider has given; empty: none, PKCE alone")] = ""
    oidc_name: Annotated[str, _said("what the login page calls the provider; empty: its host")] = ""
    oidc_claim: Annotated[
        str, _said("claim that is the account's name; of email, the part before the @, with one domain"), msgspec.Meta(min_length=1)
    ] = "preferred_username"
    oidc_domains: Annotated[str, _said("domains of verified mail addresses that may log in, with commas; empty: not asked")] = ""
    oidc_groups: Annotated[str, _said("groups of which one must be in the claim of groups, with commas; empty: not asked")] = ""
    oidc_groups_claim: Annotated[str, _said("claim with the groups of a person"), msgspec.Meta(min_length=1)] = "groups"
    oidc_scopes: Annotated[str, _said("what the provider is asked for"), msgspec.Meta(min_length=6)] = "openid profile email"
    oidc_create: Annotated[
        str,
        _said("a first login makes an account: owner or observer; empty: only accounts that are there"),
        msgspec.Meta(pattern="^(|owner|observer)$"),
    ] = ""
    oidc_ca: Annotated[str, _said("certificate authorities to trust for the provider (PEM), beside the system's")] = ""


class AgentConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of ``consilience client``. Proxies are taken from ``https_proxy`` and ``no_proxy``, as everywhere."""

    home: Annotated[str, _said("folder with the identity, and one folder per study with ledger, contract and results")] = "consilience-site"
    data: Annotated[str, _said("the site's table, .csv or .parquet")] = ""
    memory: Annotated[str, _said("what the table may take, such as 2 GB (see out-of-core.md); empty: a quarter of the computer")] = ""
    kinds: Annotated[dict[str, str], _said("kinds of columns, where they are not to be inferred; in the environment NAME=KIND,…")] = {}
    levels: Annotated[dict[str, list[str]], _said("levels of columns, in order; file only")] = {}
    peers: Annotated[dict[str, str], _said("fingerprints of other sites, known beforehand; file only")] = {}
    harmonise: Annotated[str, _said("what is done with the table first: a site.toml (see harmonising.md)")] = ""
    min_cell: Annotated[int, _said("levels with fewer rows are rare"), msgspec.Meta(ge=0)] = 5
    cells: Annotated[
        str, _said("few rows with levels of several variables together: told or refuse"), msgspec.Meta(pattern="^(told|refuse)$")
    ] = "told"
    rare_levels: Annotated[str, _said("rare levels: warn or refuse"), msgspec.Meta(pattern="^(warn|refuse)$")] = "warn"
    identity_password: Annotated[str, _said("password of the identity's file; better in the environment than in a file")] = ""
    ca: Annotated[str, _said("certificate authorities to trust (PEM), beside the system's, or beside the invitation's certificate")] = ""
    insecure: Annotated[bool, _said("allow a connection without TLS; for trials on one machine")] = False
    policy: Annotated[str, _said("the site's policy, a TOML file: what may be agreed to without asking")] = ""
    yes: Annotated[bool, _said("consent without asking to what the policy allows; needs a policy")] = False
    consent: Annotated[str, _said("consent to the contract with this digest, and to no other; 64 hexadecimal digits")] = ""
    allow_subtraction: Annotated[
        bool, _said("with consent: also if an earlier study can be subtracted from it, so that few sites or few rows remain")
    ] = False
    send_names_and_levels: Annotated[
        str, _said("in a study that has declared no variables, send the names and levels with this digest in the open; yes does not")
    ] = ""
    max_message_bytes: Annotated[int, _said("longest message of the server"), msgspec.Meta(ge=4096)] = 256 << 20
    backoff_seconds: Annotated[float, _said("longest pause between attempts to connect"), msgspec.Meta(gt=0)] = 30.0
    heartbeat_seconds: Annotated[float, _said("pings on the connection"), msgspec.Meta(gt=0)] = 20.0


T = TypeVar("T", ServerConfig, AgentConfig)


def load_server(path: Path | None, environment: Mapping[str, str] | None = None, **given: Any) -> ServerConfig:
    """The server's settings: defaults, then the file, then the environment, then what was ``given`` and is not None.

    >>> load_server(None, {"CONSILIENCE_SERVER_PORT": "9000"}, host=None).port
    9000
    """
    return _load(ServerConfig, "CONSILIENCE_SERVER_", path, os.environ if environment is None else environment, given)


def load_agent(path: Path | None, environment: Mapping[str, str] | None = None, **given: Any) -> AgentConfig:
    """The agent's settings, in the same order.

    >>> load_agent(None, {"CONSILIENCE_CLIENT_YES": "true", "CONSILIENCE_CLIENT_KINDS": "stage=ordinal"}).kinds
    {'stage': 'ordinal'}
    """
    return _load(AgentConfig, "CONSILIENCE_CLIENT_", path, os.environ if environment is None else environment, given)


def _load(kind: type[T], prefix: str, path: Path | None, environment: Mapping[str, str], given: dict[str, Any]) -> T:
    # the file, then the environment, then the command line: the nearer to the person who starts the process, the more it counts
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values |= tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigurationError(f"{str(path)!r} should be a TOML file with settings: {error}.") from None
    for field in msgspec.structs.fields(kind):
        text = environment.get(prefix + field.name.upper())
        if text is None:
            continue
        if field.name == "kinds":  # the one table that is worth a line in a container's environment
            pairs = [item.partition("=") for item in text.split(",") if item]
            values[field.name] = {name: rest for name, _, rest in pairs}
        else:
            values[field.name] = text
    values |= {name: value for name, value in given.items() if value is not None}
    try:
        return from_plain(values, kind, strict=False)  # not strict: the environment has text only, and "9000" is a port
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"A setting cannot be used: {error}. Known are: {', '.join(_names(kind))}.") from None


def _names(kind: type[ServerConfig] | type[AgentConfig]) -> list[str]:
    return [field.name for field in msgspec.structs.fields(kind)]


def describe(kind: type[ServerConfig] | type[AgentConfig]) -> list[tuple[str, str, str]]:
    """Name, default and meaning of every setting: the rows of the table in the documentation.

    >>> describe(ServerConfig)[1]
    ('host', '127.0.0.1', 'address to listen on')
    """
    rows = []
    for field in msgspec.structs.fields(kind):
        default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
        words = " ".join(m.description for m in field.type.__metadata__ if m.description)
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        rows.append((field.name, shown, words))
    return rows
