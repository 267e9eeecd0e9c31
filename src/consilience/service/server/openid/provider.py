"""A provider of OpenID Connect: what it is asked, and what is checked of its answers.

The code flow with PKCE, after OpenID Connect Core 1.0 (3.1) and RFC 9700: the browser carries a code, this server exchanges it, and
believes nothing but an ID token that is signed by the provider's key, for this server, for this login, and not over.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import quote

import httpx
from authlib.common.urls import add_params_to_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import get_well_known_url
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from consilience.service.errors import ConfigurationError, OpenIdError, UnreachableError
from consilience.service.server.openid.settings import OpenIdSettings, check_address
from consilience.service.tls import client_context

__all__ = ["Flow", "Provider"]

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA"]
"""Signatures by a key that only the provider has. Neither "none" nor HMAC: with that the client's secret would be the key."""
LEEWAY = 60
"""Seconds by which the clocks of the two may differ."""
SECONDS = 10.0
MOST_BYTES = 1 << 20
KEEP_SECONDS = 3600.0
"""How long what the provider says of itself is believed without asking again."""
AGAIN_SECONDS = 30.0
"""A token with a key that is not known lets the keys be asked for again, and no more often than this."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What a browser is given on its way to the provider: ``state`` ties the way back to it, ``nonce`` the token, ``verifier`` the code."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Flow:
        """Of 256 random bits each."""
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))


class Provider:
    """The provider that is configured. ``clock`` gives seconds since 1970."""

    def __init__(self, settings: OpenIdSettings, clock: Callable[[], float]) -> None:
        self.settings = settings
        self._clock, self._lock = clock, Lock()
        self._context = client_context(settings.ca)
        self._known: tuple[float, dict[str, str]] | None = None
        self._keys: tuple[float, KeySet] | None = None

    def address_for(self, flow: Flow) -> str:
        """Where to send a browser. The address to come back to is the configured one, whatever the request was made to."""
        asked = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self.settings.redirect,
            "scope": self.settings.scopes,
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": create_s256_code_challenge(flow.verifier),
            "code_challenge_method": "S256",
        }
        return str(add_params_to_uri(self._endpoints()["authorization_endpoint"], list(asked.items())))

    def claims_for(self, code: str, flow: Flow) -> dict[str, Any]:
        """What the provider says of who has logged in, by the code that a browser came back with; ``OpenIdError`` if that does not hold."""
        given = self._exchange(code, flow)
        text = given.get("id_token")
        if not isinstance(text, str):
            raise OpenIdError("the answer has no ID token")
        try:
            token = self._decoded(text)
            options = {"iss": {"essential": True, "value": self.settings.issuer}}
            options["aud"] = {"essential": True, "value": self.settings.client_id}
            params = {"nonce": flow.nonce, "client_id": self.settings.client_id, "access_token": given.get("access_token")}
            claims = CodeIDToken(token.claims, token.header, options, params)
            claims.validate(now=int(self._clock()), leeway=LEEWAY)
        except (JoseError, ValueError) as error:
            raise OpenIdError(f"the ID token does not hold: {error}") from None
        if not claims["sub"]:
            raise OpenIdError("the ID token names nobody")
        return dict(claims)

    def _decoded(self, text: str) -> jwt.Token:
        try:
            return jwt.decode(text, self._key_set(KEEP_SECONDS), algorithms=ALGORITHMS)
        except InvalidKeyIdError:  # providers change their keys
            return jwt.decode(text, self._key_set(AGAIN_SECONDS), algorithms=ALGORITHMS)

    def _exchange(self, code: str, flow: Flow) -> dict[str, Any]:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.settings.redirect, "code_verifier": flow.verifier}
        found, auth = self._endpoints(), None
        if not self.settings.secret:
            form["client_id"] = self.settings.client_id
        elif found["auth"] == "client_secret_post":
            form |= {"client_id": self.settings.client_id, "client_secret": self.settings.secret}
        else:  # RFC 6749, 2.3.1: both are encoded as in a form, first
            auth = (quote(self.settings.client_id, safe=""), quote(self.settings.secret, safe=""))
        status, body = self._ask("POST", found["token_endpoint"], data=form, auth=auth)
        if status != 200:
            raise OpenIdError(f"the code was not exchanged: status {status}, {str(body.get('error', ''))[:60]!r}")
        return body

    def _endpoints(self) -> dict[str, str]:
        """What the provider says of itself: it must be who was asked, and reached as safely."""
        with self._lock:
            if self._known is None or time.monotonic() - self._known[0] > KEEP_SECONDS:
                url = get_well_known_url(self.settings.issuer, external=True)
                status, body = self._ask("GET", url)
                if status != 200 or body.get("issuer") != self.settings.issuer:
                    raise UnreachableError(f"{url} does not describe the provider {self.settings.issuer!r}.")
                found = {name: str(body.get(name, "")) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
                try:
                    for name, address in found.items():
                        check_address(f"the provider's {name}", address)
                except ConfigurationError as error:
                    raise UnreachableError(str(error)) from None
                ways = body.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
                found["auth"] = "client_secret_basic" if "client_secret_basic" in ways else "client_secret_post"
                self._known = time.monotonic(), found
            return self._known[1]

    def _key_set(self, age: float) -> KeySet:
        url = self._endpoints()["jwks_uri"]
        with self._lock:
            if self._keys is None or time.monotonic() - self._keys[0] > age:
                status, body = self._ask("GET", url)
                if status != 200:
                    raise UnreachableError(f"{url} has no keys: status {status}.")
                self._keys = time.monotonic(), KeySet.import_key_set(body)  # type: ignore[arg-type]
            return self._keys[1]

    def _ask(self, method: str, url: str, **more: Any) -> tuple[int, dict[str, Any]]:
        """A request that is not led elsewhere, takes so long and no longer, and whose answer is an object of JSON of a bounded length."""
        try:
            with (
                httpx.Client(verify=self._context, timeout=SECONDS, follow_redirects=False) as client,
                client.stream(method, url, headers={"Accept": "application/json"}, **more) as reply,
            ):
                content = b""
                for piece in reply.iter_bytes():
                    content += piece
                    if len(content) > MOST_BYTES:
                        raise UnreachableError(f"{url} answers with more than {MOST_BYTES} bytes.")
            body = json.loads(content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(f"{url} does not answer: {error}.") from None
        except ValueError:
            raise UnreachableError(f"{url} does not answer with JSON: status {reply.status_code}.") from None
        if not isinstance(body, dict):
            raise UnreachableError(f"{url} does not answer with an object of JSON.")
        return reply.status_code, body
