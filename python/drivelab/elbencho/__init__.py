"""A command line of elbencho as a scenario: what its options mean here, and which cannot be."""

from drivelab.elbencho.command import is_command, scenario_of

__all__ = ["is_command", "scenario_of"]
