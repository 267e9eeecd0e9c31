"""Graphs with marks: DAG, MAG, PAG; m-separation, orientation rules, Markov equivalence, distance, export.

A graph is immutable: labels and one matrix of endpoint marks. Algorithms work on a mutable copy, :class:`MarkSets`, in which nodes
are numbers and sets of nodes are integers; functions that do so have names ending in ``_marks``. No statistics and no data in here.

The modules, from the ground up::

    marks, marksets         the marks, and the mutable copy
    text                    a graph as a line of text
    views                   where pictures and other encodings register
    mixed                   MixedGraph, what all graphs have in common
    separation, ancestral   ancestors, m-separation, inducing paths; what makes a graph a MAG
    graphs                  PAG, MAG and DAG
    paths, rules            discriminating and uncovered paths; R0-R10 and their closure
    triples, equivalence    triples with order; MAG to PAG and back
    ancestry                ancestors in all members of a class, and in some
    members                 a member of a class about which more is known
    possible_paths          where an effect may flow, and which edges hide no common cause
    separators              sets that separate two nodes: all of them, and the minimal ones
    identification          how an effect is identified, or why not, in words
    adjustment              the generalised adjustment criterion
    projection, distance    marginal MAGs, canonical DAGs; structural Hamming distance
    blocks                  biconnected components
    oracle                  m-separation as a CI test

and beside the theory, which imports neither::

    drawing/                a graph as SVG
    formats/                a graph in the encodings of other software

>>> dag = DAG.parse("L --> A, L --> B, B --> C, D --> B")
>>> mag = latent_projection(dag, ["A", "B", "C", "D"])
>>> mag_to_pag(mag)
PAG.parse('A o-> B, B --> C, D o-> B')
"""

from consilience.graph import drawing, formats  # noqa: F401  they register with views when they are imported
from consilience.graph.adjustment import adjustment_sets, is_adjustment_set
from consilience.graph.ancestral import is_ancestral, is_mag, is_mag_marks, is_maximal
from consilience.graph.distance import normalised_shd, shd
from consilience.graph.equivalence import (
    is_valid_pag,
    is_valid_pag_marks,
    mag_to_pag,
    mag_to_pag_marks,
    markov_equivalent,
    pag_to_mag,
    pag_to_mag_marks,
)
from consilience.graph.graphs import DAG, MAG, PAG
from consilience.graph.identification import Adjustment, Identification
from consilience.graph.marks import Mark, MarkMatrix
from consilience.graph.marksets import MarkSets, bits, mask_of
from consilience.graph.mixed import Edge, MixedGraph
from consilience.graph.oracle import Oracle
from consilience.graph.paths import discriminating_paths
from consilience.graph.projection import canonical_dag, latent_projection, latent_projection_marks
from consilience.graph.rules import IsCollider, by_separating_sets, decide, orient
from consilience.graph.separation import Separation, ancestors, has_inducing_path, m_separated, separation_of
from consilience.graph.triples import OrderedTriple, triples_with_order, triples_with_order_marks

__all__ = [
    "DAG",
    "MAG",
    "PAG",
    "Adjustment",
    "Edge",
    "Identification",
    "IsCollider",
    "Mark",
    "MarkMatrix",
    "MarkSets",
    "MixedGraph",
    "Oracle",
    "OrderedTriple",
    "Separation",
    "adjustment_sets",
    "ancestors",
    "bits",
    "by_separating_sets",
    "canonical_dag",
    "decide",
    "discriminating_paths",
    "has_inducing_path",
    "is_adjustment_set",
    "is_ancestral",
    "is_mag",
    "is_mag_marks",
    "is_maximal",
    "is_valid_pag",
    "is_valid_pag_marks",
    "latent_projection",
    "latent_projection_marks",
    "m_separated",
    "mag_to_pag",
    "mag_to_pag_marks",
    "markov_equivalent",
    "mask_of",
    "normalised_shd",
    "orient",
    "pag_to_mag",
    "pag_to_mag_marks",
    "separation_of",
    "shd",
    "triples_with_order",
    "triples_with_order_marks",
]
