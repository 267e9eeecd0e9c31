"""The program itself: its version, the packages that it needs, whether they load, a browser, and a port of this machine's own."""

from __future__ import annotations

import platform
import re
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from importlib import metadata

from consilience.protocol.version import VERSION
from consilience.service.doctor.sign import Sign, good, notice, obstacle

__all__ = ["look_at_machine", "packages_needed", "port_sign"]

LOADED = ("numpy", "scipy.special", "polars", "clingo", "cryptography.hazmat.primitives.asymmetric.ed25519", "msgspec", "rich", "typer")
"""What is imported in a process of its own: a package that the processor or a security program does not let run ends that one, not us."""
LOADING_SECONDS = 120.0
FOR_SITES = ("service", "web")
"""Extras that a site needs to take part over a network: by commands, and in a browser."""
_REQUIREMENT = re.compile(r"""([A-Za-z0-9_.-]+)(?:\[[^]]*\])?\s*(?:>=\s*([0-9.]+))?[^;]*(?:;.*extra\s*==\s*['"]([^'"]+)['"])?""")
HOST = "127.0.0.1"


def look_at_machine(version: str, port: int = 0, installed: str = "consilience") -> list[Sign]:
    """The signs of this machine, with this version of the program. ``port`` is one that the app is to listen on; 0 is any."""
    return [_version_sign(version), *_package_signs(installed), _loading_sign(LOADED), _browser_sign(), port_sign(port)]


def _version_sign(version: str) -> Sign:
    python = f"{platform.python_implementation()} {platform.python_version()}, {64 if sys.maxsize > 2**32 else 32} bits"
    return good("versions", f"consilience {version} (protocol {VERSION}), {python}, {platform.system()} {platform.release()}.")


def packages_needed(installed: str) -> Iterator[tuple[str, str, str]]:
    """Name, least version and extra ("" for none) of each package that the installed distribution says it needs.

    >>> ("numpy", "2.0", "") in set(packages_needed("consilience"))
    True
    >>> ("jinja2", "3.1", "web") in set(packages_needed("consilience"))
    True
    """
    for line in metadata.requires(installed) or ():
        found = _REQUIREMENT.match(line)
        if found is not None and found[1] != installed:
            yield found[1], found[2] or "", found[3] or ""


def _package_signs(installed: str) -> Iterator[Sign]:
    try:
        needed = [one for one in packages_needed(installed) if one[2] in ("", *FOR_SITES)]
    except metadata.PackageNotFoundError:
        yield notice(
            "packages",
            "This copy of consilience was not installed by pip, and does not say which packages it needs.",
            "Please install consilience by: pip install 'consilience[web]'.",
        )
        return
    versions: dict[str, str] = {}
    missing: dict[str, list[str]] = {}
    for name, least, extra in needed:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.setdefault(extra, []).append(name)
            continue
        if _numbers(versions[name]) < _numbers(least):
            missing.setdefault(extra, []).append(f"{name} of version {least} or later (there is {versions[name]})")
    for extra, names in missing.items():
        what, make = ", ".join(names), obstacle if extra == "" else notice
        pip = f"pip install '{installed}{f'[{extra}]' if extra else ''}'"
        does = "consilience" if extra == "" else {"service": "taking part in a study over a network", "web": "the app in a browser"}[extra]
        yield make("packages", f"For {does} there is missing: {what}.", f"Please install for my account: {what} ({pip}).")
    if not missing:
        yield good("packages", f"All are there: {', '.join(f'{name} {version}' for name, version in sorted(versions.items()))}.")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def _loading_sign(names: tuple[str, ...]) -> Sign:
    """Whether packages load; what was being loaded when it ended is the one that does not."""
    program = f"import importlib, sys\nfor name in {names!r}:\n    print(name, flush=True)\n    importlib.import_module(name)\n"
    try:
        with subprocess.Popen(  # noqa: S603  this interpreter, and a program of ours
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                said, wrong = process.communicate(timeout=LOADING_SECONDS)
            finally:
                process.kill()  # where it has not ended by itself
    except (OSError, subprocess.TimeoutExpired) as error:
        return obstacle(
            "loading",
            f"Packages could not be loaded in a process of their own: {error}.",
            f"Does a security program keep {sys.executable} from starting processes, or slow it down? Please make an exception for it.",
        )
    if process.returncode == 0:
        return good("loading", "All packages that compute can be loaded.")
    culprit = (said.split() or ["python"])[-1].partition(".")[0]
    last = (wrong.strip().splitlines() or [f"the process ended with code {process.returncode}"])[-1]
    return obstacle(
        "loading",
        f"The package {culprit} cannot be loaded: {last[:300]}.",
        f"Python's package {culprit} is installed and does not run on this machine ({last[:200]}). Is it kept from running by a security "
        f"program, or made for another processor ({platform.machine()})? Please allow or reinstall it.",
    )


def _browser_sign() -> Sign:
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return notice(
            "browser",
            "No browser was found to open the app in. It prints its address, which any browser on this machine opens.",
            "Please install a browser on this machine, or tell me which of its programs is one.",
        )
    return good("browser", f"The app opens in {getattr(found, 'name', '') or type(found).__name__}.")


def port_sign(port: int) -> Sign:
    """Whether the app can listen on this machine, and whether what it listens on can be reached from here.

    >>> port_sign(0).standing.value
    'good'
    """
    named = f"port {port}" if port else "any port"
    try:
        with socket.create_server((HOST, port)) as listener:
            listener.settimeout(5.0)
            with socket.create_connection((HOST, listener.getsockname()[1]), timeout=5.0):
                listener.accept()[0].close()
    except (OSError, OverflowError) as error:
        return obstacle(
            "port",
            f"The app cannot listen on {named} of this machine itself ({HOST}): {error}.",
            f"Please let programs of my account listen on {named} of {HOST}, for connections from this machine only. Nothing is to be "
            f"opened towards the network.",
        )
    return good("port", f"The app can listen on {named} of this machine itself; nothing is opened towards the network.")
