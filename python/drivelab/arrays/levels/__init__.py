"""The levels of an array side by side: rates and latencies as simulated, capacity, price, chance of data loss.

risk.py asks durability/ for the chance of loss, volatile.py finds what a power cut takes, verdict.py says which level
is better at what, tables.py prints it; compare.py combines them. Start there.
"""

from drivelab.arrays.levels.compare import Comparison, compare_levels

__all__ = ["Comparison", "compare_levels"]
