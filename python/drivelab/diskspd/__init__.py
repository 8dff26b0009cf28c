"""Jobs of DiskSpd as scenarios, a command line or a profile in XML: what they mean here, and what cannot be."""

from __future__ import annotations

from collections.abc import Mapping

from drivelab.diskspd import command, profile
from drivelab.diskspd.command import is_command
from drivelab.diskspd.profile import is_profile
from drivelab.scenarios.converted import Converted

__all__ = ["is_command", "is_job", "is_profile", "scenario_of"]


def is_job(text: str) -> bool:
    """Whether a text is a command line of DiskSpd or a profile in XML."""
    return is_command(text) or is_profile(text)


def scenario_of(text: str, origin: str, given: Mapping[str, str] | None = None) -> Converted:
    """The scenario of either. Raises InputError with all problems, each with its line."""
    if is_profile(text):
        return profile.scenario_of(text, origin, given)
    return command.scenario_of(text, origin, given)
