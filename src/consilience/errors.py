"""The causes that a user of consilience catches, one small tree.

::

    ConsilienceError             whatever this package raises on purpose
    ├── OptionError              an option has a value that does not exist
    ├── DataError                what one site holds cannot be used
    ├── SchemaError              what several sites hold does not fit together
    ├── QuestionError            a conditional-independence question that has no meaning
    ├── StudyError               the set of sites cannot be studied, or not any more
    ├── RefusalError             a site does not answer a request, to protect its data
    ├── SecureAggregationError   keys, masks or ring numbers that cannot be used
    ├── ProtocolError            what came over a connection is not in order
    ├── AccessError              who asks may not have it
    ├── ServiceError             the study server or the site agent cannot work
    ├── GraphError               a graph that cannot be used
    ├── KnowledgeError           background knowledge that cannot be read, contradicts itself or names strange variables
    └── MissingPackageError      an optional package is needed for this and is not installed

    DoubtfulDataWarning          a warning: a variable is used of which something looks wrong

Each room has an ``errors.py`` of its own with the details of these causes, beside the code that raises them: who wants to know that a file
could not be *read* catches ``consilience.data.errors.ReadError``, or names it ``consilience.errors.ReadError``, which is the same class.

A message gives the rule, the value that was received and the way out.

>>> from consilience import errors
>>> errors.ReadError.__module__, issubclass(errors.ReadError, errors.DataError)
('consilience.data.errors', True)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = [
    "AccessError",
    "ConsilienceError",
    "DataError",
    "DoubtfulDataWarning",
    "GraphError",
    "KnowledgeError",
    "MissingPackageError",
    "OptionError",
    "ProtocolError",
    "QuestionError",
    "RefusalError",
    "SchemaError",
    "SecureAggregationError",
    "ServiceError",
    "StudyError",
]

_ROOMS = ("data", "secagg", "disclosure", "citest", "protocol", "federation", "graph", "iod", "reproduction", "service")
"""Rooms with details. Only names are here: a room is imported when somebody asks for one of its errors."""


def __getattr__(name: str) -> Any:
    """Details by their short name, so that ``errors.ReadError`` works without knowing which room raises it."""
    if name.endswith("Error"):
        for room in _ROOMS:
            details = import_module(f"consilience.{room}.errors")
            if name in details.__all__:
                return getattr(details, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The causes, and the details of every room."""
    details = (import_module(f"consilience.{room}.errors").__all__ for room in _ROOMS)
    return sorted({*__all__, *(name for names in details for name in names if name.endswith("Error"))})


class ConsilienceError(Exception):
    """Root of every exception raised on purpose by this package.

    ``findings`` are what it is about, where it is about data: with them, the ways out can be said in the words of whoever asked.
    """

    findings: tuple[Any, ...] = ()


class DoubtfulDataWarning(UserWarning):
    """A variable that is used, and of which something looks wrong: a code for "missing" among its numbers, levels spelled in two ways.

    Parameters
    ----------
    words : str
        What looks wrong, and the way out.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", DoubtfulDataWarning)  # nothing doubtful shall be computed with
    """

    def __init__(self, words: str) -> None:
        super().__init__(words)


class OptionError(ConsilienceError, ValueError):
    """An option has a value that does not exist."""


class DataError(ConsilienceError, ValueError):
    """What one site holds cannot be used."""


class SchemaError(ConsilienceError, ValueError):
    """What several sites hold does not fit together."""


class StudyError(ConsilienceError, ValueError):
    """The set of sites cannot be studied."""


class RefusalError(ConsilienceError):
    """A site does not answer a request, to protect its data."""


class QuestionError(ConsilienceError, ValueError):
    """A conditional-independence question that has no meaning."""


class SecureAggregationError(ConsilienceError, ValueError):
    """Keys, masks or ring numbers that cannot be used."""


class ProtocolError(ConsilienceError):
    """What came over a connection is not in order."""


class AccessError(ConsilienceError):
    """Who asks may not have it."""


class ServiceError(ConsilienceError):
    """The study server or the site agent cannot work."""


class MissingPackageError(ConsilienceError, ImportError):
    """An optional package is needed for this and is not installed."""


class GraphError(ConsilienceError, ValueError):
    """A graph that cannot be used."""


class KnowledgeError(ConsilienceError, ValueError):
    """Background knowledge that cannot be read, contradicts itself or names strange variables."""
