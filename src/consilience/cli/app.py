"""``consilience``: the commands, and how errors become exit codes.

0: answered. 1: a defect of the program; of ``consilience doctor``, that something stands in the way. 2: bad input, with a message that says
the way out. 3: the data cannot answer. 130: interrupted; if graphs were being sought, what was found until then is shown and written all
the same.
"""

from __future__ import annotations

from consilience.cli.commands import application

__all__ = ["app"]

app = application()
