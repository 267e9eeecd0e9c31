"""The rules that a site holds requests against. It does not trust the server to keep the study's.

Every rule is a method with a name; a request calls those it is subject to (:meth:`Request.check`). A rule that fails is a refusal with a
name of its own (see :mod:`consilience.protocol.errors`) and a line in the ledger; nothing has been computed then, and nothing has left.

The order of checks is part of the design. A message is first looked at whole: its turn, run, roster, round and version. Then the
counts it announces, since limits rest on them; that is the one check that looks at the site's own rows, and a failure closes the study for
this site: asked often enough, refusals would tell the counts. Then the request's own rules, those that need least first: names, kinds and
sizes, the agreed method and models, limits on sums. Last comes what is remembered for good, units and locations and points: a request that
is refused for another reason leaves no trace there, or a server could fix a site's units with a request that was never answered.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

import numpy as np

from consilience.citest.question import Question
from consilience.data.responses import Coded
from consilience.data.spline import LADDER
from consilience.data.table import Table
from consilience.disclosure.census import Census
from consilience.glm.layout import Ordinal
from consilience.protocol.errors import (
    DisclosureError,
    FalseCountsError,
    OutsideSchemaError,
    RepeatedQuestionError,
    WrongShapeError,
    WrongTermsError,
)
from consilience.protocol.history import Counted, Cut, History, Places, Points, Settled, Units
from consilience.protocol.replicates import Copies, Replicate
from consilience.protocol.request import VariableSet
from consilience.protocol.version import VERSION
from consilience.settings.choices import Alternatives, Isolation, Method
from consilience.settings.terms import Terms

__all__ = ["MOST_CELLS", "Guard"]

MOST_EXPONENT = 1100
"""Exponents of two between which units lie: doubles end at 2¹⁰²⁴ and 2⁻¹⁰⁷⁴, and a little more does no harm."""


MOST_CELLS = 96
"""Cells between which the rows of one variable are counted, however many rows a server says there are: no site can count the others'."""
MOST_POINTS = 3
"""Points at which the products of residuals of one test are answered by the same sites."""


class Guard:
    """One site's rules in one study, and what they need to know.

    ``members`` are the sites of the run under way, ``census`` what they state of themselves (None where a study has no such rules),
    ``table`` what this site answers from, ``passed`` the designs that were checked before and need not be again.
    """

    def __init__(self, table: Table, terms: Terms, history: History) -> None:
        self.table, self.terms, self.history = table, terms, history
        self.members: frozenset[bytes] = frozenset()
        self.census: Census | None = None
        self.passed: set[tuple[object, ...]] = set()
        self._announced: dict[VariableSet, tuple[int, int]] = {}
        self._announced_of: dict[frozenset[bytes], tuple[int, int]] = {}
        self._copies: Copies | None = None
        self._of: dict[Replicate, Guard] = {}

    def new_run(self, members: frozenset[bytes], table: Table, census: Census | None, copies: Copies | None = None) -> None:
        """Forget what was announced for other sites; remember what was answered. With the same sites counts stay what they were, also when
        this site's process has started again: in one run after the other a server could else announce fewer and fewer rows, until a
        refusal tells how many there are.
        """
        changed = members != self.members
        self.members, self.table, self.census, self._copies = members, table, census, copies
        if changed:
            self._announced = dict(self.history.counted.get(members, {}))
            self._announced_of = {}
            for variables, counts in self._announced.items():
                self._agrees(variables, counts)
        for replicate, guard in self._of.items():
            self._enters(guard, replicate)

    def of(self, replicate: Replicate) -> Guard:
        """The rules for one replicate: the same, with what was announced and answered in this one.

        Its table is the copy, until :meth:`rest` lets go of it: how many copies stay in memory is not for rules to say.
        """
        found = self._of.get(replicate)
        if found is None:
            found = self._of[replicate] = Guard(self.table, self.terms, self.history.of(replicate.draw, replicate.without))
            self._enters(found, replicate)
        if self._copies is not None:
            found.table = self._copies.desk(replicate).table
        return found

    def rest(self) -> None:
        """Let go of the copies that replicates were held against."""
        for guard in self._of.values():
            guard.table = self.table

    def _enters(self, guard: Guard, replicate: Replicate) -> None:
        # who is left out contributes to nothing
        census = self.census if self.census is None or not replicate.without else self.census.without(replicate.without)
        guard.new_run(self.members, self.table, census)

    def replicates(self, asked: Sequence[Replicate]) -> None:
        """Replicates as agreed, each once in a request."""
        again = len(asked) - len(set(asked))
        if again:
            raise OutsideSchemaError(f"A replicate may stand once in a request; of {len(asked)}, {again} stand there again.")
        for replicate in asked:
            self._leaves_out(replicate) if replicate.without else self._resamples(replicate)
        if self._copies is not None:
            self._copies.expect(len(asked))

    def _leaves_out(self, replicate: Replicate) -> None:
        """A sum without a site tells, with the sum over all, what that site's part is: only where sites have agreed to it."""
        if self.terms.isolation is not Isolation.AGGREGATE:
            raise DisclosureError('Sums without one of the sites would tell its part of sums, which isolation="strict" rules out.')
        if self.terms.network and not self.terms.leave_one_out:
            raise WrongTermsError("The study has not agreed to leave out a site (leave_one_out); got a request without one.")
        if replicate.without not in self.members or replicate.draw:
            raise OutsideSchemaError("A replicate leaves out one of the sites of the run, and takes the others' rows as they are.")

    def _resamples(self, replicate: Replicate) -> None:
        if replicate.draw < 1:
            raise OutsideSchemaError(f"Copies of a site's rows are numbered from 1; got {replicate.draw}.")
        if self.terms.network and replicate.draw > self.terms.bootstrap:
            raise WrongTermsError(
                f"The study has agreed to {self.terms.bootstrap} resampled copies of a site's rows (bootstrap); got a request for copy "
                f"{replicate.draw}."
            )

    def is_current(self, version: int) -> None:
        """Messages of this version of the protocol only."""
        if version != VERSION:
            raise WrongTermsError(f"Messages must be of version {VERSION}; got {version}. Update the older side.")

    def hears(self, variables: VariableSet, contributors: int, rows: int) -> None:
        """Take an announced sum of the survey, unless it cannot be true.

        By what the sites state, where they do, it is known who may contribute and who does for certain, and each of them has ``min_rows``
        rows or none: a server that says three where it is one is found out. Sets that the same whole sites contribute to have the same
        counts, and a set has one name: what is false by that alone, another announcement shows, and not this site's rows.
        """
        self.knows(variables)
        if list(variables) != sorted(variables):
            raise OutsideSchemaError(f"The variables of a set must be sorted; got {', '.join(variables)}.")
        self._agrees(variables, (contributors, rows))
        own = self.table.complete(variables).n if self.table.holds(variables) else 0
        others = contributors - (own > 0)
        fewest, most, each = 0, len(self.members) - 1, 1
        if self.census is not None:
            able = self.census.contributors(variables)
            certain = sum(self.census.statements[site].whole for site in able)
            fewest, most, each = certain - (own > 0), len(able) - (own > 0), self.terms.min_rows
        if not fewest <= others <= most or rows < own + others * each:
            # neither what this site has is said nor which counts are false: the message goes back to the server
            raise FalseCountsError(
                f"Counts were announced that cannot be, by what this site has and the {len(self.members)} sites of the roster. Ask the "
                f"study's server."
            )
        self._announced[variables] = contributors, rows

    def keeps_counts(self) -> None:
        """What was announced is on disk before anything rests on it. Only where rows stay what they were: see :class:`Counted`."""
        if self.census is None:
            return
        known = self.history.counted.get(self.members, {})
        new = {variables: counts for variables, counts in self._announced.items() if variables not in known}
        if new:
            self.history.take(Counted(tuple(new), tuple(new.values()), tuple(sorted(self.members))))

    def _agrees(self, variables: VariableSet, counts: tuple[int, int]) -> None:
        """The same counts as before, and as for other sets with the same contributors, where these are known and have no gaps."""
        same = [self._announced.get(variables, counts)]
        if self.census is not None:
            able = self.census.contributors(variables)
            if all(self.census.statements[site].whole for site in able):
                same.append(self._announced_of.setdefault(able, counts))
        if any(before != counts for before in same):
            raise FalseCountsError(f"Other counts were announced for {', '.join(variables)}, or for the same rows, before.")

    def knows(self, names: Iterable[str]) -> None:
        """Variables of the study, each once."""
        names = tuple(names)
        strange = [name for name in names if name not in self.table.schema]
        if strange:
            raise OutsideSchemaError(f"The study's variables are {', '.join(self.table.schema)}; got {strange[0]!r}.")
        if len(set(names)) < len(names):
            raise OutsideSchemaError(f"A variable may stand once in a set; got {', '.join(names)}.")

    def each_once(self, asked: Sequence[VariableSet]) -> None:
        """Nothing is asked twice in one request: a few names, said a million times, would fill a site's memory with the same answer."""
        again = len(asked) - len(set(asked))
        if again:
            raise OutsideSchemaError(f"A variable set may stand once in a request; of {len(asked)}, {again} stand there again.")

    def knows_numbers(self, names: Iterable[str]) -> None:
        """Continuous variables and counts of the study, each once."""
        names = tuple(names)
        self.knows(names)
        for name in names:
            if self.table.schema[name].kind.is_discrete:
                raise OutsideSchemaError(f"{name!r} is {self.table.schema[name].kind.value} in this study, not continuous and no count.")

    def knows_questions(self, questions: Iterable[Question]) -> None:
        """Questions over variables of the study."""
        for question in questions:
            self.knows((question.x, question.y, *question.given))

    def fits_like(self, ordinal: Ordinal, ridge: float | None = None, *, small_sample: bool | None = None) -> None:
        """Models as agreed: how ordinal responses are modelled, and, where the site itself fits, the ridge and the laws."""
        if ordinal is not self.terms.ordinal:
            raise WrongTermsError(f"The study models ordinal responses as {self.terms.ordinal}; got {ordinal}.")
        if ridge is not None and ridge != self.terms.ridge:
            raise WrongTermsError(f"The study's ridge is {self.terms.ridge}; got {ridge}.")
        if small_sample is not None and small_sample != self.terms.small_sample:
            raise WrongTermsError(f"The study's small_sample is {self.terms.small_sample}; got {small_sample}.")

    def not_too_large(self, sets: Iterable[VariableSet]) -> None:
        """No test given more variables than agreed: two are tested, the others are the conditioning set."""
        if self.terms.max_given is None:
            return
        largest = max(sets, key=len, default=())
        if len(largest) > self.terms.max_given + 2:
            raise WrongTermsError(
                f"The study's conditioning sets have at most {self.terms.max_given} variables, so that a request is over at most "
                f"{self.terms.max_given + 2}; got {len(largest)}."
            )

    def is_method(self, method: Method) -> None:
        """Only what the study's method needs: p-values with Fisher's, sums of models with the others; and those that effects need."""
        both = self.terms.method is Method.AUTO and method in (Method.FEDCI, Method.RESIDUAL)
        # effects are adjusted by regression whatever the tests are
        both = both or (self.terms.method is Method.RESIDUAL and method is Method.FEDCI and self.terms.estimated)
        if method is not self.terms.method and not both:
            raise WrongTermsError(f"The study's method is {self.terms.method}; got a request of another.")

    def moves_columns(self, *, moved: bool) -> None:
        """No common locations but where agreed, and then always."""
        common = self.terms.effects.common
        if moved != common:
            raise WrongTermsError(
                f"With site effects {self.terms.effects} columns are {'' if common else 'not '}moved by common locations."
            )

    def keeps_units(self, exponents: dict[str, int]) -> None:
        """Units are those of the first request: another unit would be another guise of the same question."""
        for name, exponent in exponents.items():
            self.knows_numbers((name,))
            if abs(exponent) > MOST_EXPONENT:
                raise WrongShapeError(f"A unit's exponent must lie within ±{MOST_EXPONENT}; got {exponent} for {name!r}.")
        if self.history.exponents is None:
            self.history.take(Units(exponents))
        if exponents != self.history.exponents:
            raise WrongTermsError("Units must stay what they were in the study's first request for sums.")

    def keeps_locations(self, locations: dict[str, float] | None) -> None:
        """Locations are those of the first request, for the same reason."""
        for name, location in (locations or {}).items():
            self.knows_numbers((name,))
            if not math.isfinite(location):
                raise WrongShapeError(f"A location must be a finite number; got {location} for {name!r}.")
        if not self.history.located:
            self.history.take(Places(locations))
        if locations != self.history.locations:
            raise WrongTermsError("Locations must stay what they were in the study's first request for cross-products.")

    def not_too_fine(self, name: str, edges: bytes, most: int | None) -> None:
        """Ascending bounds between cells: ``most`` cells, or so many that each holds at least ``min_rows`` rows on average, and never more
        than :data:`MOST_CELLS`.
        """
        values = np.frombuffer(edges, dtype="<f8") if len(edges) % 8 == 0 else np.empty(0)
        if not len(values) or not np.isfinite(values).all() or (np.diff(values) <= 0).any():
            raise WrongShapeError(f"Cells of {name!r} need finite bounds in ascending order.")
        if most is None:
            most = min(MOST_CELLS, self._announced[name,][1] // self.terms.min_rows)
        if len(values) + 1 > most:
            raise DisclosureError(f"{len(values) + 1} cells of {name!r} are too fine for its rows; {most} may be asked for.")

    def keeps_cells(self, name: str, edges: bytes, *, centred: bool, fine: bool) -> None:
        """Rows are counted between the same values only, once they have been."""
        self._keeps_cut(f"{'fine' if fine else 'coarse'} cells{' about centres' if centred else ''} of {name}", edges)

    def reads_coding(self, coded: Coded) -> None:
        """Knots and scores of variables of the study, as many as there must be. Before anything is made of them."""
        for name, knots in coded.knots.items():
            self.knows_numbers((name,))
            ladder = np.array(knots.ladder)
            if len(ladder) != LADDER + 1 or not np.isfinite(ladder).all() or (np.diff(ladder) < 0).any():
                raise WrongShapeError(f"Knots of {name!r} must be {LADDER + 1} finite numbers in ascending order.")
        for name, scores in coded.scores.items():
            self.knows((name,))
            if len(scores) != len(self.table.schema[name].levels) or not all(0.0 <= score <= 1.0 for score in scores):
                raise WrongShapeError(f"Scores of {name!r} must be a number from 0 to 1 for each of its levels.")

    def keeps_coding(self, coded: Coded) -> None:
        """Units, knots and scores are those of the first request: other ones would be other questions, as many as one likes."""
        for name, knots in coded.knots.items():
            self._keeps_cut(f"knots of {name}", np.array(knots.ladder).tobytes() + bytes([knots.centred]))
        for name, scores in coded.scores.items():
            self._keeps_cut(f"scores of {name}", np.array(scores).tobytes())
        self.keeps_units(coded.exponents)

    def _keeps_cut(self, what: str, values: bytes) -> None:
        digest = sha256(values).digest()[:16]
        known = self.history.cuts.get(what)
        if known is None:
            self.history.take(Cut(what, digest))
        elif known != digest:
            raise WrongTermsError(f"The {what} must stay what they were in the study's first request for them.")

    def expands_like(self, *, slopes: bool, features: bool) -> None:
        """Smooth means as agreed: slopes of sites, and what is looked for."""
        if slopes is not self.terms.site_slopes:
            raise WrongTermsError(f"The study has agreed on site_slopes={self.terms.site_slopes}; got {slopes}.")
        if features is not (self.terms.alternatives is Alternatives.SMOOTH):
            raise WrongTermsError(f"The study's alternatives are {self.terms.alternatives}; got a request for others.")

    def clusters(self, *, clustered: bool) -> None:
        """Products are summed by cluster where agreed, and only there."""
        if clustered is not (self.terms.cluster is not None):
            raise WrongTermsError(f"The study's cluster is {self.terms.cluster}; got a request {'with' if clustered else 'without'} one.")

    def samples_test(self, sample: VariableSet, used: set[str]) -> None:
        """The sample of a model is complete on its variables and, at most, on the one that a test leaves out of it.

        At a site without gaps all samples are the same rows. With any sample a model would have its points as often as there are sets.
        """
        if not set(sample) >= used:
            raise OutsideSchemaError(f"A model's sample must be complete on its variables; got {', '.join(sample)}.")
        if len(set(sample) - used) > 1:
            raise OutsideSchemaError(f"A model's sample has at most one variable more than the model; got {', '.join(sample)}.")

    def leaves_rows(self, variables: VariableSet, columns: int, per_column: int) -> None:
        """No cross-products of more columns than the rows can hide."""
        rows = self._announced[variables][1]
        if columns * per_column > rows:
            raise DisclosureError(
                f"{columns} columns are too many for the {rows} rows of {', '.join(variables)}: at most one for {per_column}."
            )

    def steps(self, points: Sequence[tuple[bytes, bytes, Callable[[], str]]], most: int) -> None:
        """Models (as digests, and in words) at points (as digests): none again with fewer sites, and ``most`` points with the same sites.

        A fit takes a few steps. Log-likelihoods and scores at points of a server's choice, as often as it likes, are equations in the rows,
        and one day there would be more of them than rows. Remembered before anything is computed: a site that dies between the two has
        forgotten nothing.
        """
        history, members, new = self.history, self.members, dict[bytes, bytes]()
        for model, point, words in points:
            before = history.answered.get(point)
            if before is None:
                new[point] = model
            elif members < before:
                raise RepeatedQuestionError(
                    f"The model {words()} was answered at this point with {len(before)} sites; asked for again with "
                    f"{len(members)}, the difference would be the missing site's numbers. Begin at another point."
                )
        asked = Counter(new.values())
        for model, _, words in points:
            if asked[model] and history.steps[model, members] + asked[model] > most:
                raise RepeatedQuestionError(
                    f"The model {words()} is answered at {most} points at most with the same sites; got more. No fit takes as many steps."
                )
        if new:
            history.take(Points(tuple(new), tuple(sorted(members)), tuple(new.values())))

    def may_diagnose(self) -> None:
        """Sums on whether models hold only where agreed; ``auto`` cannot choose without them."""
        if not self.terms.diagnosed:
            raise WrongTermsError("The study has not agreed to diagnostics; got a request for them.")

    def may_estimate(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Sums on what x does to y only where agreed."""
        for x, y in pairs:
            if not self.terms.estimates_of(x, y):
                raise WrongTermsError(f"The study has not agreed to an effect of {x!r} on {y!r}; got a request for it.")

    def diagnoses(self, models: Sequence[tuple[bytes, bytes]], what: str = "Sums on whether a model holds") -> None:
        """Each model (as a digest) is looked at in few points (as digests), and in none again with fewer sites."""
        for model, point in models:
            before = self.history.settled.get(model, {}).get(point)
            if before is not None and self.members < before:
                raise RepeatedQuestionError(
                    f"A model was looked at in this point with {len(before)} sites; asked for again with {len(self.members)}, the "
                    f"difference would be the missing site's numbers. Begin at another point."
                )
        self.settles(models, what)

    def settles(self, tests: Sequence[tuple[bytes, bytes]], what: str = "The products of residuals of a test") -> None:
        """Each test (as a digest) is answered at few points (as digests) by the same sites.

        Products of residuals at coefficients of a server's choice, as often as it likes, would weigh single rows out. One point is enough;
        a server that has lost its memory comes back to it up to rounding.
        """
        new = list[tuple[bytes, bytes]]()
        for test, point in dict.fromkeys(tests):
            known = self.history.settled.get(test, {})
            if known.get(point) == self.members:
                continue
            if sum(members == self.members for members in known.values()) >= MOST_POINTS:
                raise RepeatedQuestionError(f"{what} are answered at {MOST_POINTS} points at most with the same sites; got another.")
            new.append((test, point))
        if new:
            members = tuple(sorted(self.members))
            self.history.take(Settled(tuple(test for test, _ in new), tuple(point for _, point in new), members))

    def withheld(self, variables: VariableSet) -> str:
        """Why no sum is made over a set, not even of rows, by what the sites state of themselves; or the empty string."""
        return "" if self.census is None else self.census.refusal(variables)

    def may_count(self, variables: VariableSet) -> None:
        """No sum, not even of rows, over sites that must not be told apart from those of other sums (strict isolation)."""
        reason = self.withheld(variables)
        if reason:
            raise DisclosureError(f"No sum over {', '.join(variables)}: {reason}.")

    def enough_contribute(self, variables: VariableSet) -> None:
        """Enough sites state that they contribute a set, of which no counts are announced. Without statements nobody knows.

        So it is for spreads, which are summed once in a study, and for means of a response that is not among the variables of its sample:
        of the many sites that have the sample, one may have the response.
        """
        if self.census is not None and len(self.census.contributors(variables)) < self.terms.min_contributors:
            raise DisclosureError(f"No sum over {', '.join(variables)}: fewer than {self.terms.min_contributors} sites contribute that.")

    def allows_sum(self, variables: VariableSet, *, single: bool = False) -> None:
        """No sum over too few sites or rows. ``single``: one term is enough where the study lets a site answer alone."""
        self.may_count(variables)
        found = self._announced.get(variables)
        if found is None:
            raise DisclosureError(f"A sum over the rows of {', '.join(variables)} needs its counts announced first; there are none.")
        limits = self.terms.disclosure
        reason = limits.refusal(*found)
        if not reason and not single and limits.alone(found[0]):
            reason = "only one site has the rows for it, which answers with a rounded p-value alone"
        if reason:
            raise DisclosureError(f"No sum over {', '.join(variables)}: {reason}.")

    def allows_alone(self, variables: VariableSet) -> None:
        """No test alone unless exactly one site can do it."""
        self.allows_sum(variables, single=True)
        if not self.terms.disclosure.alone(self._announced[variables][0]):
            raise DisclosureError(f"No site answers alone on {', '.join(variables)}: others have the rows for it too.")
