"""What a disk reviewer measures first, simulated: rate over the surface, access time, burst rate, request sizes.

Each measurement is a workload and an evaluation of its points: surface.py, access.py, burst.py, sizes.py. at_once.py
explains the errors of a target that answers in zero time. Nothing here knows how a drive works: the figures are those
of the record. Start in scan.py, which runs them; several.py compares several drives, measure.py offers them to
experiments.
"""

from drivelab.scanning.access import Access
from drivelab.scanning.burst import Burst
from drivelab.scanning.fits import FirstOrder, Line
from drivelab.scanning.measure import MEASURES, Measure
from drivelab.scanning.scan import Scan, SizeScan, scan, scan_sizes
from drivelab.scanning.several import Scans, scan_drives
from drivelab.scanning.sizes import Sizes
from drivelab.scanning.surface import Surface

__all__ = [
    "MEASURES",
    "Access",
    "Burst",
    "FirstOrder",
    "Line",
    "Measure",
    "Scan",
    "Scans",
    "SizeScan",
    "Sizes",
    "Surface",
    "scan",
    "scan_drives",
    "scan_sizes",
]
