"""Graphs in the encodings of other software, each a module with a reader and a writer between (labels, marks) and the foreign form.

======================  =====================================================================================
``dot``                 Graphviz
``tetrad``              text with ``Graph Nodes:`` and ``Graph Edges:``
``networkx_graph``      an undirected ``Graph`` whose edges have ``marks``
``causallearn_graph``   causal-learn's ``GeneralGraph``
``optional``            how packages are imported that need not be there
======================  =====================================================================================

pcalg's matrix of marks is this package's own store (``from_matrix``, ``to_matrix``), and the line of text ``A o-> B`` its own notation
(``graph/text.py``): neither is foreign. Each module registers with ``graph/views.py``; theory imports none of them.
"""

from consilience.graph.formats import causallearn_graph, dot, networkx_graph, tetrad

__all__ = ["causallearn_graph", "dot", "networkx_graph", "tetrad"]
