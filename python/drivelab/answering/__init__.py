"""Ready answers: a question of storage people, answered from simulations in a sentence, a table, a picture.

Each answer is one file of `drivelab/answers`, which `registry.py` finds. This room has what they share: options
(`option.py`), the target that they ask about (`lab.py`), texts (`words.py`) and the result (`result.py`). Nothing here
computes a figure: all of them come from records of runs. Start with result.py.
"""

from drivelab.answering.call import answer
from drivelab.answering.result import Answer

__all__ = ["Answer", "answer"]
