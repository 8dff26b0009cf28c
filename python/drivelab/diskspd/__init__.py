"""A command line of DiskSpd as a scenario: what its options mean here, and which cannot be."""

from drivelab.diskspd.command import is_command, scenario_of

__all__ = ["is_command", "scenario_of"]
