"""How a study is done: every setting declared once, and what is derived from the declaration.

====================  =====================================================================================
module                what it holds
====================  =====================================================================================
``choices``           settings that are one of a few words
``declaration``       every setting: type, default, one line of documentation, range; what differs over a network
``field``             one setting, read from the declaration: its range in words, the check of a value
``effects``           effects that a study asks for, as texts
``checks``            settings from what a user gave, checked one by one and together
``disclosure``        which sums may be made
``terms``             the part of the settings that requests are held against at the sites
``studyfile``         a study as a TOML file, for ``consilience discover`` and for a study server
``page``              the settings as a page of the documentation
====================  =====================================================================================

``Server``, ``discover``, the command line, the REST interface and the contract take names, defaults, ranges and words from here.
"""

from consilience.settings.checks import check_settings, settings_of
from consilience.settings.choices import (
    Alternatives,
    Batching,
    Dropout,
    Engine,
    Isolation,
    Method,
    Ordinal,
    Resolve,
    SingleSite,
    SiteEffects,
    Variant,
)
from consilience.settings.declaration import (
    DEFAULTS,
    LOCAL,
    NETWORK_SETTINGS,
    SETTINGS,
    NetworkSettings,
    Part,
    ProgramOptions,
    Settings,
    names_of,
)
from consilience.settings.disclosure import OPEN, Disclosure
from consilience.settings.terms import Terms, terms_of

__all__ = [
    "DEFAULTS",
    "LOCAL",
    "NETWORK_SETTINGS",
    "OPEN",
    "SETTINGS",
    "Alternatives",
    "Batching",
    "Disclosure",
    "Dropout",
    "Engine",
    "Isolation",
    "Method",
    "NetworkSettings",
    "Ordinal",
    "Part",
    "ProgramOptions",
    "Resolve",
    "Settings",
    "SingleSite",
    "SiteEffects",
    "Terms",
    "Variant",
    "check_settings",
    "names_of",
    "settings_of",
    "terms_of",
]
