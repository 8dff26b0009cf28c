"""The load that `iostat -x` and `sar -d` print, with the columns of old and new sysstat.

kB and MB are 1024 and 1048576 bytes, sectors 512, times ms; a comma may stand for the point. Columns are known by
their names: `await` is of reads and writes together in old versions and in sar, `r_await`, `w_await` and `d_await` of
each. The first report of iostat is since the machine started, unless it ran with -y, which it does not say: of several
it is left out. Lines of averages of sar are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from drivelab.records.formats.over_time import LITTLE, Sample, points_of
from drivelab.records.formats.shape import KIB, MIB, NS_PER, Format, Found, Point, Results, Text, short
from drivelab.report.plural import counted

_SECTOR = 512.0
# Below this, two digits after the point are too few to tell a size from.
_ROUGH = 0.05
_COLUMNS: dict[str, tuple[str, float]] = {
    "r/s": ("read.iops", 1.0),
    "w/s": ("write.iops", 1.0),
    "d/s": ("trim.iops", 1.0),
    "tps": ("iops", 1.0),
    **{
        f"{one}kB/s": (f"{kind}.bytes_per_s", KIB)
        for one, kind in zip("rwd", ("read", "write", "trim"), strict=True)
    },
    **{
        f"{one}MB/s": (f"{kind}.bytes_per_s", MIB)
        for one, kind in zip("rwd", ("read", "write", "trim"), strict=True)
    },
    **{f"{one}sec/s": (f"{kind}.bytes_per_s", _SECTOR) for one, kind in (("r", "read"), ("w", "write"))},
    "rd_sec/s": ("read.bytes_per_s", _SECTOR),
    "wr_sec/s": ("write.bytes_per_s", _SECTOR),
    "await": ("mean", NS_PER["ms"]),
    "r_await": ("read.mean", NS_PER["ms"]),
    "w_await": ("write.mean", NS_PER["ms"]),
    "d_await": ("trim.mean", NS_PER["ms"]),
    "%util": ("busy", 0.01),
}
_COMMA = re.compile(r"(\d+),(\d+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_HEAD = re.compile(r"Linux (?P<release>\S+) \(")


def _iostat_header(line: str) -> list[str]:
    words = line.split()
    is_one = bool(words) and words[0].rstrip(":") == "Device" and {"r/s", "w/s", "%util"} <= set(words)
    return words if is_one else []


def _sar_header(line: str) -> list[str]:
    words = line.split()
    if "DEV" not in words or "tps" not in words or "await" not in words:
        return []
    return words[words.index("DEV") :]


def _fits(header: Callable[[str], list[str]]) -> Callable[[Text], bool]:
    return lambda text: any(map(header, text.lines))


def _sample(text: Text, number: int, columns: Sequence[str], words: Sequence[str]) -> Sample:
    found: dict[str, float] = {}
    for name, word in zip(columns, words, strict=True):
        if name in _COLUMNS:
            figure, factor = _COLUMNS[name]
            value = text.number(_COMMA.sub(r"\1.\2", word), number, name)
            kind, _, last = figure.rpartition(".")
            if last == "bytes_per_s" and value < _ROUGH and found.get(f"{kind}.iops"):
                # Rounded to next to nothing, as iostat -m prints slow devices.
                continue
            found[figure] = value * factor
    return found


def _iostat(text: Text) -> Found:
    reports: list[dict[str, Sample]] = []
    header: list[str] = []
    for number, line in text.numbered():
        if found := _iostat_header(line):
            header = found
            reports.append({})
            continue
        words = line.split()
        if not words:
            header = []
        elif header:
            if len(words) != len(header):
                raise text.fault(
                    number,
                    f"{short(line)} has {len(words)} columns, and the header {len(header)}: is the line cut?",
                )
            if words[0] in reports[-1]:
                raise text.fault(
                    number, f"{words[0][:40]} is there twice in one report: take the output as it was"
                )
            reports[-1][words[0]] = _sample(text, number, header[1:], words[1:])
    first = "the first report is left out: it is since the machine started, unless iostat ran with -y"
    if len(reports) == 1:
        first = "one report: it is since the machine started, unless iostat ran with -y"
    kept = reports[1:] or reports
    samples = {name: [one[name] for one in kept if name in one] for one in kept for name in one}
    return _found(text, "iostat", samples, [first, f"{counted(len(kept), 'report')} over time"])


def _sar(text: Text) -> Found:
    samples: dict[str, list[Sample]] = {}
    header: list[str] = []
    for number, line in text.numbered():
        if found := _sar_header(line):
            header = found
            continue
        words = line.split()
        if not words:
            header = []
        elif header:
            # The time before the device is one word or two, and has digits; that of an average has none.
            time = words[: -len(header)]
            own = words[-len(header) :]
            if (
                len(own) < len(header)
                or not 1 <= len(time) <= 2
                or _NUMBER.fullmatch(_COMMA.sub(r"\1.\2", own[0]))
            ):
                raise text.fault(
                    number, f"{short(line)} has {len(words)} words, which is no line of the table: is it cut?"
                )
            if any(one.isdigit() for one in time[0]):
                samples.setdefault(own[0], []).append(_sample(text, number, header[1:], own[1:]))
    most = max(map(len, samples.values()), default=0)
    return _found(text, "sar", samples, [f"up to {most} samples over time"])


def _found(text: Text, name: str, samples: dict[str, list[Sample]], notes: list[str]) -> Found:
    points: list[Point] = []
    idle = []
    for device, own in samples.items():
        found = points_of(device, own)
        points += found
        if not found:
            idle.append(device)
    if samples and not points:
        raise text.fault(None, "no device had an I/O in it: there is no load")
    if idle:
        more = f" and {len(idle) - 5} more" if len(idle) > 5 else ""
        notes.append(f"devices without an I/O are left out: {', '.join(one[:40] for one in idle[:5])}{more}")
    notes += [LITTLE, "a load: what was asked for, its pattern and the limit of its depth are unknown"]
    head = next((match["release"] for line in text.lines if (match := _HEAD.match(line))), "")
    return Results(name, name, points, "", "", {"kernel": head} if head else {}, notes).found()


FORMATS = (
    Format("iostat", "iostat -x", _fits(_iostat_header), _iostat),
    Format("sar", "sar -d", _fits(_sar_header), _sar),
)
