"""The terms of a study under the name that the federation knows them by; they are made of its settings."""

from __future__ import annotations

from consilience.settings.choices import Dropout, Method
from consilience.settings.terms import Terms

__all__ = ["Dropout", "Method", "Terms"]
