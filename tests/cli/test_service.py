"""``consilience server`` and ``consilience client`` up to where a network begins; ``tests/system`` has the rest."""

from __future__ import annotations

import hashlib
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from consilience.cli import optional
from consilience.cli.app import app
from consilience.data.errors import ReadError
from consilience.errors import AccessError, MissingPackageError, OptionError
from consilience.service.agent import Home
from consilience.service.errors import ConfigurationError, InvitationError
from consilience.service.invitation import Invitation

PASSWORD = "correct horse battery staple\n"


def run(*words: str, **more: Any) -> Result:
    return CliRunner().invoke(app, list(words), catch_exceptions=True, **more)


def init(home: Path, *words: str) -> Result:
    return run("server", "init", "--home", str(home), "--owner", "ada", "--password-stdin", *words, input=PASSWORD)


@pytest.mark.slow
def test_init_makes_a_server_that_only_its_owner_can_read(tmp_path: Path) -> None:
    result = init(tmp_path / "home", "--self-signed", "study.example", "--self-signed", "10.0.0.1")
    assert result.exit_code == 0, result.output
    assert "fingerprint" in result.output
    for name in ("identity.pem", "tls.key", "tls.crt"):
        assert stat.S_IMODE((tmp_path / "home" / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
    assert isinstance(init(tmp_path / "home").exception, ConfigurationError)
    assert run("server", "owner", "bob", "--home", str(tmp_path / "home"), "--password-stdin", input=PASSWORD).exit_code == 0
    again = run("server", "owner", "bob", "--home", str(tmp_path / "home"), "--password-stdin", input=PASSWORD)
    assert isinstance(again.exception, OptionError)


def test_a_short_password_leaves_no_server_behind(tmp_path: Path) -> None:
    result = run("server", "init", "--home", str(tmp_path / "home"), "--owner", "ada", "--password-stdin", input="short\n")
    assert isinstance(result.exception, OptionError)
    assert not (tmp_path / "home" / "identity.pem").exists()


@pytest.mark.slow
def test_no_open_port_without_tls(tmp_path: Path) -> None:
    init(tmp_path / "home")
    result = run("server", "run", "--home", str(tmp_path / "home"), "--host", "0.0.0.0")
    assert isinstance(result.exception, ConfigurationError)
    assert "Without TLS" in str(result.exception)
    alone = run("server", "run", "--home", str(tmp_path / "home"), env={"CONSILIENCE_SERVER_PROXY_CERT": "proxy.pem"})
    assert "--behind-proxy" in str(alone.exception)
    missing = run("server", "run", "--home", str(tmp_path / "home"), "--behind-proxy", env={"CONSILIENCE_SERVER_PROXY_CERT": "proxy.pem"})
    assert "no file 'proxy.pem'" in str(missing.exception)
    half = run("server", "run", "--home", str(tmp_path / "home"), "--tls-cert", "x.pem")
    assert isinstance(half.exception, ConfigurationError)
    assert isinstance(run("server", "run", "--home", str(tmp_path / "nowhere")).exception, ConfigurationError)


@pytest.mark.slow
def test_trusted_proxies_are_addresses(tmp_path: Path) -> None:
    init(tmp_path / "home")
    for wrong in ("*", "", "10.0.0.1,proxy.example"):
        result = run("server", "run", "--home", str(tmp_path / "home"), env={"CONSILIENCE_SERVER_TRUSTED_PROXIES": wrong})
        assert isinstance(result.exception, ConfigurationError)
        assert "trusted_proxies" in str(result.exception)


def test_a_site_says_what_is_missing(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path / "site"))
    assert isinstance(run("client", "join", str(tmp_path / "no-such.txt"), *home).exception, ReadError)
    assert isinstance(run("client", "join", "-", *home, input="hello").exception, InvitationError)
    result = run("client", "run", *home)
    assert isinstance(result.exception, ConfigurationError)
    assert "--study" in str(result.exception)
    assert isinstance(run("client", "ledger", *home, "--study", "../../etc").exception, InvitationError)
    shown = run("client", "status", *home)
    assert shown.exit_code == 0
    assert "this site" in shown.output


def test_a_bare_yes_is_no_consent(tmp_path: Path) -> None:
    """Nothing is read, and nobody is connected to: the way out comes first."""
    for words, env in ((("--yes",), {}), ((), {"CONSILIENCE_CLIENT_YES": "true"})):
        result = run("client", "run", "--home", str(tmp_path), "--data", "x.csv", *words, env=env)
        assert isinstance(result.exception, ConfigurationError)
        assert "needs a policy" in str(result.exception)
        assert "client policy --write" in str(result.exception)
    short = run("client", "run", "--home", str(tmp_path), "--data", "x.csv", "--consent", "ab12")
    assert isinstance(short.exception, ConfigurationError)
    assert "64 hexadecimal digits" in str(short.exception)
    lost = run("client", "run", "--home", str(tmp_path), "--data", "x.csv", "--policy", str(tmp_path / "no-such.toml"))
    assert isinstance(lost.exception, ConfigurationError)
    assert "no-such.toml" in str(lost.exception)


def test_a_policy_is_written_read_back_and_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    assert run("client", "policy", "--write", str(file)).exit_code == 0
    assert run("client", "policy", "--example").output == file.read_text()
    shown = run("client", "policy", str(file))
    assert "min_rows = 20" in shown.output
    assert hashlib.sha256(file.read_bytes()).hexdigest() in shown.output
    assert isinstance(run("client", "policy", "--write", str(file)).exception, ConfigurationError)
    assert isinstance(run("client", "policy").exception, ConfigurationError)


def test_study_commands_need_a_server_and_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONSILIENCE_SERVER_TOKEN", raising=False)
    monkeypatch.delenv("CONSILIENCE_SERVER_PUBLIC_URL", raising=False)
    assert isinstance(run("server", "study", "list").exception, ConfigurationError)
    assert isinstance(run("server", "study", "list", "--server", "https://127.0.0.1:9").exception, AccessError)


def test_without_the_extra_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    for words in (("server", "run"), ("client", "status"), ("server", "study", "list")):
        result = run(*words)
        assert isinstance(result.exception, MissingPackageError)
        assert "consilience[service]" in str(result.exception)


@pytest.mark.slow
def test_the_library_and_its_command_line_import_without_the_extra() -> None:
    extra = "{'fastapi', 'uvicorn', 'websockets', 'httpx', 'argon2', 'starlette', 'pydantic'}"
    code = f"import sys, consilience, consilience.cli.app; found = {extra} & set(sys.modules); assert not found, found"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_site_reconsiders_what_it_has_declined(tmp_path: Path) -> None:
    study = "00112233aabbccdd"
    folder = Home(tmp_path).enter(Invitation("https://study.example", study, "one", bytes(32), bytes(32)))
    nothing = run("client", "reconsider", "--home", str(tmp_path))
    assert "nothing to allow" in nothing.output
    folder.keep_fit(bytes(32), "'one' has 'C' = 'x'.")
    result = run("client", "reconsider", "--home", str(tmp_path), "--study", study)
    assert result.exit_code == 0, result.output
    assert "'C' = 'x'" in result.output
    assert "1 time so far" in " ".join(result.output.split())
    assert folder.fit is not None
    assert folder.fit.allowed


def test_what_cannot_be_written_or_fetched_is_said_before_anything_is_created(tmp_path: Path) -> None:
    (tmp_path / "muenster.txt").write_text("an invitation that somebody waits for")
    for site, words in (("muenster", "is there already"), ("../marburg", "is no name of a file")):
        result = run("server", "study", "create", str(tmp_path / "study.toml"), "--invite", site, "--out", str(tmp_path))
        assert isinstance(result.exception, OptionError)
        assert words in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["muenster.txt"]
    result = run("server", "study", "start", "00112233aabbccdd", "--out", str(tmp_path))
    assert isinstance(result.exception, OptionError)
    assert "--watch" in str(result.exception)
