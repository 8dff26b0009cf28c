"""Records of any kind as one: simulated, measured and emulated ones, published tables, and what fio prints.

Start in model.py (what a record comes to), then opening.py (which kind a file is), and own.py, published.py and
fio_runs.py (one file for each family). repair.py mends what fio prints, precision.py says how sure a figure is.
"""
