"""The site agent: it holds the data, dials out, and answers what its owner has consented to.

==============  ============================================================================================
``home``        the site's folder: identity, one folder per study, ledger and history on disk
``entry``       taking an invitation; downloading results
``site``        what a site answers to each message of the server
``asking``      who says yes to a contract: a person, a policy, a digest
``policy``      what is agreed to without asking, by rules of the site's own
``earlier``     the studies that it took part in, on disk, and what they and a new one tell together
``disclosing``  what a contract would disclose of the site, in the words that are shown before consent
``telling``     what it says of its variables where a study asks, and what it never says
``link``        the connection: TLS, proxy, challenge, coming back after it ends
``rehearsal``   what would leave the site, without anything leaving it
==============  ============================================================================================
"""

from consilience.service.agent.entry import join
from consilience.service.agent.home import Home, StudyFolder
from consilience.service.agent.link import Agent, Outcome
from consilience.service.agent.site import Site

__all__ = ["Agent", "Home", "Outcome", "Site", "StudyFolder", "join"]
