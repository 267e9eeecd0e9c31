"""The command line, and the only place that prints."""

from consilience.cli.entry import main

__all__ = ["main"]
