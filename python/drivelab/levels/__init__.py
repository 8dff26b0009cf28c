"""The levels of an array side by side: rates and latencies as simulated, capacity, price, chance of data loss.

level.py says what each level is, formulas.py and markov.py how likely it loses data, cost.py what it costs,
loads.py what is simulated, planning.py which runs that takes; compare.py puts all of it together. Start there.
"""

from drivelab.levels.compare import Comparison, compare_levels

__all__ = ["Comparison", "compare_levels"]
