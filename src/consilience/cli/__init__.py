"""The command line, and the only place that prints."""

from consilience.cli.app import main

__all__ = ["main"]
