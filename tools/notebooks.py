"""The notebooks of ``examples/notebooks``: executed from top to bottom, with what comes out stored in them.

    python tools/notebooks.py            # execute all of them, and store what comes out
    python tools/notebooks.py --check    # execute all of them, and say where something else comes out than what is stored

Whoever looks at a notebook on a forge sees its outputs, and the tests see that they are those of the code. Cells run in IPython's shell,
which is what Jupyter's kernel has inside: what an object shows is found by the same code. The kernel around it (sockets, messages) would
bring twice as many packages, and nothing that is shown depends on it. Every notebook has a process, an empty folder and an IPython folder
of its own, so that it finds nothing that another left and leaves nothing itself. A cell that raises, or that writes to stderr, as warnings
do, ends it.

What is stored has no time, no path and no version in it, its keys are sorted, and its cells keep their names, so that a notebook changes
only where its text, its code or its outputs do. Outputs are compared as they are; of drawings only the coordinates are not: how nodes are
placed depends on the last bits of sums.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
Notebook = dict[str, Any]
Output = dict[str, Any]


class NotebookError(Exception):
    """What is wrong with a notebook, in a sentence."""


def read(path: Path) -> Notebook:
    """A notebook as it is stored."""
    found: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return found


def written(notebook: Notebook) -> str:
    """A notebook as text: the form that Jupyter writes, with the keys sorted."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def source(cell: dict[str, Any]) -> str:
    """The text of a cell, which may be stored as lines."""
    return "".join(cell["source"])


def code_cells(notebook: Notebook) -> list[dict[str, Any]]:
    """The cells that are executed."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def executed(notebook: Notebook) -> Notebook:
    """The same notebook with what comes out of its cells, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = {"IPYTHONDIR": str(Path(folder) / "ipython"), "PYTHONWARNINGS": "default"}
        (empty := Path(folder) / "empty").mkdir()
        done = subprocess.run(  # noqa: S603  it runs itself
            [sys.executable, str(Path(__file__).resolve()), "--cells"],
            input=json.dumps([source(cell) for cell in code_cells(notebook)]),
            capture_output=True,
            encoding="utf-8",
            cwd=empty,
            env=os.environ | place,
            check=False,
        )
    if done.returncode:
        raise NotebookError(done.stderr.strip() or f"Its process ended with code {done.returncode}.")
    outputs = iter(json.loads(done.stdout))
    count = 0
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            shown = [out | ({"execution_count": count} if out["output_type"] == "execute_result" else {}) for out in next(outputs)]
            cells.append(cell | {"execution_count": count, "metadata": {}, "outputs": shown})
        else:
            cells.append(cell | {"metadata": {}})
    lines = [cell | {"source": source(cell).splitlines(keepends=True)} for cell in cells]
    return {"cells": lines, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def run_cells(sources: Iterable[str]) -> list[list[Output]]:
    """What comes out of each cell, in a shell of this process."""
    from IPython.core.displayhook import DisplayHook  # noqa: PLC0415  only the process that executes needs them
    from IPython.core.displaypub import DisplayPublisher  # noqa: PLC0415
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415
    from traitlets.config import Config  # noqa: PLC0415

    shown: list[Output] = []

    class Publisher(DisplayPublisher):
        def publish(self, data: dict[str, Any], metadata: dict[str, Any] | None = None, **_: Any) -> None:
            shown.append({"output_type": "display_data", "data": _stored(data), "metadata": metadata or {}})

    class Hook(DisplayHook):
        def write_output_prompt(self) -> None:
            pass

        def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
            shown.append({"output_type": "execute_result", "data": _stored(format_dict), "metadata": md_dict or {}})

        def finish_displayhook(self) -> None:
            self._is_active = False

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config, display_pub_class=Publisher, displayhook_class=Hook)
    found = []
    for number, text in enumerate(sources, start=1):
        shown.clear()
        with redirect_stdout(_Stream("stdout", shown.append)), redirect_stderr(_Stream("stderr", shown.append)):
            result = shell.run_cell(text, store_history=True)
        outputs = _merged(shown)
        said = "".join("".join(out["text"]) for out in outputs if out["output_type"] == "stream")
        if not result.success:
            raise NotebookError(f"Cell {number} raises {result.error_in_exec or result.error_before_exec!r}:\n{text}\n{said}")
        if any(out.get("name") == "stderr" for out in outputs):
            raise NotebookError(f"Cell {number} warns:\n{text}\n{said}")
        found.append(outputs)
    return found


class _Stream(io.TextIOBase):
    """What is written to a stream, as outputs of a cell."""

    def __init__(self, name: str, tell: Callable[[Output], None]) -> None:
        super().__init__()
        self._name, self._tell = name, tell

    def write(self, text: str) -> int:
        self._tell({"output_type": "stream", "name": self._name, "text": text})
        return len(text)


def _merged(outputs: Iterable[Output]) -> list[Output]:
    """Outputs with what was written to one stream in one piece, as lines."""
    found: list[Output] = []
    for out in outputs:
        if found and out["output_type"] == "stream" and found[-1].get("name") == out["name"]:
            found[-1] = found[-1] | {"text": found[-1]["text"] + out["text"]}
        else:
            found.append(out)
    return [out | {"text": out["text"].splitlines(keepends=True)} if out["output_type"] == "stream" else out for out in found]


def _stored(data: dict[str, Any]) -> dict[str, Any]:
    """Data by their type, text as lines; a drawing that is also in the HTML is stored once."""
    kept = {kind: content for kind, content in data.items() if not (kind == "image/svg+xml" and "text/html" in data)}
    return {kind: content.splitlines(keepends=True) if isinstance(content, str) else content for kind, content in kept.items()}


def differences(stored: Notebook, anew: Notebook) -> list[str]:
    """Where something else comes out than what is stored, a line for each cell."""
    found = []
    for old, new in zip(code_cells(stored), code_cells(anew), strict=True):
        before, after = _compared(old["outputs"]), _compared(new["outputs"])
        if before != after:
            found.append(f"cell {old['id']!r}: {_first_difference(before, after)}")
        elif old["execution_count"] != new["execution_count"]:
            found.append(f"cell {old['id']!r}: it is number {new['execution_count']}, and stored as {old['execution_count']}")
    return found


def _compared(outputs: Iterable[Output]) -> str:
    """Outputs as text to compare: all that is there but the numbers within the tags of drawings."""
    lines = []
    for out in outputs:
        lines.append(f"[{out['output_type']} {out.get('name', '')}]")
        parts = {"text": out["text"]} if out["output_type"] == "stream" else out["data"]
        for kind, content in sorted(parts.items()):
            text = content if isinstance(content, str) else "".join(content)
            lines.append(f"[{kind}]\n{re.sub(r'<svg.*?</svg>', _unplaced, text, flags=re.DOTALL)}")
    return "\n".join(lines)


def _unplaced(drawing: re.Match[str]) -> str:
    return re.sub(r"<[^>]*>", lambda tag: re.sub(r"-?\d+(\.\d+)?", "0", tag[0]), drawing[0])


def _first_difference(before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    place = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    was, comes = ((lines[place][:200] if place < len(lines) else "nothing more") for lines in (old, new))
    return f"stored is {was!r}, and there comes {comes!r}"


def main() -> int:
    """Execute notebooks; the code is 1 if something else came out than what is stored, or nothing did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="some notebooks; by default all of examples/notebooks")
    parser.add_argument("--check", action="store_true", help="store nothing")
    parser.add_argument("--cells", action="store_true", help=argparse.SUPPRESS)  # what the process of a notebook does
    asked = parser.parse_args()
    if asked.cells:
        try:
            outputs = run_cells(json.load(sys.stdin))
        except NotebookError as error:
            print(error, file=sys.stderr)
            return 1
        print(json.dumps(outputs))
        return 0
    wrong = 0
    for path in asked.files or sorted(FOLDER.glob("*.ipynb")):
        stored = read(path)
        try:
            anew = executed(stored)
        except NotebookError as error:
            print(f"{path.name}: {error}")
            wrong += 1
            continue
        told = differences(stored, anew)
        for line in told:
            print(f"{path.name}: {line}")
        if asked.check:
            wrong += bool(told)
        elif told or written(anew) != path.read_text(encoding="utf-8"):
            path.write_text(written(anew), encoding="utf-8")
            print(f"{path.name}: written")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
