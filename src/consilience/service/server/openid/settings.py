"""What is configured of a login by OpenID Connect, checked before anybody uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from consilience.errors import MissingPackageError
from consilience.service.config import ServerConfig
from consilience.service.errors import ConfigurationError
from consilience.service.store import AccountRole

if TYPE_CHECKING:
    from consilience.service.server.openid.provider import Provider

__all__ = ["CALLBACK", "OpenIdSettings", "provider_of"]

CALLBACK = "/login/callback"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class OpenIdSettings:
    """The settings ``oidc_…`` of a server; ``secret`` and ``ca`` are what their files hold."""

    issuer: str
    client_id: str
    secret: str
    redirect: str
    name: str
    claim: str
    domains: frozenset[str]
    groups: frozenset[str]
    groups_claim: str
    scopes: str
    create: AccountRole | None
    ca: str

    @classmethod
    def of(cls, config: ServerConfig) -> OpenIdSettings | None:
        """From the server's settings; None if no provider is configured.

        >>> OpenIdSettings.of(ServerConfig()) is None
        True
        >>> OpenIdSettings.of(ServerConfig(oidc_issuer="http://login.example", oidc_client_id="study"))
        Traceback (most recent call last):
        consilience.service.errors.ConfigurationError: oidc_issuer must be https://…; got 'http://login.example'.
        """
        if not config.oidc_issuer:
            if config.oidc_client_id or config.oidc_create:
                raise ConfigurationError("oidc_client_id and oidc_create need oidc_issuer: the address of the provider.")
            return None
        if not config.oidc_client_id:
            raise ConfigurationError("oidc_issuer needs oidc_client_id: what the provider calls this server.")
        check_address("oidc_issuer", config.oidc_issuer)
        check_address("public_url, to which the provider sends people back,", config.public_url)
        domains, groups = _listed(config.oidc_domains.casefold()), _listed(config.oidc_groups)
        if config.oidc_create and not domains and not groups:
            raise ConfigurationError("oidc_create makes accounts: say for whom, with oidc_domains or oidc_groups.")
        if config.oidc_claim == "email" and len(domains) != 1:
            raise ConfigurationError(
                f"oidc_claim = email takes the part before the @, one person's in one domain only; oidc_domains has {len(domains)}."
            )
        if "openid" not in config.oidc_scopes.split():
            raise ConfigurationError(f"oidc_scopes must have openid among them; got {config.oidc_scopes!r}.")
        return cls(
            config.oidc_issuer,
            config.oidc_client_id,
            _content(config.oidc_client_secret_file, "oidc_client_secret_file").strip(),
            f"{config.public_url.rstrip('/')}{CALLBACK}",
            config.oidc_name or str(urlsplit(config.oidc_issuer).hostname),
            config.oidc_claim,
            domains,
            groups,
            config.oidc_groups_claim,
            config.oidc_scopes,
            AccountRole(config.oidc_create) if config.oidc_create else None,
            _content(config.oidc_ca, "oidc_ca"),
        )


def check_address(what: str, url: str) -> None:
    """``ConfigurationError`` unless an address is safe to send secrets to: TLS, or this machine.

    >>> check_address("it", "http://127.0.0.1:8080")
    """
    parts = urlsplit(url)
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)):
        raise ConfigurationError(f"{what} must be https://…; got {url!r}.")


def provider_of(config: ServerConfig, clock: Callable[[], float]) -> Provider | None:
    """The provider that is configured, or None. Nobody is asked anything yet: it may be down when the server starts."""
    settings = OpenIdSettings.of(config)
    if settings is None:
        return None
    for package in ("authlib", "joserfc"):
        if find_spec(package) is None:
            raise MissingPackageError(
                f"oidc_issuer is set, and a login by OpenID Connect needs the package {package!r}, which is not installed: "
                "pip install 'consilience[oidc]'. Or leave oidc_issuer out: owners then log in with passwords."
            )
    from consilience.service.server.openid.provider import Provider  # noqa: PLC0415  the extra may not be installed

    return Provider(settings, clock)


def _listed(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())


def _content(file: str, name: str) -> str:
    if not file:
        return ""
    try:
        found = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{name} should be a text file; {file!r} cannot be read: {error}.") from None
    if not found.strip():
        raise ConfigurationError(f"{name} names an empty file: {file!r}.")
    return found
