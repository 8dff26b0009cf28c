"""A level of an array under a load, in virtual time: what is asked of it, its runs, their figures.

loads.py has the loads, idle.py the options that change nothing beside them, planning.py the runs of every level,
measure.py carries them out, figures.py reads their results, rebuild.py extrapolates a rebuild from parts of it.
durability/, levels/ and plan/ ask it. Start with planning.py.
"""
