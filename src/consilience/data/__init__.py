"""What one site holds: kinds and levels, reading files, the study's schema, complete rows, design matrices.

Nothing here knows of models, of other sites' data or of a network.
"""

from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.data.table import Table

__all__ = ["Kind", "Schema", "Table", "Variable"]
