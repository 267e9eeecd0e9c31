"""The federated test: CI tests over all sites, from sums alone, over any transport."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from consilience.citest.effect import Estimate
from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question, read_question
from consilience.citest.result import CIResult
from consilience.data.schema import Schema
from consilience.disclosure.census import Census
from consilience.disclosure.errors import StatementError
from consilience.disclosure.statement import Statement, decode_statement
from consilience.disclosure.words import result_lines
from consilience.errors import StudyError
from consilience.federation.errors import ClientGoneError, TooFewClientsError
from consilience.federation.exchange.auto import auto_batch
from consilience.federation.exchange.batch import batch, drive
from consilience.federation.exchange.effects import effect_batch
from consilience.federation.exchange.fisher import fisher_batch
from consilience.federation.exchange.residual import residual_batch
from consilience.federation.exchange.sums import FitOptions, Sums
from consilience.federation.exchange.together import Asking, Together, announced
from consilience.federation.transport.base import Fingerprints, Transport
from consilience.glm.kernel import Floats
from consilience.parallel import one_thread
from consilience.protocol.replicates import Replicate
from consilience.protocol.single import SingleRequest
from consilience.settings.choices import Alternatives, Dropout, Method
from consilience.settings.terms import Terms

__all__ = ["FederatedTest"]

T = TypeVar("T")
EXCHANGES = {Method.FEDCI: batch, Method.FISHER: fisher_batch, Method.RESIDUAL: residual_batch, Method.AUTO: auto_batch}


def fit_options(terms: Terms, sites: int) -> FitOptions:
    """How models are fitted on these terms."""
    return FitOptions(
        terms.effects,
        terms.ordinal,
        terms.ridge,
        sites,
        (),
        terms.disclosure,
        terms.site_slopes,
        terms.alternatives is Alternatives.SMOOTH,
        terms.cluster is not None,
        terms.small_sample,
        terms.diagnosed,
    )


class FederatedTest(CITest):
    """CI tests over the sites that a transport reaches, on the terms they have agreed to.

    ``datasets`` are the variable sets that sites hold; which site contributes what, each states itself, where there are rules on
    disclosure. Where the sites are, this class does not know.
    """

    def __init__(self, schema: Schema, terms: Terms, datasets: Iterable[frozenset[str]], transport: Transport) -> None:
        self.schema, self.terms = schema, terms
        self.variables = tuple(schema)
        self.datasets = tuple(dict.fromkeys(datasets))
        self._transport = transport
        self._agreed = len(transport.names)
        if 1 < self._agreed < terms.min_contributors:
            raise TooFewClientsError(
                f"No sum may be made over fewer than {terms.min_contributors} clients (min_contributors), "
                f"and there are {self._agreed}. Add clients or lower the limit."
            )
        self._sums = Sums(schema, fit_options(terms, self._agreed))
        self._results: dict[Question, CIResult] = {}
        self._names: dict[bytes, str] = {}

    @property
    def method(self) -> str:
        """``"fedci"``, ``"fisher"``, ``"residual"`` or ``"auto"``."""
        return self.terms.method.value

    @property
    def rounds(self) -> int:
        """Exchanges with the clients so far."""
        return self._transport.rounds

    @property
    def bytes(self) -> int:
        """Bytes that a network has carried, or would have, so far: requests and answers of all clients."""
        return self._transport.bytes

    @property
    def participants(self) -> tuple[str, ...]:
        """The names of the clients that (still) take part."""
        return self._transport.names

    @property
    def fingerprints(self) -> Fingerprints:
        """The fingerprints of the clients that (still) take part, by name."""
        return self._transport.fingerprints

    @property
    def census(self) -> Census | None:
        """What the clients stated of themselves: which of them contribute what, and which sums are made.

        None where the study has no such rules (``min_cell=1`` and ``isolation="aggregate"``), and before the first test.
        """
        return self._sums.census

    @property
    def results(self) -> list[CIResult]:
        """Every result so far, also of a run that was interrupted; the latest, where a test was done more than once."""
        self._keep_finished()
        return list(self._results.values())

    def withheld(self) -> tuple[str, ...]:
        """What the study's rules on disclosure kept out of its sums: sites that sit out, rare levels, tests that were refused.

        Returns
        -------
        tuple of str
            A sentence each, from what all clients know of each other. Empty without such rules, and before the first test.
        """
        census = self.census
        if census is None:
            return ()
        sets = (tuple(sorted((r.x, r.y, *r.given))) for r in self.results if not r.informative)
        return tuple(result_lines(census, self._names, [variables for variables in sets if census.refusal(variables)]))

    def _keep_finished(self) -> None:
        finished = self._sums.finished
        self._results |= {q: replace(r, participants=self.participants) for q, r in finished.items()}
        finished.clear()

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order. What is learnt before an interruption is not asked for again.

        Parameters
        ----------
        questions : sequence of Question
            Questions over the study's variables.
        progress : callable, optional
            Told (tests answered, tests asked) after every round; an exception it raises cancels the run.

        Returns
        -------
        list of CIResult
            The answers, in the order of the questions.

        Raises
        ------
        TooFewClientsError
            When a client vanishes, the batch restarts with the others, unless too few are left or the study is to stop.
        RefusalError
            A client refuses a request.
        """
        exchange = EXCHANGES[self.terms.method]
        while True:
            try:
                self._take_census()
                results = drive(exchange(questions, self._sums, progress), self._ask)
            except ClientGoneError as error:
                self._go_on_without(error.client)
            else:
                return [replace(r, participants=self.participants) for r in results]

    def effect(self, x: str, y: str, given: Iterable[str] = ()) -> Estimate:
        """Estimate the total effect of x on y, adjusted for other variables.

        Parameters
        ----------
        x, y : str
            What is set, and what is looked at.
        given : iterable of str, default ()
            The variables adjusted for. The estimate is that of an effect if they are an adjustment set: see :meth:`Discovery.effect`.

        Returns
        -------
        Estimate
            With a reason instead of numbers where the data or the study's rules allow none.

        Raises
        ------
        QuestionError
            If a variable does not exist, or is named twice.
        StudyError
            If the study's method is Fisher's, of which only p-values are told.

        Examples
        --------
        >>> import consilience as cs
        >>> frames = cs.simulate.mixed_sites(n=900, sites=3, seed=1)
        >>> server = cs.Server([cs.Client(name, frame) for name, frame in frames.items()])
        >>> found = server.effect("A", "B", given=["C"])
        >>> found.n, found.contrasts[0].measure, found.contrasts[0].clear
        (900, 'mean difference', True)
        """
        return self.effects([(x, y, given)])[0]

    def effects(
        self, questions: Iterable[Question | tuple[str, str] | tuple[str, str, Iterable[str]]], progress: Progress | None = None
    ) -> list[Estimate]:
        """Estimate many effects as one batch: the rounds of one, whatever their number.

        Parameters
        ----------
        questions : iterable
            Each (x, y), (x, y, given) or a :class:`Question`: the effect of x on y, adjusted for what is given.
        progress : callable, optional
            Called with (models fitted, models asked) after every round; an exception it raises cancels the run.

        Returns
        -------
        list of Estimate
            In the order of the questions.

        Raises
        ------
        QuestionError
            If one of them is no question, or names a variable that does not exist, or one twice.
        StudyError
            If the study's method is Fisher's, of which only p-values are told.
        """
        checked = [read_question(question, self.variables) for question in questions]
        if self.terms.method is Method.FISHER:
            raise StudyError(
                "Effects are estimated from sums over sites, and with method='fisher' sites tell p-values only. "
                "Take method='fedci', 'residual' or 'auto'."
            )
        while checked:
            try:
                self._take_census()
                return drive(effect_batch(checked, self._sums, progress), self._ask)
            except ClientGoneError as error:
                self._go_on_without(error.client)
        return []

    def answer_together(
        self, askings: Mapping[Replicate, Asking[T]], progress: Callable[[int, int], None] | None = None
    ) -> Iterator[tuple[Replicate, T]]:
        """Run searches over replicates of the study, all in the same rounds.

        Parameters
        ----------
        askings : mapping of Replicate to generator
            Of each replicate the search that asks questions of it: it yields questions and is sent their results.
        progress : callable, optional
            Told (searches at their end, searches) after every round; an exception it raises ends the run.

        Yields
        ------
        tuple
            A replicate and what its search has returned, as soon as it is at its end.

        Raises
        ------
        TooFewClientsError, RefusalError
            As :meth:`answer` does.
        """
        terms, options = self.terms, self._sums.options
        # whether models hold was looked at on the rows themselves; "auto" cannot choose without it
        options = replace(options, diagnostics=terms.method is Method.AUTO)
        self._take_census()
        exchange = EXCHANGES[terms.method]
        lanes = Together(askings, lambda census: Sums(self.schema, options, census=census), exchange, self._sums.census)
        told = dict[Replicate, T]()
        with one_thread():
            while True:
                for replicate, found in lanes.found.items():
                    if replicate not in told:
                        told[replicate] = found
                        yield replicate, found
                request = lanes.request()
                if request is None:
                    return
                try:
                    lanes.tell(request, self._transport.ask(request, ()))
                except ClientGoneError as error:
                    self._go_on_without(error.client)
                    self._take_census()
                    lanes.restart(self._sums.census)
                if progress is not None:
                    progress(len(lanes.found), len(askings))

    def _take_census(self) -> None:
        """What the sites state of themselves, once: it comes with their keys, in no round of its own."""
        if self.terms.shielded and self._sums.census is None:
            stated, self._names = dict[bytes, Statement](), dict[bytes, str]()
            for name, site, statement in self._transport.statements():
                try:
                    stated[site], self._names[site] = decode_statement(statement, self.schema), name
                except StatementError as error:
                    raise StatementError(f"{error} It came from {name!r}.") from None
            self._sums.census = Census(stated, self.terms, self.schema)

    def _ask(self, request: SingleRequest) -> Floats:
        """One round, with the counts that every client holds against the study's limits."""
        return self._transport.ask(request, announced(request, self._sums))

    def _go_on_without(self, client: str) -> None:
        if self.rounds == 0:
            raise TooFewClientsError(
                f"{client!r} was not there when the study began, and all {self._agreed} clients that agreed to it must be. "
                f"Start a server without it."
            )
        self._keep_finished()
        left = len(self.participants) - 1
        needed = max(2, self.terms.min_contributors)  # one site alone has nobody to mask with
        if left < needed or self.terms.on_dropout is Dropout.STOP:
            rule = f"at least {needed} clients are needed" if left < needed else "the study stops when one is gone"
            raise TooFewClientsError(
                f"{client!r} does not answer any more; {left} clients are left, and {rule}. "
                f"{len(self._results)} results are finished and kept in server.results."
            )
        self._transport.drop(client)
        self._sums = self._sums.without_a_site()
