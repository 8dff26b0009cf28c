"""Which array to choose: what its levels hold, bear and do under a load, how likely each loses data, which to buy.

level.py has the levels, odds.py and counted.py how often drives fail, times.py how times are typed. levels/ compares
levels, durability/ asks the engine for the probability of data loss (risk.py for a level), plan/ picks an array. Start
with level.py.
"""
