"""One setting: what the declaration says of it, as an object that checks values and tells its range in words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from consilience.errors import OptionError
from consilience.options import check_flag, check_number, check_option, check_whole
from consilience.typed import from_plain

__all__ = ["About", "Part", "Setting", "read_struct"]


class Part(StrEnum):
    """Who needs a setting: the tests (``Server``), the search for graphs (``discover``), what is known before it, what it takes to say how
    sure its result is (which sites are asked for), what is estimated over its graphs, or the exchange over a network.
    """

    TESTS = "tests"
    GRAPHS = "graphs"
    KNOWLEDGE = "knowledge"
    STABILITY = "stability"
    EFFECTS = "effects"
    EXCHANGE = "exchange"


@dataclass(frozen=True, slots=True)
class About:
    """What a declaration says of a field besides its type and default. Bounds have the names that JSON's libraries give them.

    Why not ``msgspec.Meta``: its bounds would be checked when a contract is decoded, and a site could not say any more which rule a
    contract breaks; it could only say that some message was malformed.
    """

    doc: str
    part: Part
    ge: float | None = None
    le: float | None = None
    gt: float | None = None
    lt: float | None = None
    max_length: int | None = None

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds that are there, by name."""
        found = {name: getattr(self, name) for name in ("ge", "le", "gt", "lt", "max_length")}
        return {name: bound for name, bound in found.items() if bound is not None}


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of the declaration. ``type`` is the type of a value; ``optional`` says that None is a value, too."""

    name: str
    type: Any
    optional: bool
    default: Any
    about: About

    @property
    def choices(self) -> tuple[str, ...]:
        """The words it may be, if it is a choice; else none."""
        return tuple(member.value for member in self.type) if self.is_choice else ()

    @property
    def is_choice(self) -> bool:
        """True if it is one of a few words."""
        return isinstance(self.type, type) and issubclass(self.type, StrEnum)

    @property
    def plain_default(self) -> Any:
        """The default as JSON and TOML have it."""
        return msgspec.to_builtins(self.default)

    def check(self, value: Any) -> Any:
        """``value`` in the setting's own type; ``OptionError`` if it cannot be one."""
        if value is None and self.optional:
            return None
        if self.is_choice:
            return self.type(check_option(self.name, value, self.choices))
        if self.type is bool:
            return check_flag(self.name, value)
        if self.type is str:
            return self._text(value)
        if get_origin(self.type) is tuple:
            return self._texts(value)
        if self.about.gt is not None and self.about.lt is not None:
            return self._between(value, self.about.gt, self.about.lt)
        check = check_whole if self.type is int else check_number
        return self.type(check(self.name, value, least=self.type(self.about.ge or 0), most=self.about.le))

    def _between(self, value: Any, low: float, high: float) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and low < value < high:
            return float(value)
        raise OptionError(f"{self.name} must lie between {low:g} and {high:g}; got {value!r}.")

    def _text(self, value: Any) -> str:
        if isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= (self.about.max_length or len(value)):
            return value
        raise OptionError(f"{self.name} must be a text of up to {self.about.max_length} printable characters on one line; got {value!r}.")

    def _texts(self, value: Any) -> tuple[Any, ...]:
        """Texts, or lists of texts, as tuples."""
        try:
            found = from_plain(value, self.type)
        except msgspec.ValidationError:
            shape = "lists of texts" if get_origin(get_args(self.type)[0]) is tuple else "texts"
            raise OptionError(f"{self.name} must be a list of {shape}; got {value!r}.") from None
        most = self.about.max_length
        if most is not None and len(found) > most:
            raise OptionError(f"{self.name} may have {most} entries at most; got {len(found)}.")
        return tuple(found)

    def range_in_words(self) -> str:
        """What it may be, for tables.

        >>> from consilience.settings.declaration import SETTINGS
        >>> [SETTINGS[name].range_in_words() for name in ("alpha", "max_given", "engine", "selection_bias")]
        ['between 0 and 1', 'at least 0, or none', '`exact`, `iod`', '`true`, `false`']
        """
        about = self.about
        if self.is_choice:
            return ", ".join(f"`{word}`" for word in self.choices)
        if self.type is bool:
            return "`true`, `false`"
        if self.type is str:
            return f"a name of up to {about.max_length} characters{', or none' if self.optional else ''}"
        if get_origin(self.type) is tuple:
            return "" if about.max_length is None else f"up to {about.max_length} entries"
        if about.gt is not None and about.lt is not None:
            return f"between {about.gt:g} and {about.lt:g}"
        words = f"at least {_number(about.ge or 0)}" if about.le is None else f"{_number(about.ge or 0)} to {_number(about.le)}"
        return f"{words}, or none" if self.optional else words


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"


def read_struct(struct: type[msgspec.Struct]) -> dict[str, Setting]:
    """The settings that a struct declares, in its order."""
    hints = get_type_hints(struct, include_extras=True)
    return {field.name: _setting(field.name, hints[field.name], field.default) for field in msgspec.structs.fields(struct)}


def _setting(name: str, hint: Any, default: Any) -> Setting:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"A setting is declared as Annotated[type, About(...)]; {name} is not.")
    inner, about = get_args(hint)
    parts = get_args(inner) if get_origin(inner) in (Union, UnionType) else (inner,)
    kinds = [part for part in parts if part is not NoneType]
    return Setting(name, kinds[0], len(kinds) < len(parts), default, about)
