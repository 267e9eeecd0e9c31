"""What deleting a study does and does not do, in the same words at the command line, over REST and on the page, before and after."""

from __future__ import annotations

__all__ = ["GOES", "MARK", "STAYS"]

GOES = (
    "the study with its name, variables, settings and contract; its sites, invitations, consents and tokens",
    "its tests, result, report and events; what was received from whom; the log of what its owner did",
)
"""Gone from the server's database file and from its log when the deletion has returned."""
STAYS = (
    "at every site, where no server reaches: the ledger of what left it, the contract, the memory of what it took part in (which later "
    "studies are held against), and the result if it was downloaded",
    "wherever somebody put them: archives (study export), downloads, and backups of the server's database",
    "on the server: one line that a study with this id was deleted, by whom and when",
)
MARK = "deleted a study"
"""The action of that line, which has no detail."""
