"""drivelab: a laboratory for disk drives under command queueing.

`simulate` runs a scenario in virtual time, `emulate` serves it as a block device in real time, `measure` runs its
workload on a real device, `crashtest` cuts the power under a program. `scan` takes a drive's usual figures, `check`
finds all that is wrong with a scenario, `catalogue` shows the drives that are known, `fit` makes a drive of
measurements, `validate` sets a drive beside the measurement of a real one, `reproduce` runs a published table again.
`compare` sets records of any kind beside each other, `library` keeps them, `trace` has functions for recorded traces.
`compare_levels` compares the levels of an array, `durability` finds how likely it loses data, `plan` which one to buy.
`answer` has ready answers to common questions.
The command `drivelab` does the same from a shell.
"""

import sys
from importlib import import_module
from types import ModuleType

# For those who check types, True; `typing` takes longer to load than all the rest here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from drivelab import trace
    from drivelab.answering import Answer, answer
    from drivelab.arrays.durability import Losses, durability
    from drivelab.arrays.levels import Comparison, compare_levels
    from drivelab.arrays.plan import Plan, plan
    from drivelab.comparison import Compared, compare
    from drivelab.contributing.contribute import Contribution, contribute
    from drivelab.crash.asked import crashtest
    from drivelab.crash.summary import CampaignResult
    from drivelab.errors import InputError, Interrupted, OutputError, RefusedError, RunError, ScenarioError
    from drivelab.experiment.call import reproduce
    from drivelab.fit.asked import fit
    from drivelab.fit.output import Report
    from drivelab.measuring.asked import measure
    from drivelab.measuring.run import MeasuredResult
    from drivelab.record_library.call import Records, library
    from drivelab.runs.emulated import Device, emulate
    from drivelab.runs.point import Point
    from drivelab.runs.result import Failure, Result, Skipped
    from drivelab.runs.simulation import simulate
    from drivelab.scanning import Scan, Scans, SizeScan, scan_drives, scan_sizes
    from drivelab.scanning.scan import scan
    from drivelab.scenarios.call import check, schema
    from drivelab.scenarios.catalogue import Facts, catalogue
    from drivelab.validating.validation import Validation, validate

    __version__: str

__all__ = [
    "Answer",
    "CampaignResult",
    "Compared",
    "Comparison",
    "Contribution",
    "Device",
    "Facts",
    "Failure",
    "InputError",
    "Interrupted",
    "Losses",
    "MeasuredResult",
    "OutputError",
    "Plan",
    "Point",
    "Records",
    "RefusedError",
    "Report",
    "Result",
    "RunError",
    "Scan",
    "Scans",
    "ScenarioError",
    "SizeScan",
    "Skipped",
    "Validation",
    "__version__",
    "answer",
    "catalogue",
    "check",
    "compare",
    "compare_levels",
    "contribute",
    "crashtest",
    "durability",
    "emulate",
    "fit",
    "library",
    "measure",
    "plan",
    "reproduce",
    "scan",
    "scan_drives",
    "scan_sizes",
    "schema",
    "simulate",
    "trace",
    "validate",
]

# Where each name is: its module is loaded when the name is first used, so that the command line starts at once.
_HOMES = {
    "__version__": "drivelab._core",
    "InputError": "drivelab.errors",
    "Interrupted": "drivelab.errors",
    "OutputError": "drivelab.errors",
    "RefusedError": "drivelab.errors",
    "RunError": "drivelab.errors",
    "ScenarioError": "drivelab.errors",
    "Answer": "drivelab.answering",
    "answer": "drivelab.answering",
    "Compared": "drivelab.comparison",
    "compare": "drivelab.comparison",
    "CampaignResult": "drivelab.crash.summary",
    "Contribution": "drivelab.contributing.contribute",
    "contribute": "drivelab.contributing.contribute",
    "crashtest": "drivelab.crash.asked",
    "Losses": "drivelab.arrays.durability",
    "durability": "drivelab.arrays.durability",
    "Device": "drivelab.runs.emulated",
    "emulate": "drivelab.runs.emulated",
    "Report": "drivelab.fit.output",
    "fit": "drivelab.fit.asked",
    "Comparison": "drivelab.arrays.levels",
    "compare_levels": "drivelab.arrays.levels",
    "Facts": "drivelab.scenarios.catalogue",
    "catalogue": "drivelab.scenarios.catalogue",
    "check": "drivelab.scenarios.call",
    "reproduce": "drivelab.experiment.call",
    "schema": "drivelab.scenarios.call",
    "MeasuredResult": "drivelab.measuring.run",
    "measure": "drivelab.measuring.asked",
    "Plan": "drivelab.arrays.plan",
    "plan": "drivelab.arrays.plan",
    "Point": "drivelab.runs.point",
    "Records": "drivelab.record_library.call",
    "library": "drivelab.record_library.call",
    "Failure": "drivelab.runs.result",
    "Result": "drivelab.runs.result",
    "Skipped": "drivelab.runs.result",
    "Scan": "drivelab.scanning",
    "Scans": "drivelab.scanning",
    "SizeScan": "drivelab.scanning",
    "scan": "drivelab.scanning",
    "scan_drives": "drivelab.scanning",
    "scan_sizes": "drivelab.scanning",
    "simulate": "drivelab.runs.simulation",
    "Validation": "drivelab.validating.validation",
    "validate": "drivelab.validating.validation",
}
# What a name is called there, where it has another.
_ELSEWHERE = {"__version__": "VERSION"}
# Modules that are names of the package themselves.
_MODULES = {"trace"}


class _Package(ModuleType):
    """The package: `fit` is a function of it, and the folder of that name is not."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set a name, unless the import of a folder would take the place of the function."""
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), _ELSEWHERE.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
