"""Why an entry is refused: each check is a function from the candidate to sentences; CHECKS lists them.

The bounds of the errors are those that tell a fit from a guess. A fit predicts loads that it has not seen within 2.8 %
(docs/how-to/fit.md, blind recovery), and what is known of a class of drives leaves a range of 20 to 50 % around the
rate of one of them (docs/reference/firmware-classes.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab import _core
from drivelab.contributing.measured import DEPTHS_LEAST, Measurement
from drivelab.errors import ref
from drivelab.report import toml_text

MEAN_ERROR_MOST = 0.05
"""Of the mean time of the chain's requests that the fit has not seen."""
RATE_ERROR_MOST = 0.10
"""Of the rate at each depth of the sweep."""
REQUESTS_LEAST = 200
"""At each depth of the sweep: with fewer, its rate is known to 5 % at best."""
CHAIN_LEAST = 400
"""With half of them held out, the mean of their times is known to 2 %."""
CHAIN_MOST = 100_000
"""The time of a replay grows with the chain, and a fit uses 20,000."""
POINTS_MOST = 64
"""Of the sweep: each is simulated."""
RPM = (3_000, 16_000)
TRACK_MOST_BYTES = 4_000_000
"""The longest tracks of drives of 2025 have 2.6 MB."""
CAPACITY_WITHIN = 0.01
_BASE_LEAST = 5
"""Characters of a designation; SE16, of the Caviars, is a family."""
_WORDS_LEAST = 4
"""Characters of words that name a drive without a designation."""
_SLACK = 1.1
"""For the error of a short measurement."""


@dataclass
class Candidate:
    """A drive that is to become an entry."""

    name: str
    facts: Mapping[str, Any]
    """The values of the drive file, by key."""
    measurement: Measurement
    capacity_bytes: int
    held_out: float | None = None
    """The error of the mean time of the chain's held-out part."""
    rates: list[dict[str, float]] = field(default_factory=list)
    """`depth`, `measured`, `simulated` and `error` of each depth of the sweep."""

    @property
    def rpm(self) -> float:
        """The spindle speed; 0 if the file has none."""
        stated = str(self.facts.get("rpm", "")).removesuffix("rpm").strip()
        return float(stated) if re.fullmatch(r"\d+(\.\d+)?", stated) else 0.0


def before_simulating(one: Candidate) -> list[str]:
    """Why it is refused by what is stated and measured."""
    return [text for check in CHECKS for text in check(one)]


def after_simulating(one: Candidate) -> list[str]:
    """Why it is refused by what the drive file predicts."""
    found = []
    if one.held_out is not None and not abs(one.held_out) <= MEAN_ERROR_MOST:
        found.append(
            f"the fit's held-out error is {100 * one.held_out:+.1f} %: the mean time of the chain's requests that it "
            f"has not seen may be off by {100 * MEAN_ERROR_MOST:.0f} %, about twice the worst of the blind recoveries; "
            "fit it again, with a longer chain if its errors are wide"
        )
    worst = max(one.rates, key=lambda rate: abs(rate["error"]), default=None)
    if worst is not None and not abs(worst["error"]) <= RATE_ERROR_MOST:
        found.append(
            f"at depth {worst['depth']:.0f} the drive file predicts {worst['simulated']:.1f} IOPS and the sweep has "
            f"{worst['measured']:.1f}, {100 * worst['error']:+.1f} %: an entry is within "
            f"{100 * RATE_ERROR_MOST:.0f} % at every depth, since its class alone, without any "
            "measurement, is within 20 to 50 %; fit it to this sweep"
        )
    return found


def _sweep(one: Candidate) -> Iterator[str]:
    depths = [rate.depth for rate in one.measurement.sweep]
    unused = f" (not used: {'; '.join(one.measurement.unused)})" if one.measurement.unused else ""
    if not depths:
        yield (
            "the sweep is missing: add sweep.record.json of `drivelab measure all` to the library and export it"
            f"{unused}"
        )
    elif len(depths) > POINTS_MOST:
        yield f"the sweep has {len(depths)} points: it takes {POINTS_MOST} at most"
    elif twice := sorted({depth for depth in depths if depths.count(depth) > 1}):
        yield f"the sweep has depth {', '.join(map(str, twice))} more than once: give each depth once"
    elif len(set(depths)) < DEPTHS_LEAST or depths[0] != 1:
        yield (
            f"the sweep has the depths {', '.join(map(str, depths))}: it takes {DEPTHS_LEAST} at least, and depth 1, "
            "to show what the queue gains"
        )
    elif not all(math.isfinite(rate.iops) and rate.iops > 0 for rate in one.measurement.sweep):
        yield "the sweep has a rate that is no rate: measure it again"
    elif (fewest := min(one.measurement.sweep, key=lambda rate: rate.requests)).requests < REQUESTS_LEAST:
        yield (
            f"the sweep has {fewest.requests} requests at depth {fewest.depth}: it takes {REQUESTS_LEAST} at least at "
            "each depth for a rate within the bounds; give `drivelab measure all` its 15 minutes"
        )


def _chain(one: Candidate) -> Iterator[str]:
    count = len(one.measurement.chain)
    if count < CHAIN_LEAST:
        yield (
            f"the chain has {count} requests: it takes {CHAIN_LEAST} at least, half of which the fit has not seen; add "
            "chain.record.json of `drivelab measure all` to the library and export it"
        )
    elif count > CHAIN_MOST:
        yield f"the chain has {count:,} requests: it takes {CHAIN_MOST:,} at most; give the first of them"
    elif (last := max(offset + size for offset, size, _, _ in one.measurement.chain)) > one.capacity_bytes:
        yield (
            f"the chain has a request that ends at {last:,} bytes, and drive.toml has {one.capacity_bytes:,}: correct "
            "geometry.capacity"
        )
    elif not all(math.isfinite(took) and took > 0 for _, _, _, took in one.measurement.chain):
        yield "the chain has a time that is none: measure it again"


def _identity(one: Candidate) -> Iterator[str]:
    for key in ("maker", "model", "interface"):
        if not str(one.facts.get(f"identity.{key}", "")).strip():
            yield f"identity.{key} is missing in drive.toml: state it, with its mark and source"
        elif not str(one.facts[f"identity.{key}"]).isprintable():
            yield f"identity.{key} in drive.toml has characters that cannot be printed: leave them out"
    if "firmware.class" not in one.facts and not any(key.startswith("queue.") for key in one.facts):
        yield "drive.toml says nothing of its queue: fit it with the sweep"


def _contradictions(one: Candidate) -> Iterator[str]:
    found = one.measurement
    yield from found.repeated
    if found.sizes and not found.models - {""}:
        yield (
            "no record names the model of the drive that was measured: measure the drive itself, such as /dev/sdb, "
            "and not a file"
        )
    if len(found.sizes) > 1:
        sizes = " and ".join(f"{size:,}" for size in sorted(found.sizes))
        yield f"the records are of drives of different capacities, {sizes} bytes: give those of one drive"
    if len(found.models) > 1:
        yield f"the records are of different drives, {' and '.join(sorted(map(repr, found.models)))}: give those of one"
    for size in sorted(found.sizes)[:1]:
        if abs(one.capacity_bytes / size - 1) > CAPACITY_WITHIN:
            yield (
                f"drive.toml has a capacity of {one.capacity_bytes:,} bytes, and {size:,} were measured: correct "
                "geometry.capacity, or measure the whole drive"
            )
    model = str(one.facts.get("identity.model", ""))
    for said in sorted(found.models - {""})[:1]:
        if model and not _is_same_model(model, said):
            yield (
                f"drive.toml is of {model!r:.80}, and the drive that was measured says that it is {said!r:.80}: "
                "identity.model has the designation that the drive itself gives"
            )
    if found.is_rotational == {False} and one.rpm:
        yield "the drive that was measured says that nothing turns in it, and drive.toml has an rpm"


def _is_same_model(stated: str, said: str) -> bool:
    """Whether two texts have the same designation; where one has none, whether its words are all in the other.

    ST4000DM004 is ST4000DM004-2CV104 too, and ST4000 is neither: what follows a - is the revision, which one of the
    texts may leave out.
    """
    one, other = _designation(stated), _designation(said)
    if one and other:
        is_whole = "".join(one) == "".join(other)
        return is_whole or (one[0] == other[0] and "" in {one[1], other[1]})
    shorter, longer = sorted((_words(stated), _words(said)), key=len)
    if shorter == longer:
        return bool(shorter.strip())
    return len(shorter.strip()) >= _WORDS_LEAST and shorter in longer


def _designation(text: str) -> tuple[str, str] | None:
    """The designation in a text, such as "Exos X16 ST16000NM001G", and its revision; None if it has none.

    It is the longest word of letters and digits: families have shorter ones.
    """
    found = []
    for word in re.findall(r"[A-Z0-9][A-Z0-9./_-]*", text.upper()):
        base, _, revision = re.sub(r"[./_-]", "-", word).partition("-")
        if not _is_base(base):
            base, revision = _bare(word), ""
        if _is_base(base):
            found.append((base.upper(), _bare(revision).upper()))
    return max(found, key=lambda one: len(one[0]), default=None)


def _is_base(text: str) -> bool:
    if len(text) < _BASE_LEAST or re.fullmatch(r"\d+([GT]B|RPM)", text, re.IGNORECASE):
        return False
    return bool(re.search(r"[A-Za-z]", text) and re.search(r"\d", text))


def _words(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def _plausible(one: Candidate) -> Iterator[str]:
    rpm = one.rpm
    if not RPM[0] <= rpm <= RPM[1]:
        yield f"rpm is {one.facts.get('rpm', 'missing')!r:.40}: drives turn {RPM[0]:,} to {RPM[1]:,} times a minute"
        return
    turns_per_s = rpm / 60
    for rate in one.measurement.sweep:
        most = (rate.depth + 1) * turns_per_s
        if rate.iops > _SLACK * most:
            yield (
                f"{rate.iops:.0f} IOPS at depth {rate.depth} are impossible at {rpm:.0f} rpm: the nearest of "
                f"{rate.depth} sectors anywhere on the turn is 1/{rate.depth + 1} of it away on average, which allows "
                f"{most:.0f}; a cache or another drive has answered"
            )
            break
    fastest = max((rate for _, rate in one.measurement.surface), default=0.0)
    if fastest / turns_per_s > TRACK_MOST_BYTES:
        yield (
            f"{fastest / 1e6:.0f} MB/s are impossible at {rpm:.0f} rpm: a track would hold "
            f"{fastest / turns_per_s / 1e6:.1f} MB, and none holds more than {TRACK_MOST_BYTES / 1e6:.0f} MB"
        )


def _is_there(one: Candidate) -> Iterator[str]:
    models = {str(one.facts.get("identity.model", "")), *one.measurement.models} - {""}
    for entry in _core.entries("drives"):
        name, place = entry["name"], f"catalogue/{entry['path']}"
        if name == one.name:
            yield (
                f"the catalogue has a drive of that name, {place}: give another by {ref('name')}, or correct "
                "that file"
            )
        elif any(_is_same_model(model, _model_of(entry["text"])) for model in models):
            yield f"the catalogue has this drive as {name} ({place}): add what is new to that file"


def _model_of(text: str) -> str:
    stated = toml_text.loads(text).get("identity", {}).get("model", "")
    return str(stated["value"] if isinstance(stated, Mapping) else stated)


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


CHECKS: Sequence[Callable[[Candidate], Iterator[str]]] = (
    _sweep,
    _chain,
    _identity,
    _contradictions,
    _plausible,
    _is_there,
)
