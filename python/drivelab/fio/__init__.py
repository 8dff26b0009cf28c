"""fio's job files as scenarios: what their options mean here, what does not matter, and what cannot be done."""

from drivelab.fio.scenario import scenario_of
from drivelab.fio.syntax import is_job_file

__all__ = ["is_job_file", "scenario_of"]
