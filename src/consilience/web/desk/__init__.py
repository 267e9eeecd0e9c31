"""What the site's app keeps between pages, in the running process: table, decisions, study, consent, run.

Values of the data are in memory only. What the site's folder keeps (identity, contract, ledger, results) is the agent's business, as for
``consilience client``.

==============  ======================================================================
``origin``      where the table comes from, and how it is read
``table``       the table as it was read, and as its owner's plan makes it
``labels``      levels that can be spelled otherwise
``remedies``    the ways out that a finding names, taken
``checking``    what is doubtful or refused about the table
``fitting``     the study's variables beside the site's columns
``offer``       what a study asks a site to agree to, before and after it is proposed
``leaving``     what would leave the site, in words, numbers and bytes
``dryrun``      the dry run: under way, done or failed
``obstacle``    why a site cannot go on with another table
``records``     the consent and the ledger in the study's folder
``serverview``  the study as its server shows it
``words``       errors in the words of a page
``session``     the agent at work: connection, questions to the owner, what it says
``sitedesk``    all of it together
==============  ======================================================================
"""

from consilience.web.desk.sitedesk import SiteDesk

__all__ = ["SiteDesk"]
