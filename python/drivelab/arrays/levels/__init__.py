"""The levels of an array side by side: rates and latencies as simulated, capacity, price, chance of data loss.

rebuild.py measures rebuilds, volatile.py what a power cut takes, cost.py has the price, loads.py the
simulated loads, planning.py the runs; compare.py combines them. Start there.
"""

from drivelab.arrays.levels.compare import Comparison, compare_levels

__all__ = ["Comparison", "compare_levels"]
