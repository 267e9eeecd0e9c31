"""What a site says of its variables in a study that has declared none: names, kinds and levels, in the open.

Levels are words from the site's table, and go to the server and to every site unmasked. So they are sent only after the owner has been
shown exactly these words and has said yes to exactly this question; and words that may tell who somebody is are refused before anybody is
asked: identifiers, names, dates, free text, columns of which nearly every row has its own value, levels of very few rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from consilience.data.facts import ColumnFacts
from consilience.data.finding import Asker, Finding, Grade, Remedy, Step
from consilience.data.schema import Declaration
from consilience.errors import RefusalError
from consilience.federation import Client
from consilience.federation.site.ledger import printable
from consilience.protocol.handshake import Declare, DeclaredVariable
from consilience.secagg.context import pack, sha256
from consilience.settings import NETWORK_SETTINGS
from consilience.wording import counted

__all__ = ["TELL_WARNING", "declared", "digest_of_words", "question", "untold"]

TELL_WARNING = (
    "These words are not masked: the server and the owners of all sites read them as they stand, and learn which site measures what. "
    "A study that declares its variables in advance needs none of it."
)
LEAST_ROWS = int(NETWORK_SETTINGS["min_cell"].default)
"""Rows of a level that is told, whatever a site's ``min_cell`` says: it may be more careful than a study over a network is, not less."""
FEW_LEVELS = 2
"""So many levels say who nobody is, however few rows there are: yes and no."""
SHARE_UNIQUE = 0.2
"""A column with more different values than this share of its rows is near to one value for each patient."""
LONGEST_LEVEL = 40
"""Characters: what is longer was written freely."""
_PERSONAL = re.compile(
    r"(^|[_\W])(id|mrn|ssn|name|names|surname|firstname|lastname|vorname|nachname|patient|patients|patienten|nom|prenom|nombre|apellido|"
    r"cognome|address|adresse|street|strasse|phone|telefon|email|mail|birth|geburt|dob|note|notes|comment|comments|kommentar|freitext)"
    r"($|[_\W])|(patient|pat)[_ ]?(id|nr|no|name)|geburtsdatum|birth_?date",
    re.IGNORECASE,
)
"""Names of columns that say who somebody is, or hold what somebody wrote."""


def declared(client: Client, asker: Asker = Asker.COMMAND) -> Declare:
    """What this site would say, and nothing else: no reasons, since these have counts in them. ``asker`` reads what must not be told.

    Raises
    ------
    RefusalError
        If something in it must not be told, all of it at once with the ways out.
    """
    stops = untold(client)
    if stops:
        found = " ".join(finding.said(asker) for finding in stops)
        raise RefusalError(f"Names and levels of this site's variables are not sent; nothing has left it. {found}")
    return Declare(tuple(_one(d) for d in client.declarations.values()))


def _one(d: Declaration) -> DeclaredVariable:
    reason = "declared by its owner" if d.declared_kind else "as its values look"
    return DeclaredVariable(d.variable.name, d.variable.kind.value, d.variable.levels, d.declared_kind, d.declared_levels, reason, d.only)


def question(reply: Declare, server: str) -> list[str]:
    """The words that the owner is shown: every name and every level that would be sent, and to whom.

    >>> question(Declare((DeclaredVariable("sex", "binary", ("f", "m"), False, False, "", ""),)), "https://study.example")[-1]
    "sex: binary, with the levels 'f', 'm'"
    """
    lines = [
        "The study has not declared its variables: its server asks which ones this site measures.",
        f"To {printable(server)}, and from there to all sites of the study, these words would be sent in the open:",
    ]
    return [*lines, *(printable(_line(d)) for d in reply.variables)]


def digest_of_words(lines: Iterable[str]) -> str:
    """Stands for words that were shown: whoever says yes to it has said yes to these, and to no others.

    >>> digest_of_words(["sex: binary"]) == digest_of_words(["sex: binary", "ward: binary"])
    False
    """
    return sha256(pack(b"consilience/told/1", *(line.encode("utf-8", "surrogatepass") for line in lines))).hex()


def _line(d: DeclaredVariable) -> str:
    levels = ", ".join(repr(level) for level in dict.fromkeys((*d.levels, *((d.only,) if d.only else ()))))
    return f"{d.name}: {d.kind}" + (f", with the levels {levels}" if levels else "")


def untold(client: Client) -> list[Finding]:
    """What must not be told of a site's variables, refused with the ways out; empty if there is nothing of the kind."""
    found = (_refusal(d, client.facts[name], client.min_cell) for name, d in client.declarations.items())
    return [finding for finding in found if finding is not None]


def _refusal(d: Declaration, facts: ColumnFacts, min_cell: int) -> Finding | None:
    name, levels = d.variable.name, d.variable.levels
    if not levels:  # numbers are not told; their name is, and it is the column's own
        return None
    why = _personal(name, levels, facts)
    if why:
        return Finding("personal", Grade.REFUSED, f"{name!r} {why}.", (name,), (), (Remedy(Step.DROP, name),))
    least = max(min_cell, LEAST_ROWS)
    # also those that were declared: a type in a file declares what some program found in the data
    rare = [level for level in levels if 0 < facts.counts.get(level, 0) < least]
    if not rare:
        return None
    words = f"{name!r} has {counted(len(rare), 'level')} with fewer than {least} rows here: such a level may tell who somebody is."
    remedies = (Remedy(Step.RECODE, name, "…"), Remedy(Step.DROP, name))
    return Finding("rare-told", Grade.REFUSED, words, (name,), (), remedies)


def _personal(name: str, levels: Iterable[str], facts: ColumnFacts) -> str:
    """Why the levels may say who somebody is, in words; empty if they do not."""
    text = facts.text
    # also numbers: a number of a patient's is as good as the name
    if (text is not None or facts.distinct > FEW_LEVELS) and _PERSONAL.search(name):
        return "has a name that identifiers, names of people and notes have"
    if text is not None and text.dates:
        return "has dates among its levels"
    if facts.distinct > max(FEW_LEVELS, SHARE_UNIQUE * facts.present):
        return "has a value of its own in nearly every row"
    if any(len(level) > LONGEST_LEVEL for level in levels):
        return f"has levels longer than {LONGEST_LEVEL} characters, as notes are"
    return ""
