"""The text that lets a site into a study, once.

It holds all that a site needs to find and to recognise the server: its address, its identity, its certificate if that is one of its own
making, the study, the name that the site will have, and a secret. It is handed over by the study's owner on a way that the two trust.
"""

from __future__ import annotations

import base64
import binascii
import re

import msgspec

from consilience.service.errors import InvitationError
from consilience.typed import from_msgpack

__all__ = ["SECRET_BYTES", "Invitation", "check_study_id", "read_invitation"]

SECRET_BYTES = 32
"""256 random bits, once: nobody guesses them within the invitation's life."""
_PREFIX = "consilience-invitation-1."  # says what it is to whoever finds it in a mail, and which version
_MOST_CHARACTERS = 16384  # a certificate of its own making takes about 1,000; a chain of an authority would still fit
_STUDY = re.compile(r"[0-9a-f]{16}")


class Invitation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """See the module's text. :meth:`text` is what is handed over.

    >>> invitation = Invitation("https://study.example", "00112233aabbccdd", "muenster", bytes(32), bytes(32))
    >>> read_invitation(invitation.text()) == invitation
    True
    >>> "secret" in repr(invitation)
    False
    """

    url: str
    study: str
    site: str
    secret: bytes
    server: bytes
    certificate: str = ""

    def text(self) -> str:
        """One line of text."""
        return _PREFIX + base64.urlsafe_b64encode(msgspec.msgpack.encode(self)).decode().rstrip("=")

    def __repr__(self) -> str:
        return f"Invitation({self.url!r}, {self.study!r}, {self.site!r})"


def read_invitation(text: str) -> Invitation:
    """An invitation from its text, spaces and line breaks ignored."""
    # mail programs break lines and add spaces; base64 has neither, so all of them can go
    text = "".join(text[:_MOST_CHARACTERS].split())
    try:
        if not text.startswith(_PREFIX):
            raise ValueError
        data = base64.b64decode(text[len(_PREFIX) :] + "==", altchars=b"-_", validate=False)
        found = from_msgpack(data, Invitation)
    except (ValueError, binascii.Error, msgspec.DecodeError, RecursionError):
        raise InvitationError(
            f"An invitation begins with {_PREFIX!r} and is copied as a whole; got {len(text)} characters that are not one. "
            f"Ask the study's owner for it."
        ) from None
    check_study_id(found.study)  # it becomes a folder's name at the site, and came from outside
    if len(found.secret) != SECRET_BYTES or len(found.server) != 32 or not found.url.startswith(("https://", "http://")):
        raise InvitationError("The invitation is damaged: its parts do not have the right lengths. Ask the study's owner for a new one.")
    return found


def check_study_id(study: str) -> str:
    """Return ``study`` if it can be a study's id, which also names a folder; :class:`InvitationError` else.

    >>> check_study_id("../../etc")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    consilience.service.errors.InvitationError: A study's id is 16 hexadecimal digits; got '../../etc'. Ask the study's owner ...
    """
    if not _STUDY.fullmatch(study):
        raise InvitationError(f"A study's id is 16 hexadecimal digits; got {study[:40]!r}. Ask the study's owner for a new invitation.")
    return study
