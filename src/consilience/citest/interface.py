"""The interface of a conditional-independence test.

Algorithms that need CI decisions take any object with it: the federated test, Fisher's method, pooled data, an oracle, a user's own.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from consilience.citest.question import Question, all_questions, read_question
from consilience.citest.result import CIResult, to_frame
from consilience.data.finding import Finding, Grade
from consilience.data.judging.verdict import use_error
from consilience.errors import DoubtfulDataWarning
from consilience.frames import pl
from consilience.options import check_whole

__all__ = ["CITest", "Progress"]

Progress = Callable[[int, int], None]
"""Called with (tests answered, tests asked) after every round; an exception it raises cancels the run."""


class CITest(ABC):
    """Answers questions of the form "is X independent of Y given Z?" over several data sets.

    A subclass says which variables there are, which of them each data set holds, and answers a batch of checked questions
    (:meth:`answer`). Everything else, and :func:`consilience.discover`, works with that.

    Attributes
    ----------
    variables : tuple of str
        All variables that may be asked about.
    datasets : tuple of frozenset of str
        Which of them each data set holds, one set a data set.

    Examples
    --------
    A test of one's own:

    >>> class Coin(CITest):
    ...     variables = ("A", "B")
    ...     datasets = (frozenset({"A", "B"}),)
    ...
    ...     def answer(self, questions, progress=None):
    ...         return [question.result(0.5, n=10) for question in questions]
    >>> Coin().test("A", "B").p_value
    0.5
    """

    variables: tuple[str, ...]
    datasets: tuple[frozenset[str], ...]
    findings: tuple[Finding, ...] = ()
    """What is doubtful or refused about the data; each counts when one of its variables is used."""
    left_out: Mapping[str, Finding] = MappingProxyType({})
    """Columns that are no variables, with the reason; refused to whoever asks for them by name."""
    _said: frozenset[Finding] = frozenset()

    def check_use(self, names: Iterable[str] | None = None) -> None:
        """Say what is found about variables before they are used.

        Parameters
        ----------
        names : iterable of str, optional
            The variables in use; all of them if left out.

        Raises
        ------
        DataError, SchemaError
            If some of them cannot be used: all of it in one message.

        Warns
        -----
        DoubtfulDataWarning
            Once for each thing that is doubtful about them.

        Examples
        --------
        Tests and searches do this themselves, before anything is computed.
        """
        used = None if names is None else frozenset(names)
        found = [f for f in self.findings if used is None or used & set(f.columns)]
        found += [self.left_out[name] for name in sorted(used or ()) if name in self.left_out]
        refused = [f for f in found if f.grade is Grade.REFUSED]
        if refused:
            raise use_error(refused)
        for finding in (f for f in found if f.grade is Grade.DOUBTFUL and f not in self._said):
            self._said |= {finding}
            warnings.warn(finding.said(), DoubtfulDataWarning, stacklevel=3)

    @abstractmethod
    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions, in order. This is what a subclass writes; users call the other methods.

        Parameters
        ----------
        questions : sequence of Question
            Checked: variables of this test, X and Y different, nobody conditioned on twice.
        progress : callable, optional
            To be called with (tests answered, tests asked) now and then; what it raises must be let through.

        Returns
        -------
        list of CIResult
            One a question, in the order of the questions. Where the data cannot speak, a result with a reason
            (:meth:`Question.result`), not an exception.
        """

    def disclosed(self) -> pl.DataFrame | None:
        """What has left each site so far.

        Returns
        -------
        polars.DataFrame or None
            One row a site, with messages, numbers, bytes and refusals. None if there are no ledgers.
        """
        return None

    def withheld(self) -> tuple[str, ...]:
        """What a study's rules on disclosure kept out of its sums, in sentences for readers of its result.

        Returns
        -------
        tuple of str
            Empty if there are no such rules, or if they kept nothing out that everybody may know of.
        """
        return ()

    def test(self, x: str, y: str, given: Iterable[str] = ()) -> CIResult:
        """Test X ⫫ Y | given.

        Parameters
        ----------
        x, y : str
            Two variables.
        given : iterable of str, default ()
            The variables to condition on.

        Returns
        -------
        CIResult

        Raises
        ------
        QuestionError
            If a variable does not exist, or is named twice.

        Examples
        --------
        >>> import consilience as cs
        >>> oracle = cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"))
        >>> oracle.test("A", "D").p_value, oracle.test("A", "D", given=["C"]).p_value
        (0.0, 1.0)
        """
        return self.test_many([(x, y, given)])[0]

    def test_many(
        self, questions: Iterable[Question | tuple[str, str] | tuple[str, str, Iterable[str]]], progress: Progress | None = None
    ) -> list[CIResult]:
        """Test many questions as one batch. Every question is checked before the first is answered.

        Parameters
        ----------
        questions : iterable
            Each (x, y), (x, y, given) or a :class:`Question`.
        progress : callable, optional
            Called with (tests answered, tests asked) after every round; an exception it raises cancels the run.

        Returns
        -------
        list of CIResult
            In the order of the questions.

        Raises
        ------
        QuestionError
            If one of them is no question, or names a variable that does not exist, or one twice.

        Examples
        --------
        >>> import consilience as cs
        >>> oracle = cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"))
        >>> [result.p_value for result in oracle.test_many([("A", "B"), ("A", "B", ["C"])])]
        [1.0, 0.0]
        """
        asked = list(questions)
        self.check_use(_names(asked))
        checked = [read_question(question, self.variables) for question in asked]
        return self.answer(checked, progress) if checked else []

    def test_all(self, max_given: int | None = None, progress: Progress | None = None) -> pl.DataFrame:
        """Test every pair given every set of at most ``max_given`` other variables.

        Parameters
        ----------
        max_given : int, optional
            The largest number of variables to condition on; all others if left out.
        progress : callable, optional
            Called with (tests answered, tests asked) after every round; an exception it raises cancels the run.

        Returns
        -------
        polars.DataFrame
            One row a test, small conditioning sets first. ``frame.to_pandas()`` needs the extra ``consilience[pandas]``.

        Raises
        ------
        OptionError
            If ``max_given`` is no whole number, or negative.

        Examples
        --------
        >>> import consilience as cs
        >>> oracle = cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"))
        >>> oracle.test_all(max_given=1).filter(pl.col("p_value") > 0.05).select("x", "y", "given").rows()
        [('A', 'B', []), ('A', 'D', ['C']), ('B', 'D', ['C'])]
        """
        if max_given is not None:
            check_whole("max_given", max_given, least=0)
        self.check_use()
        return to_frame(self.answer(all_questions(self.variables, max_given), progress))


def _names(questions: list[Any]) -> set[str]:
    """The variables that questions name; what is no question is said later, where it is read."""
    named: set[str] = set()
    for question in questions:
        parts = (question.x, question.y, *question.given) if isinstance(question, Question) else question
        if not isinstance(parts, tuple | list):
            continue
        for part in parts:
            named.update((part,) if isinstance(part, str) else part if isinstance(part, Iterable) else ())
    return {name for name in named if isinstance(name, str)}
