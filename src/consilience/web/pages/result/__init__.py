"""The result of a study, as pages that both apps mount: graphs, tests, conflicts, files.

=============  ===============================================================================
``source``     where a result comes from, and how the pages around it look
``prepared``   results that were read, kept for the next request; decided anew at another level
``choice``     which graph an address asks for
``view``       a chosen graph: its lines, legend, table of edges and words about every pair
``exports``    a graph as SVG, DOT, Tetrad, pcalg, CSV and JSON
``pages``      what the pages show
``routes``     the addresses
=============  ===============================================================================

Who may see a result is the mounting app's affair: it is asked with every request.
"""

from consilience.web.pages.result.prepared import Desk
from consilience.web.pages.result.routes import result_routes
from consilience.web.pages.result.source import ResultSource

__all__ = ["Desk", "ResultSource", "result_routes"]
