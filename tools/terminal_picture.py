r"""A picture of what a command prints: it is run, and its output is drawn as a terminal shows it.

    python tools/terminal_picture.py --columns 108 --from "The decisions" --to "age – sbp" docs/images/terminal-discover.png \
        consilience discover --knowledge known.toml --out result muenster.csv marburg.csv mainz.csv

(the three tables are those of ``consilience app --trial``, in ``consilience.web.trial_tables``, and what is known is its tiers).
Lines before the one that holds ``--from`` and after the one that holds ``--to`` are left out, and an ellipsis stands for them. The drawing
is rich's, without the fonts that it would load from elsewhere; a browser makes the picture.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def printed(command: list[str], columns: int) -> str:
    """What a command prints to a terminal of this width, with its styles."""
    program = shutil.which(command[0], path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        sys.exit(f"There is no program {command[0]}.")
    here = os.environ | {"COLUMNS": str(columns), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    return subprocess.run([program, *command[1:]], env=here, capture_output=True, text=True, check=True).stdout  # noqa: S603  what was asked for


def chosen(lines: list[str], first: str | None, last: str | None) -> list[str]:
    """The lines between two of them, with an ellipsis where others are left out."""
    plain = [Text.from_ansi(line).plain for line in lines]
    begin = next(at for at, line in enumerate(plain) if first in line) if first else 0
    end = next(at for at, line in enumerate(plain) if at >= begin and last in line) if last else len(lines) - 1
    return [*(["…"] if begin else []), *lines[begin : end + 1], *(["…"] if end + 1 < len(lines) else [])]


def drawn(command: list[str], lines: list[str], columns: int) -> str:
    """The lines below their command, as SVG."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {shlex.join(command)}", style="bold"))
    for line in lines:
        console.print(Text.from_ansi(line), soft_wrap=False)
    svg = console.export_svg(title=" ", theme=MONOKAI)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "DejaVu Sans Mono")


def main() -> int:
    """Run, draw, and take the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--from", dest="first", help="words of the first line that is shown")
    parser.add_argument("--to", dest="last", help="words of the last line that is shown")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    said = parser.parse_args()
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"A picture needs a browser: one of {', '.join(BROWSERS)}.")
    svg = drawn(said.command, chosen(printed(said.command, said.columns).splitlines(), said.first, said.last), said.columns)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert box is not None
    width, height = (int(float(side)) for side in box.groups())
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "terminal.html"
        page.write_text(f"<!doctype html><meta charset='utf-8'><style>body{{margin:0}}</style>{svg}", encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")
        size = (f"--window-size={width},{height}", f"--user-data-dir={folder}/profile", f"--screenshot={said.picture.resolve()}")
        subprocess.run([browser, *options, *size, page.as_uri()], check=True, capture_output=True)  # noqa: S603
    print(f"{said.picture}: {width} x {height}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
