"""What a contract would disclose of a site, before it is agreed to: the table that would take part, and the sentences on it.

The consent, the dry run, the app's pages and the document for the data protection officer all show these lines and no others, so that
nobody reads one thing and agrees to another.
"""

from __future__ import annotations

from dataclasses import dataclass

from consilience.disclosure.shield import Shielded
from consilience.disclosure.words import site_lines
from consilience.federation import Client
from consilience.federation.site.half import SiteHalf
from consilience.federation.site.ledger import printable
from consilience.service.contract import Contract
from consilience.settings.terms import Terms

__all__ = ["Disclosed", "disclosed"]


@dataclass(frozen=True, slots=True, eq=False)
class Disclosed:
    """A site's table as it takes part under a contract, and what it was shielded with."""

    shielded: Shielded
    terms: Terms
    min_cell: int

    @classmethod
    def of(cls, half: SiteHalf) -> Disclosed:
        """Of the table that answers."""
        return cls(half.shielded, half.terms, half.min_cell)

    def lines(self) -> list[str]:
        """What can be worked out about the site, what it leaves out for that and what it says to everybody; printable."""
        return [printable(line) for line in site_lines(self.shielded, self.terms, self.min_cell)]


def disclosed(client: Client, contract: Contract) -> Disclosed:
    """What a site would take part with under a contract, before it joins. The data must fit its schema."""
    terms = contract.terms
    return Disclosed(client.shielded(contract.schema, terms), terms, client.least_cell(terms))
