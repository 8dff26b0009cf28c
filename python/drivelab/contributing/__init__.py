"""A reader's drive for the catalogue: a bundle of drive file and records, checked, becomes an entry with its sweep.

Start at contribute.py. A bundle comes from a stranger: it is read with limits, nothing of it is executed, and no path
in it is followed (bundle.py). What is refused, and why, is in checks.py.
"""
