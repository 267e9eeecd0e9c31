"""Graphs as pictures: SVG with the three marks at the ends of the edges.

=================  ============================================================
``svg``            a graph as SVG
``layout``         where nodes stand, by what ``crowding`` calls bad
``routing``        how edges run
``annotations``    short notes beside edges
``lettering``      labels: broken into lines, measured, escaped
``shapes``         edges and nodes as elements, and their colours
``legend``         what the lines say
=================  ============================================================

``svg`` registers with ``graph/views.py``, so that a graph can draw itself; theory imports nothing from here.
"""

from consilience.graph.drawing.svg import positions_of, to_svg

__all__ = ["positions_of", "to_svg"]
