"""The levels of an array side by side: rates and latencies as simulated, capacity, price, chance of data loss.

level.py defines the levels, formulas.py counts the failures that they bear, risk.py asks the
engine of durability for the chance of data loss, cost.py the price, loads.py the
simulated loads, planning.py the runs; compare.py combines them. Start there.
"""

from drivelab.levels.compare import Comparison, compare_levels

__all__ = ["Comparison", "compare_levels"]
