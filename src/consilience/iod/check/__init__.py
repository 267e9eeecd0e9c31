"""Whether data are ready for a discovery: what each table is taken for, how the tables fit together, and how long it will take.

==============  ==========================================================================
``checking``    ``check()`` and its result
``estimate``    how many tests and rounds a discovery asks for, and how long they take
``page``        the result as one HTML page
==============  ==========================================================================
"""

from consilience.iod.check.checking import Check, SiteCheck, check
from consilience.iod.check.estimate import Estimate

__all__ = ["Check", "Estimate", "SiteCheck", "check"]
