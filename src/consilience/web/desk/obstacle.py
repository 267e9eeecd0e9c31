"""Why a site cannot go on in a study that its owner agreed to: the table, or the plan for it, is not the one that was agreed with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.web.desk.records import Consent

if TYPE_CHECKING:  # the desk asks
    from consilience.web.desk.sitedesk import SiteDesk

__all__ = ["MIXED", "obstacle"]

MIXED = (
    "The table is not the one that you have agreed with, and sums of that one have left this site. Beside them, sums of another would tell "
    "about the rows that differ. Choose the table as it was then, with the same repairs."
)
PLAN_CHANGED = (
    "The steps by which your table is harmonised are not those that you have agreed with. Take them again from the file that you "
    "downloaded, on the page Harmonise, or go through the steps from Fit on again."
)


def obstacle(desk: SiteDesk) -> str:
    """What stands against it, in words; empty if nothing does. Repairs are not kept on disk, so after a new start they are to be made
    again: a table without them would answer other than what was agreed to, or not at all.
    """
    if desk.table is None or desk.offer is None:
        return ""
    if not desk.fits():
        return "The table does not fit the study as it is. Repair it on the page Fit, as before."
    given = desk.consent if desk.study is not None and desk.study.contract is not None else None
    if given is None:
        return ""
    if sorted(given.variables) != sorted(desk.held):
        agreed, now = ", ".join(sorted(given.variables)), ", ".join(sorted(desk.held))
        return f"You have agreed to take part with {agreed}; the table now has {now}. Repair it on the page Fit, as before."
    return _another(desk, given)


def _another(desk: SiteDesk, given: Consent) -> str:
    """A plan counts even where the table before the study's units is the same: it says what these are made from."""
    table, plan = bool(given.table) and given.table != desk.mark(), given.plan != desk.plan.digest
    if not table and not plan:
        return ""
    if any(not line.refused for line in desk.ledger()):
        return MIXED
    return PLAN_CHANGED if plan else "The table is not the one that you have agreed with. Go through the steps from Fit on again."
