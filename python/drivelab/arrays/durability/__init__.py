"""The probability that an array loses data: failures, repairs, unreadable sectors, spares, and common causes.

The keys of a question, what they mean and the rules are in Rust. file.py and question.py bring options there,
solving.py goes from them to the answer, losses.py holds it and its tables. Start with `loss`.
"""

from drivelab.arrays.durability.call import durability
from drivelab.arrays.durability.losses import Losses
from drivelab.arrays.durability.solving import loss

__all__ = ["Losses", "durability", "loss"]
