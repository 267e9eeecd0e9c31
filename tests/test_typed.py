"""Types are read through one place, which works out how one at a time: two threads that did it at once ended the process."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import consilience

SOURCE = Path(consilience.__file__).parent
READING = {"Decoder", "convert"}
"""What of msgspec works out how a type is read, and ``decode`` where a type is given."""
AT_ONCE = """
import sys, threading
import msgspec
from consilience.typed import from_json, from_msgpack, from_plain

sys.setswitchinterval(1e-6)
plain = {"last": {"a": [1, 2]}}
json, msgpack = msgspec.json.encode(plain), msgspec.msgpack.encode(plain)
ways = [lambda k: from_json(json, k), lambda k: from_msgpack(msgpack, k), lambda k: from_plain(plain, k)]
for n in range(100):
    parts = [msgspec.defstruct(f"Part{n}_{i}", [("a", "int | None", None)]) for i in range(20)]
    fields = [(f"part{i}", part | None, None) for i, part in enumerate(parts)]
    kind = msgspec.defstruct(f"Whole{n}", [*fields, ("last", dict[str, tuple[int, ...]] | None, None)])
    gate, found = threading.Barrier(3), []
    def read(way):
        gate.wait()
        found.append(way(kind).last)
    threads = [threading.Thread(target=read, args=(way,)) for way in ways]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert found == [{"a": (1, 2)}] * 3, found
"""


@pytest.mark.slow
def test_threads_that_read_a_type_for_the_first_time_at_once_all_read_it() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)


def asks_msgspec(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not ast.unparse(node.func).startswith("msgspec."):
        return False
    return node.func.attr in READING or (node.func.attr == "decode" and any(word.arg == "type" for word in node.keywords))


def test_nobody_else_asks_msgspec_for_a_type() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file.name != "typed.py"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and asks_msgspec(node)
    ]
    assert found == [], "consilience.typed reads types"
