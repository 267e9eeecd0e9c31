"""``consilience app``: the site's app in a browser, on this machine only."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consilience.cli.later import load_soon, loading
from consilience.cli.optional import need_web
from consilience.cli.trial import run_trial
from consilience.service.errors import ConfigurationError

if TYPE_CHECKING:
    from consilience.web.site_app import Launch

__all__ = ["app_command"]

HOST = "127.0.0.1"


def app_command(
    folder: Annotated[Path, typer.Argument(help="Folder with the site's tables.")] = Path(),
    config: Annotated[
        Path | None, typer.Option("--config", help="TOML file with settings of the site.", envvar="CONSILIENCE_CLIENT_CONFIG")
    ] = None,
    home: Annotated[str | None, typer.Option(help="Folder with the identity and the studies; consilience-site beside the tables.")] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any that is free.", min=0, max=65535)] = 0,
    ca: Annotated[str | None, typer.Option(help="Certificate authorities to trust (PEM).")] = None,
    insecure: Annotated[bool | None, typer.Option(help="Allow a connection without TLS; for trials.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    trial: Annotated[
        bool, typer.Option("--trial", help="Try it: a study server and three sites on this machine, with made-up data.")
    ] = False,
    split: Annotated[Path | None, typer.Option(help="With --trial: a table of your own, dealt out to the three sites.")] = None,
) -> None:
    """Take part in a study with a browser instead of commands. The app answers this machine only.

    Example: consilience app tables
    """
    need_web()
    if trial:
        run_trial(split)
        return
    if split is not None:
        raise ConfigurationError("--split deals a table out to the sites of a trial: say --trial, too.")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small sums: threads would wait for each other
    with loading():
        import uvicorn  # noqa: PLC0415  the extra may not be installed

        from consilience.service.config import load_agent  # noqa: PLC0415
        from consilience.web.desk import SiteDesk  # noqa: PLC0415
        from consilience.web.site_app import Launch, create_site_app  # noqa: PLC0415

    folder = folder.resolve()
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {str(folder)!r}.")
    settings = load_agent(
        config, ca=ca, insecure=insecure, home=home or os.environ.get("CONSILIENCE_CLIENT_HOME") or str(folder / "consilience-site")
    )
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise ConfigurationError(f"Port {port} cannot be used: {error.strerror}. Choose another, or none.") from None
        listener.listen(128)  # before the address is told: whoever is quick waits, and is not refused
        address = f"http://{HOST}:{listener.getsockname()[1]}/launch?token="
        launch = Launch()
        app = create_site_app(SiteDesk(folder, settings), port=listener.getsockname()[1], launch=launch)
        _open(Path(settings.home), address, launch, browser=browser)

        class Server(uvicorn.Server):
            """Ends the streams of open pages first: they have no end, and would be waited for."""

            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                app.state.streams.close()
                super().handle_exit(sig, frame)

        options: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False}
        # a browser that comes back to a page within minutes finds its connection open
        options |= {"timeout_graceful_shutdown": 3, "timeout_keep_alive": 120}
        load_soon()
        Server(uvicorn.Config(app, **options)).run([listener])


def _open(home: Path, address: str, launch: Launch, *, browser: bool) -> None:
    """Print the address and open it. The browser gets a file that leads there: what stands on a command line, others can read."""
    from consilience.service.tls import write_private  # noqa: PLC0415

    link = address + launch.token()
    print(
        f"The app runs on this machine only. Open it in a browser; the address works once:\n\n  {link}\n\nCtrl+C ends the app.", flush=True
    )
    if browser:
        page = home / "open.html"
        write_private(page, f'<!doctype html><meta http-equiv="refresh" content="0;url={link}"><title>consilience</title>'.encode())
        webbrowser.open(page.resolve().as_uri())
    if sys.stdin is not None and sys.stdin.isatty():
        threading.Thread(target=_again, args=(address, launch), daemon=True).start()


def _again(address: str, launch: Launch) -> None:
    """A new address for every line that is entered, for another browser or one that was closed."""
    for _line in sys.stdin:
        print(f"\n  {address}{launch.token()}\n", flush=True)
