"""Converts a profile of DiskSpd in XML to a scenario: what `diskspd -X` reads and VM Fleet writes.

Each element of the time span and of its target stands for an option of the command line, and is taken as that option,
so that a job means the same however it is written. An element that is missing is what the option is when it is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from drivelab.diskspd.meaning import PROFILE, Given, WrongError, converted
from drivelab.diskspd.options import take
from drivelab.diskspd.xml import Node, XmlError, root_of
from drivelab.errors import InputError
from drivelab.scenarios.converted import Converted, told

# Possessive, so that each comment is passed over once, whatever follows.
_BEGIN = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--.*?-->\s*+)*+<(?:!DOCTYPE\s++)?(?:[\w.-]++:)?(?:Profile|Results)\b",
    re.DOTALL,
)

# Elements that are taken as they are, as an option with their text behind it.
_OPTIONS = {
    "BlockSize": "-b",
    "WriteRatio": "-w",
    "FileSize": "-c",
    "BurstSize": "-i",
    "ThinkTime": "-j",
    "Duration": "-d",
    "Warmup": "-W",
}
# The same, where 0 is as if they were missing.
_OR_NOTHING = {"BaseFileOffset": "-B", "MaxFileSize": "-f", "RandSeed": "-z", "StrideSize": "-s"}
# What must be switched off, and what can be done.
_SWITCHED_OFF = {
    "IOPriority": "-I",
    "ParallelAsyncIO": "-p",
    "MemoryMappedIo": "-N",
    "FlushType": "-N",
    "ThreadStride": "-T",
}
_REFUSED = {
    "ThreadTargets": "threads that use one target or another: leave it out, or give ThreadsPerFile",
    "ExperimentFlags": "experimental behaviour of DiskSpd: leave it out",
}
# Taken with others, below.
_TOGETHER = {
    "Random", "RandomRatio", "Distribution", "InterlockedSequential", "DisableOSCache", "DisableAllCache",
    "DisableLocalCache", "WriteThrough", "Throughput", "ThreadsPerFile", "ThreadCount", "RequestCount", "Path",
    "TimeSpans", "Targets",
}  # fmt: skip
# What changes nothing of a drive: hints, processors, the machine's memory, the bytes, output, and what comes after.
_IDLE = {
    "SequentialScan", "RandomAccess", "TemporaryFile", "UseLargePages", "WriteBufferContent", "Weight", "Cooldown",
    "RandomWriteData", "GroupAffinity", "Affinity", "DisableAffinity", "CompletionRoutines", "MeasureLatency",
    "CalculateIopsStdDev", "IoBucketDuration", "Verbose", "VerboseStats", "Progress", "ResultFormat", "ETW",
    "PrecreateFiles",
}  # fmt: skip
_OFF = {"", "0", "false"}
# The priority that every I/O has.
_NORMAL = ("IOPriority", "3")


def _is_off(node: Node) -> bool:
    """Whether an element says false, in letters of either size."""
    return node.text.lower() in _OFF


@dataclass
class _Reading:
    """A profile while it is read."""

    given: Given = field(default_factory=Given)
    problems: list[tuple[int, str]] = field(default_factory=list)

    def wrong(self, node: Node, why: str) -> None:
        self.problems.append((node.line, f"{node.name}: {why}"))

    def take(self, node: Node, option: str) -> None:
        """Take over an element as the option of the command line that it stands for."""
        try:
            take(option, self.given)
        except WrongError as wrong:
            self.wrong(node, str(wrong))

    def number(self, node: Node | None, least: int = 0) -> int | None:
        """The whole number in an element; None if there is none."""
        if node is None:
            return None
        if not re.fullmatch(r"[0-9]{1,19}", node.text) or int(node.text) < least:
            self.wrong(node, f"{node.text[:20]!r}: a whole number from {least} is wanted")
            return None
        return int(node.text)

    def is_on(self, node: Node | None) -> bool:
        """Whether an element says true, which is all that DiskSpd takes for it; a problem if it may mean it."""
        if node is None or _is_off(node):
            return False
        if node.text.lower() != "true":
            self.wrong(node, f"{node.text[:20]!r}: DiskSpd takes only true as on: give true or false")
        return True


def is_profile(text: str) -> bool:
    """Whether a text is a profile of DiskSpd in XML, or its results, which begin with one."""
    return _BEGIN.match(text) is not None


def scenario_of(text: str, origin: str, given: Mapping[str, str] | None = None) -> Converted:
    """The scenario of a profile. Raises InputError with all problems, each with its line and element.

    `given` are the keys that are set beside the file: with a cache of the host, I/Os may go through the system's.
    """
    try:
        root = root_of(text)
    except XmlError as error:
        raise InputError(f"{origin}:{error.line}: {error}") from error
    if root.name == "Results":
        raise InputError(
            f"{origin}:{root.line}: results of DiskSpd, no job: compare them with `drivelab compare`, or give the "
            "element Profile in them a file of its own"
        )
    reading = _Reading()
    span = _only(reading, root, "TimeSpans", "TimeSpan")
    target = _only(reading, span, "Targets", "Target") if span is not None else None
    result = Converted("")
    if span is not None and target is not None:
        _sort_out(reading, root, {"TimeSpans"})
        _span(reading, span, target)
        try:
            result = converted(reading.given, PROFILE, given or {})
        except WrongError as wrong:
            reading.wrong(target, str(wrong))
    if reading.problems:
        raise told([f"{origin}:{line}: {what}" for line, what in sorted(reading.problems)])
    return result


def _only(reading: _Reading, parent: Node, outer: str, inner: str) -> Node | None:
    """The one element of a list of them; a problem if there are none or several."""
    found = [one for lists in parent.all(outer) for one in lists.all(inner)]
    if not found:
        reading.wrong(parent, f"there is no {outer}/{inner} in it: is it a profile of DiskSpd?")
        return None
    if len(found) > 1:
        reading.wrong(
            found[1],
            f"a second {inner}: a scenario has one; give each a profile of its own, and leave out the others",
        )
        return None
    return found[0]


def _sort_out(reading: _Reading, parent: Node, known: set[str]) -> None:
    """Name what changes nothing, and refuse what there is twice or what nobody knows."""
    seen: set[str] = set()
    for node in parent.children:
        if node.name in seen:
            reading.wrong(node, "there is a second one: keep one")
        seen.add(node.name)
        if node.name in _IDLE:
            if not _is_off(node) or node.children:
                reading.given.idle[node.name] = None
        elif node.name in _REFUSED:
            if not _is_off(node) or node.children:
                reading.wrong(node, _REFUSED[node.name])
        elif node.name not in known:
            reading.wrong(node, "DiskSpd has no such element here: leave it out")


def _span(reading: _Reading, span: Node, target: Node) -> None:
    """Take over the time span and its target."""
    _sort_out(reading, span, {"Targets", "Duration", "Warmup", "RandSeed", "ThreadCount", "RequestCount"})
    _sort_out(reading, target, {*_OPTIONS, *_OR_NOTHING, *_SWITCHED_OFF, *_TOGETHER} - {"Duration", "Warmup"})
    if (path := target.one("Path")) is None or not path.text:
        reading.wrong(target, "there is no Path in it: give the file or the drive that it names")
    else:
        reading.given.targets.append(path.text)
    if (block := target.one("BlockSize")) is not None and reading.number(block, 1):
        reading.take(block, f"-b{block.text}")
    for node in (*span.children, *target.children):
        name = node.name
        if name in _OPTIONS and name != "BlockSize" and reading.number(node) is not None:
            reading.take(node, f"{_OPTIONS[name]}{node.text}")
        elif name in _OR_NOTHING and name != "StrideSize" and reading.number(node):
            reading.take(node, f"{_OR_NOTHING[name]}{node.text}")
        elif name in _SWITCHED_OFF and not _is_off(node) and (name, node.text) != _NORMAL:
            reading.take(node, f"{_SWITCHED_OFF[name]}{node.text}")
    for take_part in (_order, _caching, _rate):
        take_part(reading, target)
    _threads(reading, span, target)


def _order(reading: _Reading, target: Node) -> None:
    """Random or sequential; beside Random a stride means nothing."""
    random, ratio, places = target.one("Random"), target.one("RandomRatio"), target.one("Distribution")
    interlocked = target.one("InterlockedSequential")
    stride = target.one("StrideSize")
    if random is None:
        for node in (ratio, places):
            if node is not None:
                reading.wrong(node, "it belongs to random I/O: give Random too, or leave it out")
        if stride is not None and reading.number(stride):
            reading.take(stride, f"-s{stride.text}")
        if reading.is_on(interlocked):
            reading.take(interlocked or target, "-si")
        return
    if reading.number(random, 1) is not None:
        reading.take(random, f"-r{random.text}")
    if ratio is not None and reading.number(ratio) is not None:
        reading.take(ratio, f"-rs{ratio.text}")
    if places is not None:
        _distribution(reading, places)
    if reading.is_on(interlocked):
        reading.take(interlocked or target, "-si")


def _distribution(reading: _Reading, places: Node) -> None:
    kinds = {"Percent": "pct", "Absolute": "abs"}
    (kind, *more) = places.children or [places]
    ranges = list(kind.all("Range"))
    if more or kind.name not in kinds or not ranges or len(ranges) != len(kind.children):
        reading.wrong(places, "a distribution is an element Percent or Absolute with elements Range in it")
        return
    pairs = [f"{one.attributes.get('IO', '')}/{one.text}" for one in ranges]
    reading.take(places, f"-rd{kinds[kind.name]}{':'.join(pairs)}")


def _caching(reading: _Reading, target: Node) -> None:
    on = {
        name
        for name in ("DisableOSCache", "DisableAllCache", "WriteThrough")
        if reading.is_on(target.one(name))
    }
    letters = ("u" if on & {"DisableOSCache", "DisableAllCache"} else "") + (
        "w" if on - {"DisableOSCache"} else ""
    )
    reading.take(target, f"-S{letters or 'b'}")


def _rate(reading: _Reading, target: Node) -> None:
    node = target.one("Throughput")
    if node is None or not reading.number(node):
        return
    unit = node.attributes.get("unit", "BPMS")
    if unit not in {"BPMS", "IOPS"}:
        reading.wrong(node, f"unit {unit[:20]!r}: there are IOPS and BPMS, bytes a millisecond")
        return
    reading.take(node, f"-g{node.text}{'i' if unit == 'IOPS' else ''}")


def _threads(reading: _Reading, span: Node, target: Node) -> None:
    """How many threads, and what each has outstanding: of all targets together, or of this one."""
    total, each = span.one("ThreadCount"), span.one("RequestCount")
    own, own_each = target.one("ThreadsPerFile"), target.one("RequestCount")
    if reading.number(total):
        own = total
        own_each = each if reading.number(each) else own_each
    elif each is not None and reading.number(each):
        reading.wrong(each, "it belongs to ThreadCount: give that too, or the RequestCount of the target")
    for node, option in ((own, "-t"), (own_each, "-o")):
        if node is not None and reading.number(node, 1) is not None:
            reading.take(node, f"{option}{node.text}")
