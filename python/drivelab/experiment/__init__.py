"""Published tables that are run again: `reproduce("lkml-2007")`.

Start in model.py (what an experiment's file says), then engine.py (how it is run), outcome.py (how it is
judged).
"""

from drivelab.experiment.catalogue import load, names
from drivelab.experiment.engine import run
from drivelab.experiment.model import Experiment
from drivelab.experiment.outcome import Outcome, Prediction, Summary, Verdict

__all__ = ["Experiment", "Outcome", "Prediction", "Summary", "Verdict", "load", "names", "run"]
