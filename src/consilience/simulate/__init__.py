"""Synthetic sites, for demonstrations, tests and planning. Seeds give the same data on every machine."""

from consilience.simulate.mixed import mixed_sites

__all__ = ["mixed_sites"]
