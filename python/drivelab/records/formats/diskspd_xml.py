"""DiskSpd's XML (`-Rxml`): the profile, then a `TimeSpan` with counts of each thread and target, and its latencies.

Counts are over `TestTimeSeconds`, times in ms, sizes in bytes. A `TimeSpan` within the profile has no results.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as Tree
from xml.etree.ElementTree import Element

from drivelab.records.formats.diskspd import Target, axes_of
from drivelab.records.formats.shape import (
    NS_PER,
    Format,
    Found,
    Results,
    Text,
    Value,
    half_digit,
    percentiles,
    settled,
)
from drivelab.records.model import PERCENTILES

_BEGIN = "<Results>"
_KINDS = {"Read": "read.", "Write": "write."}


def _fits(text: Text) -> bool:
    return _BEGIN in text.text and "<TimeSpan>" in text.text


def _read(text: Text) -> Found:
    root = _root(text)
    spans = root.findall("TimeSpan")
    if not spans:
        raise text.fault(None, "there is no TimeSpan with results in it: did DiskSpd end with an error?")
    targets = [[*_targets(text, one)] for one in root.findall("Profile/TimeSpans/TimeSpan")]
    notes: list[str] = []
    points = []
    for at, span in enumerate(spans):
        # A profile with other time spans than those that ran is of another run.
        own = targets[at] if len(targets) == len(spans) else []
        threads = _whole(text, span, "ThreadCount")
        points.append(settled(axes_of(own, threads, notes), _figures(text, span, notes)))
    version = (root.findtext("System/Tool/Version") or "").strip()
    target = ", ".join(one.path for one in targets[0]) if targets else ""
    program = f"DiskSpd {version}" if version else ""
    notes.append("no interval: DiskSpd prints one run")
    return Results("diskspd-xml", "diskspd", points, program, target, notes=notes).found()


def _root(text: Text) -> Element:
    begin = text.text.find(_BEGIN)
    if "<!DOCTYPE" in text.text or "<!ENTITY" in text.text:
        raise text.fault(None, "the XML declares entities, which DiskSpd's does not")
    end = text.text.rfind("</Results>")
    if begin < 0 or end < 0:
        raise text.cut("the end of the element Results")
    line = text.text.count("\n", 0, begin)
    try:
        # Entities, which could make it grow, are refused above.
        return Tree.fromstring(text.text[begin : end + len("</Results>")])  # noqa: S314
    except Tree.ParseError as error:
        raise text.fault(
            line + error.position[0], f"this is no XML: {str(error).partition(':')[0]}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise text.fault(None, "this is no XML that can be read") from error


def _number(text: Text, element: Element, name: str) -> Value | None:
    """The number in an element below another; None if there is none."""
    found = element.findtext(name)
    if found is None or not found.strip():
        return None
    try:
        return Value(text.number(found, 0, name), half_digit(found))
    except ValueError as error:
        raise text.fault(None, f"{name} is {found.strip()[:40]!r}, no number from 0 on") from error


def _whole(text: Text, element: Element, name: str) -> int | None:
    found = _number(text, element, name)
    return None if found is None else int(found.value)


def _targets(text: Text, span: Element) -> Iterator[Target]:
    shared = _whole(text, span, "ThreadCount")
    for one in span.findall("Targets/Target"):
        found = Target((one.findtext("Path") or "").strip())
        found.bs = _whole(text, one, "BlockSize")
        found.outstanding = _whole(text, one, "RequestCount")
        found.threads = None if shared else _whole(text, one, "ThreadsPerFile")
        if one.find("Random") is not None:
            # With a ratio only a part of the I/Os is at random places.
            found.is_random = True if one.find("RandomRatio") is None else None
        elif (
            one.find("StrideSize") is not None
            and (one.findtext("InterlockedSequential") or "false") == "false"
        ):
            found.is_random = False
        writes = _whole(text, one, "WriteRatio")
        if writes is not None and writes <= 100:
            found.kind = {0: "read", 100: "write"}.get(writes, "rw")
            found.reads_percent = 100 - writes if found.kind == "rw" else None
        if one.findtext("DisableOSCache") == "true" or one.findtext("DisableAllCache") == "true":
            found.more["direct"] = 1
        if _whole(text, one, "Throughput"):
            found.more["rate"] = f"{(one.findtext('Throughput') or '').strip()}"
        if _whole(text, one, "ThinkTime"):
            found.more["thinktime"] = f"{(one.findtext('ThinkTime') or '').strip()}ms"
        yield found


def _figures(text: Text, span: Element, notes: list[str]) -> dict[str, Value]:
    seconds = _number(text, span, "TestTimeSeconds")
    if seconds is None or not seconds.value:
        raise text.fault(None, "TestTimeSeconds is missing or 0: a rate needs it")
    found: dict[str, Value] = {}
    of_all = 0.0
    for kind, before in _KINDS.items():
        threads = [one for one in span.findall("Thread/Target") if one.find(f"{kind}Count") is not None]
        ios = sum(_value(text, one, f"{kind}Count") for one in threads)
        if not ios:
            continue
        of_all += ios
        size = sum(_value(text, one, f"{kind}Bytes") for one in threads)
        share = seconds.rounding / seconds.value
        for name, count in (("iops", ios), ("bytes_per_s", size)):
            rate = count / seconds.value
            found[f"{before}{name}"] = Value(rate, rate * share)
        found |= _times(text, span, kind, before, ios)
    if not found:
        raise text.fault(None, "no thread made an I/O: there is nothing to compare")
    if len({name.partition(".")[0] for name in found if "." in name}) > 1:
        found |= _times(text, span, "Total", "", of_all)
    if not any(name.endswith("mean") for name in found):
        notes.append("no response times: DiskSpd measures them with -L")
    return found


def _value(text: Text, element: Element, name: str) -> float:
    found = _number(text, element, name)
    return 0.0 if found is None else found.value


def _times(text: Text, span: Element, kind: str, before: str, ios: float) -> dict[str, Value]:
    """Mean, percentiles and maximum of a kind, in ns."""
    found: dict[str, Value] = {}
    mean = _number(text, span, f"Latency/Average{kind}Milliseconds")
    if mean is not None:
        found[f"{before}mean"] = _ns(mean)
    names = {f"{100 * share:.10g}": name for name, share in PERCENTILES.items()} | {"100": "max"}
    there: dict[str, Value] = {}
    for bucket in span.findall("Latency/Bucket"):
        at, value = _number(text, bucket, "Percentile"), _number(text, bucket, f"{kind}Milliseconds")
        if at is not None and value is not None and (name := names.get(f"{at.value:.10g}")):
            there[name] = _ns(value)
    found |= percentiles(there, ios, before)
    if "max" in there:
        found[f"{before}max"] = there["max"]
    return found


def _ns(value: Value) -> Value:
    return Value(value.value * NS_PER["ms"], value.rounding * NS_PER["ms"])


FORMATS = (Format("diskspd-xml", "DiskSpd's XML", _fits, _read),)
