"""What all sites of a study agree on before the first number leaves one of them."""

from __future__ import annotations

import msgspec

from consilience.glm.layout import Ordinal, SiteEffects
from consilience.settings.choices import Dropout, Method, SingleSite
from consilience.settings.disclosure import Disclosure

__all__ = ["Terms"]


class Terms(msgspec.Struct, frozen=True):
    """The settings of a study, the same for its server and for every site. Requests that differ from them are refused.

    ``max_given`` bounds conditioning sets (None: no bound). ``network`` says that answers travel: then none leaves unmasked, not even
    that of a study of one site.

    >>> Terms(min_rows=50).disclosure.refusal(4, 20)
    '20 rows are fewer than the 50 that the study asks for'
    """

    effects: SiteEffects = SiteEffects.PROFILED
    ordinal: Ordinal = Ordinal.PROPORTIONAL
    ridge: float = 0.0
    min_contributors: int = 2
    min_rows: int = 10
    single_site: SingleSite = SingleSite.LOCAL
    on_dropout: Dropout = Dropout.RESTART
    masking: bool = True
    method: Method = Method.FEDCI
    max_given: int | None = None
    network: bool = False

    @property
    def disclosure(self) -> Disclosure:
        """The limits on sums."""
        return Disclosure(self.min_contributors, self.min_rows, self.single_site)
