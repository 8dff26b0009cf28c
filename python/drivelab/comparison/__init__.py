"""Records side by side: `compare("a.json", "b.json")`.

Start in beside.py (what is set beside what), then matching.py (which points are the same place), difference.py (how
far two figures are apart, and how sure that is), verdict.py (in words), tables.py.
"""

from drivelab.comparison.beside import Choice, Compared, compare

__all__ = ["Choice", "Compared", "compare"]
