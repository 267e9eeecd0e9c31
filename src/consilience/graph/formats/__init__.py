"""Graphs in the encodings of other software: ``dot`` for Graphviz, ``foreign`` for pcalg, causal-learn, Tetrad and networkx."""
