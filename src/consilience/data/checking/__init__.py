"""How the tables of several sites fit together: what is called or coded in two ways, measured in two units, or never measured together.

Facts are compared, and nothing else: no rows, no statistics of a study, nothing federated. What is found is said as a
:class:`~consilience.data.finding.Finding`, with the ways out. Kinds and levels that contradict each other are found where a
schema is made of them (:func:`consilience.data.schema.agreement`).

==============  ==============================================================================
``spelling``    levels that mean the same (``vocabulary``: the words for them)
``names``       names that may be one variable
``scales``      numbers that look like two units, or like none
``levels``      levels of one site only, too rare
``sharing``     variables of one site, the same table twice
``comparing``   all of it, in one call
==============  ==============================================================================
"""

from consilience.data.checking.spelling import folded, same_meaning, spelled_twice

__all__ = ["folded", "same_meaning", "spelled_twice"]
