"""How the tables of several sites fit together: what is called or coded in two ways, measured in two units, or never measured together.

Facts are compared, and nothing else: no rows, no statistics of a study, nothing federated. What is found is said as a
:class:`~consilience.data.finding.Finding`, with the ways out.
"""

from consilience.data.checking.spelling import folded, same_meaning, spelled_twice

__all__ = ["folded", "same_meaning", "spelled_twice"]
