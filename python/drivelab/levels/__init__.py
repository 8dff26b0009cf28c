"""The levels of an array side by side: rates and latencies as simulated, capacity, price, chance of data loss.

level.py says what each level is, formulas.py and markov.py how likely it loses data, cost.py what it costs,
loads.py what is simulated; compare.py puts all of it together. Start there.
"""

from drivelab.levels.compare import Comparison, compare_levels
from drivelab.levels.loads import Loads

__all__ = ["Comparison", "Loads", "compare_levels"]
