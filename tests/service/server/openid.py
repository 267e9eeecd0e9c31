"""A provider of OpenID Connect on loopback, small and strict; and one that can be made to lie."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

CLIENT, SECRET = "study server", "a secret: with signs & spaces"
LET_IN = '<!doctype html><html lang="en"><title>The clinic</title><h1>The clinic</h1><a href="{}">Let me in</a>'
Claims = dict[str, Any]


class OpenIdProvider:
    """Lets in whoever it is told to. ``sign`` makes the ID token, ``twist`` changes what it says."""

    def __init__(self, url: str) -> None:
        self.url = self.issuer = url
        self.key = RSAKey.generate_key(2048, {"kid": "first"})
        self.person: Claims = {"sub": "7f3a", "preferred_username": "ada", "email": "ada@hospital.example", "email_verified": True}
        self.twist: Callable[[Claims], Claims] = lambda claims: claims
        self.sign: Callable[[Claims], str] = self.signed
        self.redirect_uri = ""
        self.asks = False  # somebody at a browser, before they are sent back: from then on it is this site that sends them
        self.answers_as: str | None = None  # the parameter iss of RFC 9207
        self.endpoints: dict[str, Any] = {}
        self.asked = 0  # for its keys
        self._codes: dict[str, dict[str, str]] = {}

    def signed(self, claims: Claims) -> str:
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.get("/.well-known/openid-configuration")
        def discovery() -> dict[str, Any]:
            found = {"issuer": self.issuer, "jwks_uri": f"{self.url}/keys"}
            return {
                **found,
                "authorization_endpoint": f"{self.url}/authorize?tenant=1",
                "token_endpoint": f"{self.url}/token",
                **self.endpoints,
            }

        @app.get("/keys")
        def keys() -> dict[str, Any]:
            self.asked += 1
            return KeySet([self.key]).as_dict(private=False)  # type: ignore[return-value]

        @app.get("/authorize")
        def authorize(request: Request) -> Any:
            asked = dict(request.query_params)
            good = asked["response_type"] == "code" and asked["client_id"] == CLIENT and "openid" in asked["scope"].split()
            if not good or asked["redirect_uri"] != self.redirect_uri or asked.get("code_challenge_method") != "S256":
                return JSONResponse({"error": "invalid_request"}, 400)
            code = secrets.token_urlsafe(16)
            self._codes[code] = asked
            back = {"code": code, "state": asked["state"]} | ({"iss": self.answers_as} if self.answers_as else {})
            way = f"{self.redirect_uri}?{urlencode(back)}"
            return HTMLResponse(LET_IN.format(escape(way))) if self.asks else RedirectResponse(way, 303)

        @app.post("/token")
        async def token(request: Request) -> Any:
            form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
            given = base64.b64decode(request.headers.get("authorization", "").removeprefix("Basic ")).decode()
            asked = self._codes.pop(form.get("code", ""), None)  # a code works once
            proof = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
            if [unquote(part) for part in given.split(":")] != [CLIENT, SECRET]:
                return JSONResponse({"error": "invalid_client"}, 401)
            if asked is None or proof != asked["code_challenge"] or form.get("redirect_uri") != asked["redirect_uri"]:
                return JSONResponse({"error": "invalid_grant"}, 400)
            now = int(time.time())
            claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"], **self.person}
            return {"access_token": "an access token", "token_type": "Bearer", "id_token": self.sign(self.twist(claims))}

        return app


@contextmanager
def openid_provider(host: str = "127.0.0.1") -> Iterator[OpenIdProvider]:
    """A provider that answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        provider = OpenIdProvider(f"http://{host}:{listener.getsockname()[1]}")
        server = uvicorn.Server(uvicorn.Config(provider.app(), log_config=None, ws="none", lifespan="off", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield provider
        finally:
            server.should_exit = True
            thread.join(10)


def _encoded(*parts: bytes) -> str:
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def unsigned(claims: Claims) -> str:
    """With the algorithm "none"."""
    return _encoded(b'{"alg":"none","typ":"JWT"}', json.dumps(claims).encode()) + "."


def keyed(claims: Claims, secret: bytes) -> str:
    """With HMAC under a text that others know, too."""
    body = _encoded(b'{"alg":"HS256","kid":"first"}', json.dumps(claims).encode())
    return f"{body}.{_encoded(hmac.digest(secret, body.encode(), 'sha256'))}"


def signed_by_another(claims: Claims) -> str:
    """By a key that is not the provider's, under the name of one that is."""
    return jwt.encode({"alg": "RS256", "kid": "first"}, claims, RSAKey.generate_key(2048))


def signed_by_a_curve(claims: Claims) -> str:
    """By a key of another kind, under a name that is not known."""
    return jwt.encode({"alg": "ES256", "kid": "second"}, claims, ECKey.generate_key("P-256"))
