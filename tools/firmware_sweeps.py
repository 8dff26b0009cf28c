"""The measured sweeps over depth, and access times, that the firmware classes rest on.

They are facts of the sources that are named in catalogue/classes, each beside the mechanics of the drive's data sheet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import drivelab

Keys = Mapping[str, Any]


def sheet(single: str, average: str, full: str) -> dict[str, str]:
    """The seek times of a data sheet, with the curve of the classes sata-desktop and mobile."""
    return {"single": single, "average": average, "full": full, "form": "root-line", "longer_settle": "10%"}


@dataclass(frozen=True, eq=False)
class Sweep:
    """A drive's measured I/Os per second, or another rate, over its depth, and its mechanics from its data sheet."""

    name: str
    class_name: str
    drive: Keys
    block: str
    measured: Mapping[int, float]
    # The first addresses that were read, where it was not the whole drive.
    size: str = "100%"
    # p99 over the mean at the deepest.
    tail: float | None = None

    def points(self, queue: Keys) -> Sequence[Mapping[str, Any]]:
        """Random reads by the model at the measured depths."""
        scenario = {
            "target": {"drive": self.drive, "queue": dict(queue)},
            "workload": {
                "rw": "randread",
                "bs": self.block,
                "iodepth": list(self.measured),
                "size": self.size,
            },
            "run": {"warmup": "10s", "ios": 10_000},
        }
        return drivelab.simulate(scenario).points

    def errors(self, queue: Keys) -> dict[int, float]:
        """Logarithm of measured over predicted rate, by depth."""
        model = self.points(queue)
        return {
            depth: math.log(rate / point["iops"])
            for (depth, rate), point in zip(self.measured.items(), model, strict=True)
        }


def unnamed(capacity: str, rate: str, seek: Keys, year: int, form_factor: str, link: str) -> Keys:
    """A drive of which no more is known than its size, its maker's seek times, and how it is built in the main."""
    return {
        "rpm": "7200rpm",
        "queue": {"protocol": "ncq", "depth": 32},
        "geometry": {"capacity": capacity, "heads": 4, "outer_rate": rate, "inner_to_outer": "50%"},
        "link": {"rate": link},
        "identity": {"year": year, "form_factor": form_factor},
        "seek": seek,
    }


def based(name: str, seek: Keys) -> Keys:
    """A drive of the catalogue with the seek times of its data sheet."""
    return {"base": name, "seek": seek} if seek else {"base": name}


# Figures of the sources that are named in catalogue/classes.
SWEEPS = (
    Sweep(
        "samsung-f1-1tb",
        "sata-desktop",
        based("samsung-f1-1tb", sheet("1.0ms", "8.9ms", "18ms")),
        "4KiB",
        {1: 72.05, 2: 72.69, 4: 75.44, 8: 86.54, 16: 110.98, 32: 131.01},
        tail=876.6 / 244.19,
    ),
    Sweep(
        "unnamed-500gb",
        "sata-desktop",
        unnamed("500GB", "100MB/s", sheet("0.8ms", "8.9ms", "18ms"), 2008, "3.5in", "300MB/s"),
        "4KiB",
        {1: 69.82, 2: 70.26, 4: 82.05, 8: 93.83, 16: 104.84, 32: 113.64},
        tail=1069.5 / 281.51,
    ),
    Sweep(
        "hitachi-travelstar-7k100-100gb",
        "mobile",
        unnamed("100GB", "55MB/s", sheet("1.0ms", "10ms", "20ms"), 2006, "2.5in", "150MB/s"),
        "4KiB",
        {1: 58.58, 2: 59.83, 4: 64.73, 8: 72.21, 16: 77.38, 32: 82.23},
        tail=1451.2 / 389.05,
    ),
    Sweep(
        "seagate-st3250620as",
        "sata-desktop",
        based("seagate-st3250620as", sheet("1.0ms", "8.5ms", "17.7ms")),
        "128KiB",
        {1: 64.0, 2: 65.6, 4: 69.6},
    ),
    Sweep(
        "maxtor-maxline-iii",
        "sata-desktop",
        based("maxtor-maxline-iii", sheet("1.0ms", "9.3ms", "18.6ms")),
        "4KiB",
        {1: 99.25, 32: 171.25},
        size="32GiB",
    ),
    Sweep(
        "wd-22tb",
        "sata-nearline",
        based("wd-ultrastar-dc-hc580-24tb", {}),
        "128KiB",
        {1: 82.0, 2: 88.0, 4: 97.2, 8: 115.4, 16: 141.0, 32: 165.6},
        tail=323 * 165.6 / 32_000,
    ),
)
# Rates of data sheets at one depth: the errors of the class with the access time.
SHEETS = (
    Sweep(
        "wd-ultrastar-dc-hc580-24tb",
        "sata-nearline",
        based("wd-ultrastar-dc-hc580-24tb", {}),
        "4KiB",
        {32: 212.0},
    ),
    Sweep("seagate-exos-x24-24tb", "sata-nearline", based("seagate-exos-x24-24tb", {}), "4KiB", {16: 168.0}),
)
SCSI = Sweep(
    "seagate-10k-scsi-74gb",
    "scsi",
    based("seagate-10k-scsi-74gb", {}),
    "128KiB",
    {1: 108.8, 2: 124.8, 4: 143.2},
)
# Reads per second of the Toshiba DT01ACA200 with their p50 in ms.
DT = {
    20: 17.15,
    26: 17.15,
    33: 18.51,
    39: 19.69,
    46: 22.26,
    52: 24.4,
    59: 26.35,
    65: 28.89,
    72: 34.73,
    78: 39.87,
    85: 51.75,
    91: 62.21,
    98: 79.51,
    104: 88.53,
}
DT_NAME = "toshiba-dt01aca200"


@dataclass(frozen=True)
class Access:
    """The measured time of one random read at a time in ms, beside the mean seek of the data sheet."""

    name: str
    measured: float
    seek: float
    rpm: float
    # The overhead of the class, and the transfer, in ms.
    rest: float
    source: str

    def error(self) -> float:
        """Logarithm of measured over predicted rate."""
        return math.log((self.seek + 30_000 / self.rpm + self.rest) / self.measured)


HD_TACH = "HD Tach's random access"
ACCESSES = (
    Access("samsung-f1-1tb", 13.85, 8.9, 7200, 0.34, "fio"),
    Access("unnamed-500gb", 14.32, 8.9, 7200, 0.34, "fio"),
    Access("hitachi-travelstar-7k100-100gb", 17.05, 10.0, 7200, 0.38, "fio"),
    Access(
        "seagate-st3250620as", 13.85, 8.5, 7200, 0.3, "the part of a read that does not grow with its size"
    ),
    Access("wd-wd6400aaks", 12.9, 8.9, 7200, 0.3, "HD Tune"),
    Access("wd-wd2500", 13.4, 8.9, 7200, 0.3, HD_TACH),
    Access("samsung-sp2504c", 15.55, 8.9, 7200, 0.3, HD_TACH),
    Access("maxtor-maxline-iii", 13.8, 9.3, 7200, 0.3, "an access time of a review"),
    Access("seagate-barracuda-7200-12", 17.0, 8.5, 7200, 0.3, HD_TACH + ", techreport.com/review/17183"),
    Access("toshiba-mk1652gsx", 17.95, 12.0, 5400, 0.4, "a chain of 500 reads"),
    Access("wd-raptor-74gb", 8.06, 4.5, 10_000, 0.32, "fio"),
    Access("wd-22tb", 12.2, 7.4, 7200, 0.65, "fio, 128 KiB; the seek of the Ultrastar DC HC310"),
    Access(
        "seagate-10k-scsi-74gb", 7.7, 4.7, 10_000, 0.2, "as of the ST3250620AS; the seek of the Cheetah 10K.6"
    ),
)
