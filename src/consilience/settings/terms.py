"""What all sites of a study agree on before the first number leaves one of them."""

from __future__ import annotations

from typing import Any

import msgspec

from consilience.settings.choices import Alternatives, Cells, Dropout, Isolation, Method, Ordinal, SingleSite, SiteEffects
from consilience.settings.declaration import DEFAULTS, LOCAL, NetworkSettings, Settings
from consilience.settings.disclosure import Disclosure
from consilience.settings.effects import EVERY, read_effect

__all__ = ["Terms", "terms_of"]


class Terms(msgspec.Struct, frozen=True):
    """The settings of a study that requests are held against, the same for its server and for every site.

    ``max_given`` bounds conditioning sets (None: no bound). ``bootstrap`` and ``leave_one_out`` say how many resampled copies of a site's
    rows may be asked for over a network, and whether sums without one of the sites; in one program ``discover`` says so when it asks.
    ``network`` says that answers travel: then none leaves unmasked, not even that of a study of one site.
    ``estimates`` are pairs of a cause and an outcome whose effect may be estimated; in one program, where nobody else is asked for
    consent, every one may.

    >>> Terms(min_rows=50).disclosure.refusal(4, 20)
    '20 rows are fewer than the 50 that the study asks for'
    """

    effects: SiteEffects = DEFAULTS.site_effects
    ordinal: Ordinal = DEFAULTS.ordinal
    ridge: float = DEFAULTS.ridge
    min_contributors: int = DEFAULTS.min_contributors
    min_rows: int = DEFAULTS.min_rows
    single_site: SingleSite = DEFAULTS.single_site
    on_dropout: Dropout = DEFAULTS.on_dropout
    masking: bool = LOCAL.masking
    method: Method = DEFAULTS.method
    max_given: int | None = DEFAULTS.max_given
    network: bool = False
    site_slopes: bool = DEFAULTS.site_slopes
    alternatives: Alternatives = DEFAULTS.alternatives
    cluster: str | None = DEFAULTS.cluster
    small_sample: bool = DEFAULTS.small_sample
    diagnostics: bool = DEFAULTS.diagnostics
    isolation: Isolation = DEFAULTS.isolation
    min_cell: int = DEFAULTS.min_cell
    bootstrap: int = DEFAULTS.bootstrap
    leave_one_out: bool = DEFAULTS.leave_one_out
    estimates: tuple[tuple[str, str], ...] = ()
    cells: Cells = DEFAULTS.cells

    @property
    def estimated(self) -> bool:
        """True if some effect may be estimated."""
        return self.method is not Method.FISHER and (not self.network or bool(self.estimates))

    def estimates_of(self, x: str, y: str) -> bool:
        """True if the effect of x on y may be estimated.

        >>> terms = Terms(network=True, estimates=(("*", "Y"),))
        >>> terms.estimates_of("X", "Y"), terms.estimates_of("Y", "X"), Terms().estimates_of("Y", "X")
        (True, False, True)
        """
        return self.estimated and (not self.network or any(a in (x, EVERY) and b in (y, EVERY) for a, b in self.estimates))

    @property
    def shielded(self) -> bool:
        """True if sites shield their tables and state what they contribute, before anything is summed (:mod:`consilience.disclosure`).

        >>> Terms().shielded, Terms(min_cell=5).shielded, Terms(isolation=Isolation.STRICT).shielded
        (False, True, True)
        """
        return self.min_cell > 1 or self.isolation is Isolation.STRICT

    @property
    def diagnosed(self) -> bool:
        """True if sums on whether models hold are asked for."""
        return self.method is Method.AUTO or (self.method is Method.FEDCI and self.diagnostics)

    @property
    def disclosure(self) -> Disclosure:
        """The limits on sums."""
        return Disclosure(self.min_contributors, self.min_rows, self.single_site)


def terms_of(settings: Settings, *, masking: bool = LOCAL.masking) -> Terms:
    """The terms of a study with these settings: the one place where terms are made of settings.

    >>> terms_of(NetworkSettings(max_given=1)).max_given, terms_of(NetworkSettings()).network, terms_of(DEFAULTS).network
    (1, True, False)
    """
    told: dict[str, Any] = {"effects": settings.site_effects, "masking": masking, "network": isinstance(settings, NetworkSettings)}
    told["estimates"] = tuple(read_effect(text) for text in settings.effects)
    same: dict[str, Any] = {name: getattr(settings, name) for name in Terms.__struct_fields__ if name not in told}
    return Terms(**told, **same)
