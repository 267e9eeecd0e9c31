"""Settings from what a user gave: every value checked against the declaration, then all of them together."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, TypeVar

from consilience.errors import OptionError
from consilience.settings.choices import Cells, Dropout, Engine, Isolation, Method, Ordinal, Resolve, SingleSite, SiteEffects
from consilience.settings.declaration import NETWORK_SETTINGS, SETTINGS, NetworkSettings, Settings
from consilience.settings.effects import read_effect

__all__ = ["check_settings", "settings_of"]

S = TypeVar("S", bound=Settings)


def settings_of(**given: Any) -> Settings:
    """Checked settings; what is not given has its default. Words become choices.

    >>> settings_of(method="fisher", alpha=0.01).method
    <Method.FISHER: 'fisher'>
    >>> settings_of(min_row=5)
    Traceback (most recent call last):
    consilience.errors.OptionError: There is no setting 'min_row'; did you mean min_rows?
    """
    return check_settings(Settings(**{_known(name): SETTINGS[name].check(value) for name, value in given.items()}))


def _known(name: str) -> str:
    if name in SETTINGS:
        return name
    near = get_close_matches(name, SETTINGS, n=1)
    raise OptionError(f"There is no setting {name!r}; " + (f"did you mean {near[0]}?" if near else f"settings are {', '.join(SETTINGS)}."))


def check_settings(settings: S) -> S:
    """Return ``settings`` if each is in its range and all go together; ``OptionError`` else. Those of a network have a network's ranges.

    >>> check_settings(NetworkSettings(alpha=0.01)).alpha
    0.01
    >>> check_settings(NetworkSettings(site_effects=SiteEffects.JOINT))
    Traceback (most recent call last):
    consilience.errors.OptionError: site_effects='joint' discloses numbers of single sites; say allow_joint=true if that is meant.
    """
    network = isinstance(settings, NetworkSettings)
    for name, setting in (NETWORK_SETTINGS if network else SETTINGS).items():
        setting.check(getattr(settings, name))
    if network and settings.site_effects is SiteEffects.JOINT and not settings.allow_joint:
        raise OptionError("site_effects='joint' discloses numbers of single sites; say allow_joint=true if that is meant.")
    _check_strict(settings)
    _check_cells(settings)
    if settings.site_effects is SiteEffects.RANDOM and settings.ordinal is Ordinal.GENERALIZED:
        raise OptionError(
            "Random site effects shift the thresholds of an ordinal response together, which needs common slopes: site_effects='random' "
            "goes with ordinal='proportional'; for ordinal='generalized' take site_effects='profiled'."
        )
    if settings.engine is Engine.IOD and settings.resolve not in (Resolve.AUTO, Resolve.STRICT):
        raise OptionError(f"The published algorithm has no way out of contradictions: resolve='{settings.resolve}' needs engine='exact'.")
    if settings.engine is Engine.IOD and settings.selection_bias:
        raise OptionError("The published algorithm knows no selection bias: selection_bias=True needs engine='exact'.")
    if settings.cluster is not None and settings.method is not Method.RESIDUAL:
        raise OptionError(
            f"Rows of one cluster are not independent, and method='{settings.method}' takes them to be: cluster='{settings.cluster}' needs "
            f"method='residual'."
        )
    for text in (*(name for tier in settings.tiers for name in tier), *settings.required, *settings.forbidden):
        if not text.isprintable():
            raise OptionError(f"What is known is said in printable text on one line; got {text[:40]!r}.")
    _check_effects(settings)
    return settings


def _check_effects(settings: Settings) -> None:
    """Effects that can be read, and a method whose sites tell more than p-values."""
    for text in settings.effects:
        if not text.isprintable():
            raise OptionError(f"An effect is asked for in printable text on one line; got {text[:40]!r}.")
        read_effect(text)
    if settings.effects and settings.method is Method.FISHER:
        raise OptionError(
            "Effects are estimated from sums over sites, and with method='fisher' sites tell p-values only: take method='fedci', "
            "'residual' or 'auto', or ask for no effects."
        )


def _check_cells(settings: Settings) -> None:
    """A rule on cells needs a number of rows, and rows that are not drawn anew: copies would tell of rows within cells."""
    if settings.cells is not Cells.REFUSE:
        return
    if settings.min_cell == 1:
        raise OptionError("With cells='refuse' no cell has fewer than min_cell rows, and min_cell=1 is no rule: say min_cell=5, or more.")
    if settings.bootstrap:
        raise OptionError(
            f"With cells='refuse' no site draws its rows anew, since copies would tell of rows within a cell, and all copies would be the "
            f"same: bootstrap={settings.bootstrap} needs cells='told'."
        )


def _check_strict(settings: Settings) -> None:
    """With strict nothing is about one site alone: neither an answer, nor what a restart leaves out, nor an intercept."""
    if settings.isolation is not Isolation.STRICT:
        return
    against = (
        (settings.single_site is not SingleSite.REFUSE, "single_site='local'", "is one site's answer", "single_site='refuse'"),
        (settings.on_dropout is not Dropout.STOP, "on_dropout='restart'", "reveals the part of the site that is gone", "on_dropout='stop'"),
        (settings.leave_one_out, "leave_one_out=True", "tells the part of each site", "leave_one_out=False"),
        (settings.site_effects is SiteEffects.JOINT, "site_effects='joint'", "has a number for each site", "site_effects='profiled'"),
    )
    for clashes, setting, does, way_out in against:
        if clashes:
            raise OptionError(
                f"With isolation='strict' nothing can be worked out about one site alone, and {setting} {does}: take {way_out}, or "
                f"isolation='aggregate'."
            )
