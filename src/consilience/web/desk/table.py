"""The site's table: as it was read, and as its owner's plan makes it. Nothing of it is written anywhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from consilience.data.finding import Asker, Finding, Grade
from consilience.data.harmonise import Applied, Change, Plan
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.derived import Derived
from consilience.data.judging import Standing
from consilience.data.profile import ColumnProfile, profile_column
from consilience.data.sources import Loaded
from consilience.frames import pl
from consilience.web.desk.origin import OWNER, Origin

__all__ = ["SiteTable"]


class SiteTable:
    """A table, where it is from, and the plan for it.

    The plan is one that can be carried out: a step that cannot be is an error when it is given, and the plan stays what it was.

    >>> table = SiteTable(Origin("a.csv"), Loaded(pl.DataFrame({"sex": ["male", "female"], "id": [1, 2]})))
    >>> table.decide(ColumnPlan(name="sex", recode=(("female", "F"), ("male", "M"))))
    >>> table.decide(ColumnPlan(name="id", drop=True))
    >>> table.repaired().to_dict(as_series=False)
    {'sex': ['M', 'F']}
    """

    def __init__(self, origin: Origin, loaded: Loaded, plan: Plan | None = None) -> None:
        self.origin, self.loaded = origin, loaded
        self.reviewed = False
        self._applied = (plan or Plan()).applied(loaded, OWNER)
        self._profiles: dict[str, tuple[ColumnPlan, ColumnProfile]] = {}
        self._derived: dict[str, tuple[Applied, ColumnProfile]] = {}

    @classmethod
    def of(cls, origin: Origin, plan: Plan | None = None) -> SiteTable:
        """Read a table, and look at all of its columns: what pages then ask is answered at once."""
        made = cls(origin.let_go(), origin.load(), plan)
        made.profiles()
        return made

    @property
    def name(self) -> str:
        """What it is called."""
        return self.origin.name

    @property
    def frame(self) -> pl.DataFrame:
        """The table as it was read."""
        return self.loaded.frame

    @property
    def plan(self) -> Plan:
        """What is done with it."""
        return self._applied.plan

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the plan changes, before and after."""
        return self._applied.changes

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What could not be read without guessing, and what the plan does that should be looked at; by the names after the plan."""
        return self._applied.loaded.findings

    # the plan

    def column_plan(self, name: str) -> ColumnPlan:
        """What is done with a column; a plan that does nothing, if there is none."""
        return next((column for column in self.plan.columns if column.name == name), ColumnPlan(name=name))

    def decide(self, column: ColumnPlan) -> None:
        """Do this with a column; HarmoniseError if it cannot be done, and then nothing has changed."""
        others = [one for one in self.plan.columns if one.name != column.name]
        kept = [*others, column] if column != ColumnPlan(name=column.name) else others
        self.follow(Plan(tuple(sorted(kept, key=lambda one: one.name)), self.plan.derived))

    def derive(self, derived: Iterable[Derived]) -> None:
        """Compute these variables from the others, in this order; as :meth:`decide`."""
        self.follow(Plan(self.plan.columns, tuple(derived)))

    def follow(self, plan: Plan) -> None:
        """Take a whole plan; as :meth:`decide`."""
        # through its plain form: what is checked in a file is checked here
        self._applied = Plan.read(_file(plan)).applied(self.loaded, OWNER)

    # what comes of it

    def profile(self, name: str) -> ColumnProfile:
        """What can be said of a column as it will be used, by its name in the file; also of one that is left out."""
        made = self.column_plan(name)
        kept = self._profiles.get(name)
        if kept is None or kept[0] != made:
            series = self._applied.loaded.frame[made.final] if not made.drop else self.frame[name].alias(made.final)
            kept = self._profiles[name] = (made, self._profiled(series, made))
        return kept[1]

    def derived_profile(self, derived: Derived) -> ColumnProfile:
        """What can be said of a derived variable."""
        kept = self._derived.get(derived.name)
        if kept is None or kept[0] is not self._applied:
            kept = self._derived[derived.name] = (self._applied, self._profiled(self.column(derived.name), derived))
        return kept[1]

    def _profiled(self, series: pl.Series, made: ColumnPlan | Derived) -> ColumnProfile:
        loaded = self._applied.loaded
        levels = made.levels or (loaded.levels.get(series.name) if not made.kind else None)
        found = profile_column(series, made.kind or None, levels or None)
        return self._with_reading(found, declared=bool(made.kind or levels))

    def _with_reading(self, found: ColumnProfile, *, declared: bool) -> ColumnProfile:
        """With what was noticed while the column was read; what could not be read without guessing is refused, unless it was declared."""
        read = [f for f in self.findings if found.name in f.columns]
        stops = [f for f in read if f.grade is Grade.REFUSED]
        if stops and not declared:
            return replace(found, trouble=" ".join(f.said(Asker.PAGE) for f in stops), signs=tuple(stops), standing=Standing.REFUSED)
        known = {f.words for f in found.signs}
        return replace(found, signs=(*found.signs, *(f for f in read if f.grade is not Grade.REFUSED and f.words not in known)))

    def profiles(self) -> list[ColumnProfile]:
        """All columns, in the file's order."""
        return [self.profile(name) for name in self.frame.columns]

    def used(self, withheld: Collection[str] = ()) -> list[str]:
        """Variables, by the names they have in a study. What cannot be a variable is left out, as is what was dropped."""
        columns = [(self.column_plan(name), self.profile(name)) for name in self.frame.columns]
        found = [made.final for made, profile in columns if not made.drop and profile.usable]
        found += [one.name for one in self.plan.derived if self.derived_profile(one).usable]
        return [name for name in found if name not in withheld]

    def column(self, called: str) -> pl.Series:
        """A column after the plan, by its name there."""
        return self._applied.loaded.frame[called]

    def repaired(self, withheld: Collection[str] = ()) -> pl.DataFrame:
        """The table that goes to a study: after the plan, without what stays out of it."""
        return self._applied.loaded.frame.select(self.used(withheld))

    def only(self, names: Collection[str]) -> Applied:
        """These variables after the plan, with the plan, and with what their source said of them."""
        loaded = self._applied.loaded
        kept = Loaded(
            loaded.frame.select(names),
            loaded.ordered & frozenset(names),
            {name: levels for name, levels in loaded.levels.items() if name in names},
            loaded.about,
            {name: words for name, words in loaded.emptied.items() if name in names},
            tuple(f for f in loaded.findings if not f.columns or set(f.columns) <= set(names)),
        )
        return replace(self._applied, loaded=kept)

    @property
    def after(self) -> list[str]:
        """The names of all columns after the plan."""
        return self._applied.loaded.frame.columns

    def noticed(self) -> list[Finding]:
        """Everything that was noticed about what is not left out, by the names after the plan."""
        kept = [self.profile(name) for name in self.frame.columns if not self.column_plan(name).drop]
        profiles = [*kept, *(self.derived_profile(one) for one in self.plan.derived)]
        about = [finding for finding in self.findings if not finding.columns]
        return [*about, *(finding for profile in profiles for finding in self._signs(profile))]

    def _signs(self, profile: ColumnProfile) -> tuple[Finding, ...]:
        if profile.trouble and not any(finding.grade.stops for finding in profile.signs):
            stop = Finding("unusable", Grade.REFUSED, profile.trouble, (profile.name,))
            return (stop, *profile.signs) if profile.standing is Standing.REFUSED else profile.signs
        return profile.signs

    @property
    def emptied(self) -> dict[str, dict[str, int]]:
        """By column of the file, the words that were read as missing, with their rows."""
        return {name: dict(words) for name, words in self.loaded.emptied.items()}


def _file(plan: Plan) -> dict[str, object]:
    derived = {one.name: {key: value for key, value in one.plain().items() if key != "name"} for one in plan.derived}
    return {"columns": {column.name: column.plain() for column in plan.columns}, "derived": derived}
