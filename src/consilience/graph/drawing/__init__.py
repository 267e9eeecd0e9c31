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
"""
