"""Which array to choose: what its levels hold, bear and do under a load, how likely each loses data, which to buy.

level.py has the levels, odds.py and counted.py how often drives fail, typed.py how values are typed, cost.py the price.
simulation/ runs a level under a load, durability/ asks the engine for the probability of data loss, levels/ compares
levels, plan/ picks an array; each uses only those before it. Start with level.py.
"""
