"""What can be worked out about a site: one model that sites enforce, servers plan by and owners read before they agree.

==============  ===========================================================================================
module          what it holds
==============  ===========================================================================================
``patterns``    rows of a table that lack the same values
``fold``        groups of rows, folded until each may be summed over by itself
``cells``       levels of several variables together: which sets of variables a site keeps apart
``shield``      what of a site's table takes part, decided from that table alone
``statement``   what a site says of itself to everybody
``isolation``   which sums are about many sites only, however they are added and subtracted
``census``      what follows from all statements of a run
``words``       all this in sentences, for contracts, consents and results
==============  ===========================================================================================

Nothing here knows of messages, models or a network: everything is a function of a table, of terms and of statements.
"""

from consilience.disclosure.census import Census, apply
from consilience.disclosure.shield import Shielded, shield
from consilience.disclosure.statement import Statement, decode_statement

__all__ = ["Census", "Shielded", "Statement", "apply", "decode_statement", "shield"]
