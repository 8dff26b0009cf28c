"""Which array to buy: a grid of drives, levels, members and controllers under a load, limits, prices and failures.

question.py reads what is asked, grid.py lays out the candidates, bounds.py rules out what closed forms exclude,
evaluate.py simulates what is left and finds its losses, choice.py picks, sensitivity.py says when the pick would turn,
answer.py says it. Start with planned.py.
"""

from drivelab.arrays.plan.call import plan
from drivelab.arrays.plan.planned import Plan

__all__ = ["Plan", "plan"]
