"""drivelab: a laboratory for disk drives under command queueing.

`simulate` runs a scenario in virtual time, `scan` takes a drive's usual figures, `check` finds all that is wrong
with a scenario, `catalogue` lists the drives that are known, `reproduce` runs a published table again, `validate`
sets a drive beside the measurement of a real one, `compare` records of any kind beside each other, `compare_levels`
the levels of an array.
The command `drivelab` does the same from a shell.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from drivelab import _core

if TYPE_CHECKING:
    from drivelab.comparison import Compared, compare
    from drivelab.errors import InputError, Interrupted, OutputError, RunError, ScenarioError
    from drivelab.levels import Comparison, compare_levels
    from drivelab.library import catalogue, check, reproduce, schema
    from drivelab.point import Point
    from drivelab.result import Failure, Result, Skipped
    from drivelab.scanning import Scan, Scans, SizeScan, scan_drives, scan_sizes
    from drivelab.scanning.scan import scan
    from drivelab.simulation import simulate
    from drivelab.validation import Validation, validate

__version__ = _core.VERSION

__all__ = [
    "Compared",
    "Comparison",
    "Failure",
    "InputError",
    "Interrupted",
    "OutputError",
    "Point",
    "Result",
    "RunError",
    "Scan",
    "Scans",
    "ScenarioError",
    "SizeScan",
    "Skipped",
    "Validation",
    "__version__",
    "catalogue",
    "check",
    "compare",
    "compare_levels",
    "reproduce",
    "scan",
    "scan_drives",
    "scan_sizes",
    "schema",
    "simulate",
    "validate",
]

# Where each name is: its module is loaded when the name is first used, so that the command line starts at once.
_HOMES = {
    "InputError": "drivelab.errors",
    "Interrupted": "drivelab.errors",
    "OutputError": "drivelab.errors",
    "RunError": "drivelab.errors",
    "ScenarioError": "drivelab.errors",
    "Compared": "drivelab.comparison",
    "compare": "drivelab.comparison",
    "Comparison": "drivelab.levels",
    "compare_levels": "drivelab.levels",
    "catalogue": "drivelab.library",
    "check": "drivelab.library",
    "reproduce": "drivelab.library",
    "schema": "drivelab.library",
    "Point": "drivelab.point",
    "Failure": "drivelab.result",
    "Result": "drivelab.result",
    "Skipped": "drivelab.result",
    "Scan": "drivelab.scanning",
    "Scans": "drivelab.scanning",
    "SizeScan": "drivelab.scanning",
    "scan": "drivelab.scanning",
    "scan_drives": "drivelab.scanning",
    "scan_sizes": "drivelab.scanning",
    "simulate": "drivelab.simulation",
    "Validation": "drivelab.validation",
    "validate": "drivelab.validation",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
