"""drivelab: a laboratory for disk drives under command queueing.

`simulate` runs a scenario in virtual time, `scan` takes a drive's usual figures, `check` finds all that is wrong
with a scenario, `catalogue` lists the drives that are known, `reproduce` runs a published table again, `validate`
sets a drive beside the measurement of a real one, `compare_levels` the levels of an array beside each other.
The command `drivelab` does the same from a shell.
"""

from drivelab import _core
from drivelab.errors import InputError, Interrupted, OutputError, RunError, ScenarioError
from drivelab.levels import Comparison, compare_levels
from drivelab.library import catalogue, check, reproduce, schema
from drivelab.point import Point
from drivelab.result import Failure, Result, Skipped
from drivelab.scanning import Scan, Scans, SizeScan, scan, scan_drives, scan_sizes
from drivelab.simulation import simulate
from drivelab.validation import Validation, validate

__version__ = _core.VERSION

__all__ = [
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
    "compare_levels",
    "reproduce",
    "scan",
    "scan_drives",
    "scan_sizes",
    "schema",
    "simulate",
    "validate",
]
