"""Drives described for DiskSim (CMU Parallel Data Laboratory), as drive files.

`import_drive` reads a `.parv` file with all files that it names and returns the drive. Lives here: the syntax of the
files (text.py, syntax.py), the meaning of their blocks (parameters.py, system.py, disk.py, layout.py, patterns.py,
seek.py), the drive file (drive_file.py), and whether drivelab accepts it (acceptance.py). Nothing here simulates.
docs/how-to/validate.md says how each parameter is converted.
"""

from __future__ import annotations

from pathlib import Path

from drivelab.disksim import syntax
from drivelab.disksim.acceptance import check_accepted
from drivelab.disksim.drive_file import Drive, drive
from drivelab.disksim.text import DisksimError, NoTopologyError

__all__ = ["DisksimError", "Drive", "NoTopologyError", "import_drive"]


def import_drive(path: Path, disk: str | None = None) -> Drive:
    """The drive of a `.parv` file; of several disks the one named, or the model that all share.

    Raises DisksimError with the parameter, its file and its line.
    """
    found = drive(syntax.read(path), disk)
    check_accepted(found)
    return found
