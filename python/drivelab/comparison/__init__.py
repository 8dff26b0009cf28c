"""Records side by side: `compare("a.json", "b.json")`.

Start in choice.py (what is compared) and beside.py (which records are compared), then matching.py (which points are
at the same place), difference.py (how far two figures differ, and how certain that is), verdict.py (in words),
tables.py.
"""

from drivelab.comparison.beside import Compared, compare
from drivelab.comparison.choice import Choice

__all__ = ["Choice", "Compared", "compare"]
