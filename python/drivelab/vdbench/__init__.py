"""A parameter file of Vdbench as a scenario: what its parameters mean here, and which cannot be."""

from drivelab.vdbench.parameters import is_parameter_file, scenario_of

__all__ = ["is_parameter_file", "scenario_of"]
