"""The result of a comparison in words: for each figure how many points differ and how far, then the threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivelab.comparison.difference import Difference, student, varying
from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text

if TYPE_CHECKING:
    from drivelab.comparison.beside import Beside, Compared

TITLES = {
    "iops": "IOPS",
    "bytes_per_s": "MB/s",
    "mean": "mean latency",
    "max": "max latency",
    "p99_9": "p99.9",
    "p99_99": "p99.99",
    "request_bytes": "size of an I/O",
    "in_flight": "outstanding I/Os",
    "busy": "busy",
}
# Up to this many places are named; otherwise they are counted.
_NAMED_MAX = 2
# From here on a ratio is easier to read than a share.
_TIMES = 9.0
_NEAR_ALL = -0.9
_DIRECTIONS = {"read.": "reads: ", "write.": "writes: "}


def title(figure: str) -> str:
    """The name of a figure for people."""
    for before, words in _DIRECTIONS.items():
        if figure.startswith(before):
            return words + title(figure.removeprefix(before))
    return TITLES.get(figure, figure)


def percent(share: float) -> str:
    """A signed share for people."""
    if share >= _TIMES:
        return f"x{1 + share:.3g}" if share < 1e6 else f"x{1 + share:.1e}"
    if -1 < share < _NEAR_ALL:
        # Two digits of the remainder: -100 % would say that nothing is left.
        return f"{100 * share:.{max(1 - math.floor(math.log10(100 * (1 + share))), 1)}f} %"
    text = f"{100 * share:+.{0 if abs(share) >= 0.995 else 1}f} %"
    return "0.0 %" if text in {"-0.0 %", "+0.0 %"} else text


@dataclass(frozen=True)
class Verdict:
    """The words, and whether the threshold is kept."""

    lines: list[str]
    holds: bool
    """True if there is no threshold."""
    counts: dict[str, int]
    """Figures within the threshold, beyond it, and open; points without a counterpart."""

    @classmethod
    def of(cls, compared: Compared) -> Verdict:
        """The verdict on all records compared with the first."""
        lines: list[str] = []
        counts = {"within": 0, "beyond": 0, "open": 0, "not_matched": 0}
        choice = compared.choice
        for beside in compared.besides:
            by_figure = {
                name: [one for one in beside.differences if one.figure == name] for name in beside.figures()
            }
            lines += [
                _line(beside, name, differences, choice.confidence)
                for name, differences in by_figure.items()
                if differences
            ]
            counts["not_matched"] += len(beside.lonely)
            if choice.threshold is not None:
                for one in beside.differences:
                    counts[one.judged(choice.threshold, worse_only=choice.worse_only)] += 1
        if choice.threshold is None:
            return cls(lines, holds=True, counts=counts)
        beyond = counts["beyond"] + (counts["open"] + counts["not_matched"] if choice.strict else 0)
        lines.append(_threshold_line(compared, counts))
        return cls(lines, holds=not beyond, counts=counts)


def _line(beside: Beside, name: str, differences: Sequence[Difference], confidence: float) -> str:
    """One figure at all places."""
    who, of = beside.other, beside.first
    before = f"{title(name)}: "
    if all(one.shown == "identical" for one in differences):
        return f"{before}no difference: {who} is the same as {of}"
    groups = {
        shown: [one for one in differences if one.shown == shown]
        for shown in ("more", "less", "none", "unknown", "identical")
    }
    if len(groups["none"]) + len(groups["identical"]) == len(differences):
        widest = max(max(abs(one.low or 0), abs(one.high or 0)) for one in differences)
        at = f" at any of {len(differences)} points" if len(differences) > 1 else ""
        return f"{before}no difference shown{at}; up to {percent(widest).lstrip('+')} is not excluded"
    parts = []
    for shown, word in (("more", "above"), ("less", "below")):
        if found := groups[shown]:
            better = {True: " (better)", False: " (worse)", None: ""}[found[0].is_better]
            parts.append(f"{who} {word} {of}{better}{_at(found, differences)} by {_range(found)}")
    if groups["unknown"]:
        parts.append(
            f"{who} against {of}{_at(groups['unknown'], differences)} {_range(groups['unknown'])}, without interval"
        )
    if found := groups["none"]:
        parts.append(f"no difference shown{_at(found, differences)}")
    if found := groups["identical"]:
        parts.append(f"the same{_at(found, differences)}")
    if (mean := _mean(differences, confidence)) and len(differences) > 1:
        parts.append(mean)
    return before + "; ".join(parts)


def _at(found: Sequence[Difference], differences: Sequence[Difference]) -> str:
    """The places, by name if they are few."""
    if len(differences) == 1:
        return ""
    axes = varying(differences)
    if len(found) > _NAMED_MAX or len(found) == len(differences) or not axes:
        return f" at {len(found)} of {len(differences)} points"
    places = [
        " ".join(f"{name} {axis_text(one.place[name])}" for name in axes if name in one.place)
        for one in found
    ]
    return f" at {' and '.join(places)}"


def _range(found: Sequence[Difference]) -> str:
    """Shares from the smallest to the largest; for a single one its interval as well."""
    shares = [one.share for one in found if one.share is not None]
    if not shares:
        return "from zero"
    if len(found) == 1 and found[0].low is not None and found[0].high is not None:
        return f"{percent(shares[0])} ({percent(found[0].low)} to {percent(found[0].high)})"
    texts = list(dict.fromkeys(percent(share) for share in (min(shares), max(shares))))
    return " to ".join(texts)


def _mean(differences: Sequence[Difference], confidence: float) -> str:
    """The geometric mean of the ratios, with an interval if each of them has an error."""
    shares = [one.share for one in differences if one.share is not None and one.share > -1]
    if len(shares) < len(differences):
        return ""
    mean = math.fsum(math.log1p(share) for share in shares) / len(shares)
    text = f"geometric mean {percent(math.expm1(mean))}"
    if not all(one.is_uncertain for one in differences):
        return text
    # Points of one record share random numbers, so their errors are treated as fully correlated.
    half = math.fsum((one.error or 0.0) * student(one.freedom, confidence) for one in differences) / len(
        differences
    )
    return f"{text} ({percent(math.expm1(mean - half))} to {percent(math.expm1(mean + half))})"


def _threshold_line(compared: Compared, counts: dict[str, int]) -> str:
    """How many figures are beyond the threshold, and the worst of them."""
    choice = compared.choice
    threshold = choice.threshold or 0.0
    total = sum(counts[name] for name in ("within", "beyond", "open"))
    worse = "worse by " if choice.worse_only else ""
    text = (
        f"threshold {worse}{100 * threshold:g} %: {counts['within']} of {counted(total, 'figure')} within it"
    )
    if counts["open"]:
        is_unknown = any(one.is_open for beside in compared.besides for one in beside.differences)
        text += (
            f", {counts['open']} open (the interval reaches beyond{', or is unknown' if is_unknown else ''})"
        )
    if not counts["beyond"]:
        return text
    far = [
        (abs(one.share if one.share is not None else math.inf), beside, one)
        for beside in compared.besides
        for one in beside.differences
        if one.judged(threshold, worse_only=choice.worse_only) == "beyond"
    ]
    _, beside, one = max(far, key=lambda each: each[0])
    share = "from zero" if one.share is None else percent(one.share)
    return (
        f"{text}, {counts['beyond']} beyond; the farthest is {title(one.figure)} of {beside.other}, {share}"
    )
