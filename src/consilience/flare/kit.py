"""What the owner of one of FLARE's start-up kits sets in its folder ``local``: which class of ours may run, and a site's own settings.

FLARE runs the classes that ``class_allow_list`` of ``local/resources.json`` names, and refuses a job with others unless it may bring code
of its own. A site's table, its home and its consent are in ``local/consilience.toml``, with the same settings as for
``consilience client`` (:class:`consilience.service.config.AgentConfig`).
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.x509.oid import NameOID

from consilience.flare.names import SETTINGS_FILE
from consilience.service.config import AgentConfig, load_agent
from consilience.service.errors import ConfigurationError
from consilience.service.tls import write_private
from consilience.typed import from_plain

__all__ = ["agree", "allow", "name_of", "server_home", "site_settings", "write_settings"]

LOCAL, HOME = "local", "../consilience"
PATHS = ("home", "data", "harmonise", "policy")
"""Settings that are paths: seen from the file that has them, since nobody knows in which folder FLARE starts a process."""
NO_SETTINGS = (
    "A site of FLARE's takes part by settings of its own in {path!r}: {why}. `consilience nvflare site KIT --data FILE` writes them."
)


class _ServerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    home: str = HOME


def name_of(kit: Path) -> str:
    """The name that the owner of a client's start-up kit has in the federation: the one in its certificate.

    Raises
    ------
    ConfigurationError
        If the folder is no such kit.
    """
    file = kit / "startup" / "client.crt"
    try:
        names = x509.load_pem_x509_certificate(file.read_bytes()).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        return str(names[0].value)
    except (OSError, ValueError, IndexError) as error:
        raise ConfigurationError(
            f"{str(kit)!r} should be a client's start-up kit of FLARE's, with a certificate in startup/client.crt: {error}."
        ) from None


def allow(kit: Path, component: str) -> bool:
    """Let FLARE run a class in jobs, besides those that it may run already; False if it might before.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     (Path(name) / "local").mkdir()
    ...     _ = (Path(name) / "local" / "resources.json.default").write_text('{"class_allow_list": []}')
    ...     allow(Path(name), "a.b.C"), allow(Path(name), "a.b.C")
    (True, False)
    """
    file = kit / LOCAL / "resources.json"
    try:
        if not file.exists():  # FLARE's own order: the file of the owner, else the one that came with the kit
            shutil.copy(file.with_name("resources.json.default"), file)
        content = json.loads(file.read_text(encoding="utf-8"))
        listed = content["class_allow_list"]
        if component in listed or "*" in listed:
            return False
        listed.append(component)
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            f"{str(kit)!r} should be a start-up kit of FLARE 2.9 or later, with a class_allow_list in local/resources.json: {error!r}."
        ) from None
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return True


def write_settings(kit: Path, settings: Mapping[str, str | bool]) -> Path:
    """Write ``local/consilience.toml``; :class:`ConfigurationError` if there is one already. Its path."""
    file = kit / LOCAL / SETTINGS_FILE
    if file.exists():
        raise ConfigurationError(f"{str(file)!r} is there already; change it by hand.")
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in settings.items()]
    write_private(file, "".join(lines).encode())
    return file


def agree(kit: Path, digest: str, *, subtraction: bool = False) -> Path:
    """Set the consent of a site to the contract with this digest, and to no other; the file that says so.

    ``subtraction`` says that it was agreed, too, to what the study tells together with earlier ones.
    """
    file = kit / LOCAL / SETTINGS_FILE
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(NO_SETTINGS.format(path=str(file), why=error.strerror)) from None
    without = re.sub(r"^(consent|allow_subtraction)\s*=.*\n?", "", text, flags=re.MULTILINE)
    said = f'consent = "{digest}"\n' + ("allow_subtraction = true\n" if subtraction else "")
    write_private(file, (said + without).encode())  # first, before any table
    return file


def site_settings(local: Path) -> AgentConfig:
    """The settings of a site, from the folder ``local`` of its kit; paths are seen from there."""
    file = local / SETTINGS_FILE
    if not file.exists():
        raise ConfigurationError(NO_SETTINGS.format(path=str(file), why="there is no such file"))
    found = load_agent(file)
    if not found.data:
        raise ConfigurationError(NO_SETTINGS.format(path=str(file), why="it does not say where the table is (data)"))
    home = found.home if found.home != AgentConfig().home else HOME
    values = {name: getattr(found, name) for name in PATHS} | {"home": home}
    # an address of a database is no path, and stays as it is
    seen = {name: str(local / value) if value and "://" not in value else value for name, value in values.items()}
    return msgspec.structs.replace(found, **seen)


def server_home(local: Path) -> Path:
    """The folder in which FLARE's server keeps journals of studies: ``home`` of its own settings, else beside ``local``."""
    file = local / SETTINGS_FILE
    if not file.exists():
        return local / HOME
    try:
        return local / from_plain(tomllib.loads(file.read_text(encoding="utf-8")), _ServerSettings).home
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigurationError(f"{str(file)!r} should say where journals are kept, as in home = '/srv/consilience': {error}.") from None
