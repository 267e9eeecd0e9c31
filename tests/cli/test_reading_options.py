"""Options that choose columns and say how files are read, and the words in which findings are printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.test_cli import run  # type: ignore[attr-defined]
