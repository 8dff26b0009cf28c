"""Records of any kind in one form: simulated, measured and emulated ones, published tables, and fio's output.

Start in model.py (the common form), then opening.py (which kind a file is), and own.py, published.py and fio_runs.py
(one file for each family). repair.py mends fio's output, precision.py determines how certain a figure is.
"""
