"""The probability that an array loses data: failures, repairs, unreadable sectors, spares, and common causes.

texts.py reads quantities and laws, checks.py refuses what cannot be, question.py makes a description of the options,
solving.py goes from the options to the answer, losses.py holds it and its tables; the rules are in Rust. Start with
`loss`.
"""

from drivelab.arrays.durability.call import durability
from drivelab.arrays.durability.losses import Losses
from drivelab.arrays.durability.solving import loss

__all__ = ["Losses", "durability", "loss"]
