"""Two million rows of ten mixed variables in a process of their own: the memory that a site says, and not more.

``benchmarks/out_of_core.py`` does a hundred million, and all tests.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
MOST = 300 << 20
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is asked of Linux")


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("out_of_core", ROOT / "benchmarks" / "out_of_core.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")  # as whoever runs it has it
        spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_memory_is_kept(benchmark: ModuleType, tmp_path: Path) -> None:
    benchmark.make(tmp_path, 2_000_000)
    found = benchmark.apart(tmp_path, "300 MiB", 4, 2)
    assert found["streamed"]
    assert (found["rows"], found["tests"]) == (2_000_000, 4)
    assert 0 < found["peak"] < MOST
