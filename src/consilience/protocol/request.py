"""What every request has to say of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

if TYPE_CHECKING:  # the desk and the guard serve requests, and import none
    from consilience.data.schema import Schema
    from consilience.glm.kernel import Floats
    from consilience.protocol.desk import Desk
    from consilience.protocol.guard import Guard

__all__ = ["MANY", "MOST_ASKED", "Announced", "Request", "VariableSet"]

VariableSet = tuple[str, ...]
"""Names of variables, sorted. The rows complete on them are a sample."""
MOST_ASKED = 1 << 20
"""Sets, models or questions in one request. All sets of four of 64 variables are 635,376; who names more wants a site's memory."""
MANY: Final = msgspec.Meta(max_length=MOST_ASKED)
"""On what a request has many of: the length stands before its parts, so that a longer one is refused before any of them is read."""


class Announced(msgspec.Struct, frozen=True, array_like=True):
    """What the survey said of a variable set: how many sites contribute, how many rows there are."""

    variables: tuple[str, ...]
    contributors: int
    rows: int


class Request(msgspec.Struct, frozen=True):
    """A question to every site, answered with one flat vector of floats that is summed over the sites.

    The length of the answer follows from the request and the study's schema alone: a site that cannot contribute sends zeros of that
    length, so that nobody sees who did. A subclass is a typed message (its fields travel under its tag) and implements the methods below;
    the first two and the last are for both sides, :meth:`check` and :meth:`answer` are the site's half, :meth:`read` is the server's.
    """

    # One flat vector, and not a structure: the masks are laid over numbers in a row, the ring adds rows of equal length, and a length that
    # follows from the question alone leaves nothing to read off the size of an answer.

    of_sites: ClassVar[bool] = False
    """True if the answer is not the same when rows of several sites are in one table: sites are compared with each other."""

    def length(self, schema: Schema) -> int:
        """How many numbers the answer has."""
        raise NotImplementedError

    def samples(self) -> tuple[VariableSet, ...]:
        """The variable sets over whose complete rows anything but counts is summed: each must have been counted and announced before."""
        raise NotImplementedError

    def check(self, guard: Guard) -> None:
        """Site: raise the refusal that this request deserves; return if there is none. Nothing has been computed yet."""
        raise NotImplementedError

    def answer(self, desk: Desk, site: int) -> Floats:
        """Site: its vector. ``site`` is its position among the sites of the run, needed where intercepts are joint."""
        raise NotImplementedError

    def read(self, total: Floats, schema: Schema) -> Any:
        """Server: what a sum of answers says, in a type of the request's own."""
        raise NotImplementedError

    def words(self) -> str:
        """What is asked for, in words, for the ledger of a site."""
        raise NotImplementedError
