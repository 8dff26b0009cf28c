"""The stages of a fit, one after the other; each takes the draft of the previous one and reports its results.

The results of a stage are stored next to the output (`OUT.fit.json`), under a hash of all inputs: the same command
resumes from there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from drivelab import _core
from drivelab.fit.chain import SURE, Timed, timed
from drivelab.fit.draft import Draft
from drivelab.fit.fitted import AT_BOUND, FITTED, UNDECIDED, Fitted, Parameter, judged
from drivelab.fit.inputs import Flags, Numbers, Requests, Surface, Sweep
from drivelab.fit.mechanics import FORM, Model, chain_parameters, decided
from drivelab.fit.parameters import (
    average_seek,
    laid_over,
    number_of,
    overhead,
    seek_points,
)
from drivelab.fit.policy import fit_policy, seek_scale
from drivelab.fit.replaying import Replays, held_out
from drivelab.fit.sweeping import Sweeps
from drivelab.fit.trace_intervals import trace_intervals
from drivelab.fit.tracing import Tell, fit_trace
from drivelab.fit.zones import fit_surface
from drivelab.host.files import write_text

STATE_VERSION = 2
_LEAST_HITS = 10
_DRAWN = 200
_BENDS_WORTH = 12.0
_RATE_DOUBT = 0.001
_SAME = 1e-6
_ANGLES = "angles: the start's layout is the drive's, and tells the platter's angle of each request"
_NO_ANGLES = (
    "angles: the start's layout does not give the platter's angle of a request; skews and the order of tracks "
    "cannot be known from random requests, so rotation counts as random"
)
_NORMAL_90 = 3.29
_OF_CHAIN = "chain."
"""Parameters of the measurement, not of the drive."""
_DOUBTED = ("seek.average", "firmware.read_miss", "settle.scatter")


@dataclass(frozen=True)
class Measured:
    """The measurements for a fit."""

    traces: tuple[Requests, ...] = ()
    chains: tuple[Requests, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    surface: Surface | None = None
    known: tuple[str, ...] = ()
    hold_out: float = 0.5


@dataclass
class Found:
    """The results of the stages so far."""

    draft: Draft
    fitted: dict[str, Fitted] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sweep: list[dict[str, Any]] = field(default_factory=list)
    surface: list[dict[str, Any]] = field(default_factory=list)
    candidates: list[dict[str, Any]] = field(default_factory=list)
    guard_and_scatter: dict[str, float | None] = field(default_factory=dict)

    def add(self, fitted: Sequence[Fitted]) -> None:
        """Record fitted parameters; what a later stage moved replaces what an earlier one found."""
        for one in fitted:
            whole, _, part = one.key.rpartition(".")
            before = self.fitted.get(whole if part in {"after_read", "after_write"} else one.key)
            if before is not None and one.mark == UNDECIDED and abs(one.value - before.value) < _SAME:
                continue
            if before is not None:
                del self.fitted[before.key]
            self.fitted[one.key] = one

    def to_state(self) -> dict[str, Any]:
        """The state for the file next to the output."""
        return {
            "values": dict(self.draft.values),
            "fitted": [one.to_dict() for one in self.fitted.values()],
            **{name: getattr(self, name) for name in _PLAIN},
        }

    def from_state(self, state: Mapping[str, Any]) -> None:
        """Restore the results from a state."""
        self.draft = Draft(self.draft.name, self.draft.facts, self.draft.sources, state["values"])
        self.fitted = {one["key"]: Fitted(**one) for one in state["fitted"]}
        for name in _PLAIN:
            setattr(self, name, state[name])


_PLAIN = ("rules", "notes", "sweep", "surface", "candidates", "guard_and_scatter")


def run(measured: Measured, start: Draft, workers: int, state: Path | None, tell: Tell) -> Found:
    """Run all stages. Raises ScenarioError, RunError, and TraceError if the start cannot serve the requests."""
    found = Found(start)
    names = _wanted(measured)
    key = _key(measured, start)
    done = _resume(found, state, key)
    for place, name in enumerate(names):
        if name in done:
            continue

        def within(text: str, share: float, name: str = name, place: int = place) -> None:
            tell(f"{name}: {text}", (place + share) / len(names))

        within("begins", 0.0)
        _STAGES[name](found, measured, workers, within)
        done.append(name)
        if state is not None:
            write_text(
                state, json.dumps({"version": STATE_VERSION, "key": key, "done": done, **found.to_state()})
            )
    found.notes += [f"{one.key} is {one.note}" for one in found.fitted.values() if one.mark == AT_BOUND]
    return found


def _wanted(measured: Measured) -> list[str]:
    return [
        name
        for name, there in (
            ("surface", measured.surface is not None),
            ("chain", bool(measured.chains)),
            ("trace", bool(measured.traces)),
            ("sweep", bool(measured.sweeps)),
        )
        if there
    ]


def _key(measured: Measured, start: Draft) -> str:
    digest = hashlib.sha256(f"{_core.VERSION} {_core.MODEL_VERSION} {start.keys()}".encode())
    for one in (*measured.traces, *measured.chains):
        digest.update(one.text().encode())
    digest.update(repr((measured.sweeps, measured.surface, measured.known, measured.hold_out)).encode())
    return digest.hexdigest()


def _resume(found: Found, state: Path | None, key: str) -> list[str]:
    if state is None or not state.is_file():
        return []
    try:
        kept = json.loads(state.read_text(encoding="utf-8"))
        if kept["version"] == STATE_VERSION and kept["key"] == key:
            found.from_state(kept)
            return list(kept["done"])
    except (ValueError, KeyError, TypeError):
        pass
    return []


def _surface(found: Found, measured: Measured, _workers: int, _tell: Tell) -> None:
    assert measured.surface is not None  # noqa: S101 - the stage is left out else
    found.draft, fitted, found.surface = fit_surface(found.draft, measured.surface, measured.known)
    found.add(fitted)
    if not fitted:
        found.notes.append("rates: the start has zones of its own, which stay; --surface is not used")


def _chain(found: Found, measured: Measured, _workers: int, tell: Tell) -> None:
    """Fit the cache rule of writes, then period, overheads, seek curve and scatter of all chains together."""
    held = held_out_of(measured.chains, measured.hold_out)
    with Replays(joined(measured.chains), held) as replays:
        _writes(found, replays, measured.known)
        believed = found.draft
        for turn in range(2):
            # A layout from a data sheet depends on period and settle times: the second round has the right one.
            tell("period and phase, overheads, seek curve", 0.05 + 0.3 * turn)
            data = timed(replays, found.draft)
            model, centre = _best(found.draft, believed, data, measured.known, bends=turn > 0)
            found.draft = _with_numbers(found.draft, model.parameters, centre)
        tell("intervals", 0.6)
        data = timed(replays, found.draft)
        _decide(found, data, model)
        found.notes.append(_ANGLES if data.sharpness >= SURE else _NO_ANGLES)
        _hits(found, replays, data, measured.known)


def _writes(found: Found, replays: Replays, known: Sequence[str]) -> None:
    """Determine what a write waits for: the buffer, or the media."""
    requests, fitted = replays.requests, ~replays.held
    read, write = requests.time[requests.read & fitted], requests.time[~requests.read & fitted]
    if "write_cache" in known or len(write) < _LEAST_HITS:
        return
    period = 60_000 / number_of(found.draft, "rpm")
    typical = float(np.median(read)) if len(read) >= _LEAST_HITS else period
    cached = bool(np.median(write) < 0.5 * typical)
    if found.draft.writes_cached() != cached:
        found.draft = found.draft.having({"write_cache": cached})
        found.rules["write_cache"] = cached
        what = "the buffer" if cached else "the media"
        found.notes.append(f"cache rules: a write waits for {what}: write_cache = {str(cached).lower()}")


def _best(
    draft: Draft, believed: Draft, data: Timed, known: Sequence[str], *, bends: bool
) -> tuple[Model, Numbers]:
    """The model without or, if allowed, with a bent curve, whichever explains the chain better for its number of
    parameters.
    """
    options = list[tuple[Model, Numbers, float]]()
    for bent in (False, True)[: 1 + bends]:
        wanted = tuple(one for one in chain_parameters(believed, data, bends=bent) if one.key not in known)
        if options and len(wanted) == len(options[0][0].parameters):
            break
        model = Model(data, draft, wanted)
        centre, value = model.best()
        options.append((model, centre, value))
    model, centre, value = options[0]
    if len(options) > 1 and options[1][2] - value > _BENDS_WORTH:
        model, centre, _ = options[1]
    return model, centre


def _with_numbers(draft: Draft, parameters: Sequence[Parameter], centre: Numbers) -> Draft:
    return _laid(draft, dict(zip((one.key for one in parameters), centre.tolist(), strict=True)))


def _laid(draft: Draft, point: Mapping[str, float]) -> Draft:
    # A seek curve in another form replaces the current one as a whole.
    point = {key: value for key, value in point.items() if not key.startswith(_OF_CHAIN)}
    form = {key: value for key, value in point.items() if key in FORM}
    if form:
        point = {key: point.get(key, number_of(draft, key)) for key in FORM} | dict(point)
    return laid_over(draft, point)


def _decide(found: Found, data: Timed, model: Model) -> None:
    """Intervals of all parameters; undetermined ones return to the start's value, and the others are refitted."""
    bends = any(one.key.startswith("seek.bend.") for one in model.parameters)
    # The draft contains the numbers already: the model is built on them again, with the start's prior.
    before = {one.key: one for one in model.parameters}
    again = []
    for one in chain_parameters(found.draft, data, bends=bends):
        if one.key in before:
            belief = before[one.key]
            start = 0.0 if one.key.startswith("seek.bend.") else belief.start
            again.append(
                Parameter(one.key, start, belief.spread, one.low, max(one.high, belief.high), one.unit)
            )
    model = Model(data, found.draft, tuple(again))
    now = {
        one.key: one.start if one.key.startswith(("seek.bend.", _OF_CHAIN)) else _now(found.draft, one.key)
        for one in model.parameters
    }
    centre, _ = model.best(list((now | model.angles_tell()).values()))
    draws = model.sample(centre)
    if data.sharpness < SURE:
        # Angles on one track come from the start's rates, which are not exact.
        spread = _RATE_DOUBT * number_of(found.draft, "rpm")
        for place, one in enumerate(model.parameters):
            if one.key == "rpm":
                draws[:, place] += spread * np.random.default_rng(2).standard_normal(len(draws))
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    held = [
        one.key
        for place, one in enumerate(model.parameters)
        if not decided(one, low[place], high[place])
        and not one.key.startswith(("seek.bend.", _OF_CHAIN))
        # A start value that the data exclude does not remain.
        and low[place] <= before[one.key].start <= high[place]
    ]
    if held:
        point = _held_again(found, data, model, centre, {key: before[key].start for key in held})
        if not all(
            low[at] <= point[one.key] <= high[at]
            for at, one in enumerate(model.parameters)
            if not one.key.startswith(("seek.bend.", _OF_CHAIN))
        ):
            # What returned to the start pushes another number out of its interval: then nothing returns.
            held = []
    if not held:
        # The most probable value of a scarcely determined width is at its bound: the median is used instead.
        middle = np.median(draws, axis=0)
        point = dict(zip((one.key for one in model.parameters), middle.tolist(), strict=True))
    found.draft = _laid(found.draft, point)
    for place, one in enumerate(model.parameters):
        if not one.key.startswith(("seek.bend.", _OF_CHAIN)) and not (bends and one.key in FORM):
            ends = float(low[place]), float(high[place])
            sure = decided(one, *ends) or not ends[0] <= before[one.key].start <= ends[1]
            found.add(
                [
                    Fitted(one.key, point[one.key], *ends, UNDECIDED, one.unit)
                    if one.key in held
                    else judged(one, point[one.key], *ends, sure=sure)
                ]
            )
    if bends or found.draft.get("seek.table") is not None:
        found.add(_curve(found.draft, model, draws, data.cylinders))


def _held_again(
    found: Found, data: Timed, model: Model, centre: Numbers, held: Mapping[str, float]
) -> dict[str, float]:
    """All numbers where those of `held` are given: the others are fitted again to them."""
    rest = tuple(one for one in model.parameters if one.key not in held)
    fixed = _laid(found.draft, held)
    narrow = Model(timed_again(data, found.draft, fixed), fixed, rest)
    values, _ = narrow.best(
        [float(centre[place]) for place, one in enumerate(model.parameters) if one.key not in held]
    )
    values = np.median(narrow.sample(values), axis=0)
    return {**held, **dict(zip((one.key for one in rest), values.tolist(), strict=True))}


def timed_again(data: Timed, before: Draft, after: Draft) -> Timed:
    """The chain's parts after overheads of the draft have changed: the time besides seek and rotation shifts."""
    rest = data.rest.copy()
    for key, which in data.overheads.items():
        rest += np.where(which, overhead(after, key) - overhead(before, key), 0.0)
    return Timed(**{**data.__dict__, "rest": rest})


def _now(draft: Draft, key: str) -> float:
    return overhead(draft, key) if key.startswith("firmware.") else number_of(draft, key)


def _curve(draft: Draft, model: Model, draws: Numbers, cylinders: int) -> list[Fitted]:
    """A bent curve summarized by three seek times: over one cylinder, on average, full stroke."""
    at, time = seek_points(draft, cylinders)
    some = draws[np.linspace(0, len(draws) - 1, _DRAWN).astype(int)]
    seeks = []
    for row in some:
        point = dict(zip((one.key for one in model.parameters), row.tolist(), strict=True))
        seeks.append(_three(*seek_points(_laid(model.draft, point), cylinders), cylinders))
    now = _three(at, time, cylinders)
    # The three times of the median curve need not be the medians of the three times.
    low, high = np.quantile(np.array([*seeks, now]), [0.05, 0.95], axis=0)
    return [
        Fitted(
            key,
            value,
            min(float(low[place]), value),
            max(float(high[place]), value),
            FITTED,
            "ms",
            "of seek.table",
        )
        for place, (key, value) in enumerate(zip(FORM, now, strict=True))
    ]


def _three(at: Numbers, time: Numbers, cylinders: int) -> tuple[float, float, float]:
    single, full = np.interp([1, cylinders - 1], at, time)
    return float(single), average_seek(at, time, cylinders), float(full)


def _hits(found: Found, replays: Replays, data: Timed, known: Sequence[str]) -> None:
    """Overheads of requests served by the buffer: the median difference, with the interval of the median."""
    simulated = replays.simulated(found.draft)
    for key, which in (
        ("firmware.read_hit", data.hit & ~data.write),
        ("firmware.write_hit", data.hit & data.write),
    ):
        if key in known or which.sum() < _LEAST_HITS:
            continue
        off = (replays.requests.time - simulated)[which]
        draws = np.random.default_rng(1).choice(off, (400, len(off)))
        medians = np.median(draws, axis=1)
        source = key if found.draft.get(key) is not None else "firmware.write" if "write" in key else key
        start = overhead(found.draft, source)
        value, low, high = (
            max(start + float(x), 0.0) for x in (np.median(off), *np.quantile(medians, [0.05, 0.95]))
        )
        found.draft = laid_over(found.draft, {key: value})
        # The median of all need not lie among those of the draws, and none is below zero.
        low, high = min(low, value), max(high, value)
        one = Parameter(key, start, high - low, 0.0, max(start, value) + 3)
        found.add([judged(one, value, low, high, sure=True)])


def _trace(found: Found, measured: Measured, workers: int, tell: Tell) -> None:
    for requests in measured.traces:
        with Replays(requests, held_out(requests, measured.hold_out)) as replays:
            before = found.draft
            found.draft, point, rules = fit_trace(replays, before, measured.known, workers, tell)
            found.rules |= rules
            if found.draft.get("seek.table") is not None and before.get("seek.table") != found.draft.get(
                "seek.table"
            ):
                # The trace has bent the curve whose three times the chain had told.
                found.fitted = {key: one for key, one in found.fitted.items() if key not in FORM}
            tell("intervals", 0.98)
            found.add(trace_intervals(replays, before.having(rules), point, measured.known))


def _sweep(found: Found, measured: Measured, workers: int, tell: Tell) -> None:
    sweeps = Sweeps(measured.sweeps, workers)
    if not measured.chains and not measured.traces:
        scaled = seek_scale(sweeps, found.draft)
        if scaled is not None:
            found.draft, factor = scaled
            found.notes.append(
                f"a sweep alone tells the sum of overhead and seek: all seeks are {factor:.3f} times the start's; "
                "how seek and overhead share it, the data do not decide"
            )
    doubts = {
        key: (found.fitted[key].high - found.fitted[key].low) / _NORMAL_90
        for key in _DOUBTED
        if key in found.fitted and isinstance(found.draft.get(key), str)
    }
    policy = fit_policy(sweeps, found.draft, measured.known, tell, doubts)
    before = found.draft.get("queue.order"), found.draft.get("queue.chooses")
    found.draft, found.sweep, found.candidates = policy.draft, policy.rows, policy.candidates
    for key, was in zip(("queue.order", "queue.chooses"), before, strict=True):
        if (now := policy.draft.get(key)) != was and now is not None:
            found.rules[key] = now
    found.guard_and_scatter = policy.guard_and_scatter
    if policy.by_class is not None:
        found.notes.append(
            f"order: the firmware of {policy.by_class} explains the sweep; no number of it is fitted"
        )
    found.add(policy.fitted)


_STAGES = {"surface": _surface, "chain": _chain, "trace": _trace, "sweep": _sweep}


def joined(chains: Sequence[Requests]) -> Requests:
    """All chains as one list; the first request of each is not used, because the position of the arm before it is
    unknown.
    """
    names = ("read", "first", "count", "time", "gap")
    columns = {name: np.concatenate([getattr(one, name) for one in chains]) for name in names}
    return Requests(", ".join(one.name for one in chains), "chain", **columns)


def held_out_of(chains: Sequence[Requests], share: float) -> Flags:
    """The held-out parts of all chains."""
    return np.concatenate([held_out(one, share) for one in chains])
