"""The stage of a chain: the cache rule of writes, then period, overheads, seek curve and scatter, with intervals.

What the chain does not decide returns to the start's value, and the rest is fitted again to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from drivelab.fit.chain import SURE, Timed, timed
from drivelab.fit.draft import Draft
from drivelab.fit.fitted import FITTED, UNDECIDED, Fitted, Parameter, judged
from drivelab.fit.inputs import Numbers
from drivelab.fit.mechanics import FORM, Model, chain_parameters, decided
from drivelab.fit.parameters import laid_over, number_of, overhead, seek_points
from drivelab.fit.replaying import Replays
from drivelab.fit.results import Found, Measured, held_out_of, joined
from drivelab.fit.seek_curve import average_seek
from drivelab.fit.seek_form import may_change_form, with_other_form
from drivelab.fit.tracing import Tell

_LEAST_HITS = 10
_DRAWN = 200
_BENDS_WORTH = 12.0
_FORM_WORTH = 12.0
"""So much larger is the log posterior of a form that the chain decides."""
_RATE_DOUBT = 0.001
_ANGLES = "angles: the start's layout is the drive's, and tells the platter's angle of each request"
_NO_ANGLES = (
    "angles: the start's layout does not give the platter's angle of a request; skews and the order of tracks "
    "cannot be known from random requests, so rotation counts as random"
)
_OF_CHAIN = "chain."
"""Parameters of the measurement, not of the drive."""


def fit_chain(found: Found, measured: Measured, _workers: int, tell: Tell) -> None:
    """Fit the cache rule of writes, then period, overheads, seek curve and scatter of all chains together."""
    held = held_out_of(measured.chains, measured.hold_out)
    with Replays(joined(measured.chains), held) as replays:
        _writes(found, replays, measured.known)
        believed = found.draft
        for turn in range(2):
            # A layout from a data sheet depends on period and settle times: the second round has the right one.
            tell("period and phase, overheads, seek curve", 0.05 + 0.3 * turn)
            data = timed(replays, found.draft)
            model, centre, form = _best(found.draft, believed, data, measured.known, last=turn > 0)
            found.draft = _with_numbers(model.draft, model.parameters, centre)
        found.form_is(form, "the chain", believed, measured.known)
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
    draft: Draft, believed: Draft, data: Timed, known: Sequence[str], *, last: bool
) -> tuple[Model, Numbers, str | None]:
    """The model that explains the chain best; the last time also with the other form of the curve, or a bent one, which
    counts if it is worth more than its parameters; then also the form that the chain decides, None if it decides none.
    """
    wanted = tuple(one for one in chain_parameters(believed, data, bends=False) if one.key not in known)
    model = Model(data, draft, wanted)
    centre, value = model.best()
    if not last:
        return model, centre, None
    decided_form = None
    if (other := _with_other_form(draft, wanted, centre, known)) is not None:
        tried = Model(data, other, wanted)
        near = zip((one.key for one in wanted), centre, strict=True)
        begin = [number_of(other, key) if key in FORM else float(x) for key, x in near]
        at, found = tried.best(begin)
        if abs(found - value) > _FORM_WORTH:
            better = other if found > value else draft
            decided_form = str(better.get("seek.form"))
            model, centre, value = (tried, at, found) if found > value else (model, centre, value)
    wanted = tuple(one for one in chain_parameters(believed, data, bends=True) if one.key not in known)
    if len(wanted) > len(model.parameters):
        bent = Model(data, model.draft, wanted)
        at, found = bent.best()
        if found - value > _BENDS_WORTH:
            return bent, at, decided_form
    return model, centre, decided_form


def _with_other_form(
    draft: Draft, wanted: Sequence[Parameter], centre: Numbers, known: Sequence[str]
) -> Draft | None:
    """The drive with the other form through three times near these; None where the form is no question."""
    if not may_change_form(draft, known) or not all(key in {one.key for one in wanted} for key in FORM):
        return None
    at = dict(zip((one.key for one in wanted), centre.tolist(), strict=True))
    return with_other_form(draft, *(at[key] for key in FORM))


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
        middle = _middle(model, draws)
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
    values = _middle(narrow, narrow.sample(values))
    return {**held, **dict(zip((one.key for one in rest), values.tolist(), strict=True))}


def _middle(model: Model, draws: Numbers) -> Numbers:
    """The median of each number; where no curve runs through the three times then, the draw that is nearest to it."""
    middle = np.median(draws, axis=0)
    if np.isfinite(model.prior(middle[None])[0]):
        return middle
    spread = np.array([one.spread for one in model.parameters])
    return np.asarray(draws[int(np.argmin((((draws - middle) / spread) ** 2).sum(axis=1)))])


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
