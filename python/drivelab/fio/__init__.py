"""fio's job files as scenarios: the meaning of their options here, options without effect, and unsupported options."""

from drivelab.fio.scenario import scenario_of
from drivelab.fio.syntax import is_job_file

__all__ = ["is_job_file", "scenario_of"]
