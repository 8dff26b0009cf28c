"""Records side by side: `compare("a.json", "b.json")`.

Start in choice.py (what is compared) and beside.py (what is set beside what), then matching.py (which points are the
same place), difference.py (how far two figures are apart, and how sure that is), verdict.py (in words), tables.py.
"""

from drivelab.comparison.beside import Compared, compare
from drivelab.comparison.choice import Choice

__all__ = ["Choice", "Compared", "compare"]
