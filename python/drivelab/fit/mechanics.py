"""Period, overheads, seek curve and scatter of a drive from a chain, with intervals: the likelihood and its posterior.

The likelihood of a time is that of `chain.py`, with the arrival normally distributed around overhead and seek; one time
in a hundred may be an outlier of any value. The prior comes from the start: a normal distribution around each of its
values. The posterior is sampled; a parameter is determined by the data if its 90 % interval is less than half as wide
as that of the prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import optimize
from scipy.special import ndtr

from drivelab.fit.chain import HOST_MS, HOST_USUAL, LEAST_JITTER, RPM_DOUBT, SURE, Timed, off_whole_turns
from drivelab.fit.draft import Draft
from drivelab.fit.fitted import Parameter
from drivelab.fit.inputs import Flags, Numbers
from drivelab.fit.parameters import longer_settle, number_of, overhead, seek_points
from drivelab.fit.sampling import ensemble
from drivelab.fit.seek_curve import KNOTS, LEE, ROOT_LINE, hats, lee, root_line, runs_through

_OUTLIERS = 0.01
_WALKERS = 40
_STEPS = 800
_NORMAL_90 = 3.29
_LEAST_SCATTER = 0.004
_STILL = 0.015
_PAIRS_RIGHT = 0.8
_ANGLES_RIGHT = 0.95
_SWITCHES = 0.2
"""The prior deviation of a switch to the next track from the start's value, in ms."""
_CLOSE = 0.04
_STRETCH_MAX = 0.02
_CLOSING_IN = (0.02, 0.012, 0.008, 0.005, 0.003, 0.002, 0.001)
_GRID = 15
_NO_ANGLE = 0.1
_BEND_SPREAD = 0.06
TRACK = "chain.track"
"""The factor by which the angle between two blocks of a track differs from the start's: rates do not determine it to
the percent.
"""
HOST = "chain.host"
"""The time of the host from a completion to its next request: it is part of no response time, while the platter
rotates.
"""
STRETCH = "chain.stretch"
"""The share by which measured times are too long: a machine that wakes up later after a longer wait looks like a slower
platter. Over a revolution it is as large as the jitter of the times may be.
"""
_ANGLES = ("rpm", TRACK, HOST, STRETCH)
FORM = ("seek.single", "seek.average", "seek.full")


def chain_parameters(draft: Draft, data: Timed, *, bends: bool) -> list[Parameter]:
    """The parameters that a chain may determine, with their priors from `draft`."""
    rpm = number_of(draft, "rpm")
    found = [Parameter("rpm", rpm, RPM_DOUBT * rpm, 0.95 * rpm, 1.05 * rpm, "rpm")]
    for key, which in data.overheads.items():
        if (which & data.media).any():
            start = overhead(draft, key)
            found.append(Parameter(key, start, 0.2 + 0.4 * start, 0.0, start + 3))
    if data.write[data.media].any():
        start = number_of(draft, "settle.write_settle")
        found.append(Parameter("settle.write_settle", start, 0.2 + 0.4 * start, 0.0, start + 3))
    if draft.get("seek.table") is None and draft.get("seek.single") is not None:
        for key, share in zip(FORM, (0.3, 0.25, 0.25), strict=True):
            start = number_of(draft, key)
            found.append(Parameter(key, start, share * start + 0.05, 0.05, 5 * start))
    else:
        bends = True
    if bends:
        longest = float(seek_points(draft, data.cylinders)[1].max())
        spread = _BEND_SPREAD * longest
        found += [Parameter(f"seek.bend.{k}", 0.0, spread, -longest, longest) for k in range(len(KNOTS))]
    if data.sharpness < SURE and data.aligned.any():
        found.append(Parameter(TRACK, 1.0, 0.04, 0.8, 1.25, ""))
    if data.aligned.any():
        usual = (data.host, 0.1) if data.sharpness >= SURE else HOST_USUAL
        found.append(Parameter(HOST, *usual, *HOST_MS))
    if data.sharpness >= SURE:
        found.append(Parameter(STRETCH, 0.0, data.jitter(), -_STRETCH_MAX, _STRETCH_MAX, ""))
    start = number_of(draft, "settle.scatter")
    found.append(Parameter("settle.scatter", start, 0.1 + start, _LEAST_SCATTER, 2.0))
    return found


@dataclass(frozen=True)
class _Served:
    """The requests of a chain that the media serve: what each likelihood needs of them."""

    write: Flags
    late: Numbers
    """The time less the rest."""
    distance: Numbers
    moves: Flags
    still: Numbers
    goes: Flags
    """An arm that does not move has the small fixed scatter `_STILL`."""
    overheads: dict[str, Flags]
    together: Numbers
    crosses: Numbers
    aligned: Flags
    turn: Numbers
    """Of those whose angle is known, as `since`."""
    since: Numbers

    @classmethod
    def of(cls, data: Timed) -> _Served:
        """Those of a chain."""
        which, aligned = data.media, data.media & data.aligned
        return cls(
            write=data.write[which],
            late=data.time[which] - data.rest[which],
            distance=data.distance[which],
            moves=data.moves[which],
            still=data.still[which],
            goes=data.moves[which] | (data.still[which] > 0),
            overheads={key: named[which] for key, named in data.overheads.items()},
            together=data.together[which],
            crosses=data.crosses[which],
            aligned=data.aligned[which],
            turn=data.turn[aligned],
            since=data.since[aligned],
        )


@dataclass(frozen=True)
class Model:
    """The log posterior of parameters, given a chain."""

    data: Timed
    draft: Draft
    parameters: tuple[Parameter, ...]
    blur: float = 0.0
    """The additional scatter of arrivals in ms."""
    jitter: float = LEAST_JITTER
    """The smallest blur of angles as a fraction of a revolution."""

    # What is the same for all rows: a fit asks for thousands of likelihoods.
    @cached_property
    def _served(self) -> _Served:
        return _Served.of(self.data)

    @cached_property
    def _beliefs(self) -> tuple[Numbers, ...]:
        return tuple(
            np.array([getattr(one, name) for one in self.parameters])
            for name in ("start", "spread", "low", "high")
        )

    @cached_property
    def _keys(self) -> list[str]:
        return [one.key for one in self.parameters]

    @cached_property
    def _drafted(self) -> dict[str, float]:
        """The draft's numbers that a parameter may replace."""
        numbers = ("rpm", "settle.write_settle", "settle.scatter", "settle.head_switch")
        return {key: number_of(self.draft, key) for key in numbers} | {
            key: overhead(self.draft, key) for key in self.data.overheads
        }

    @cached_property
    def _form(self) -> dict[str, float] | None:
        """The three seek times of the draft, if they are its curve."""
        if self.draft.get("seek.table") is None and self.draft.get("seek.single") is not None:
            return {key: number_of(self.draft, key) for key in FORM}
        return None

    @cached_property
    def _shape(self) -> str:
        """The form of the curve through them."""
        return ROOT_LINE if self.draft.get("seek.form") == ROOT_LINE else LEE

    @cached_property
    def _longer(self) -> float:
        return longer_settle(self.draft)

    @cached_property
    def _basis(self) -> Numbers:
        """The seek of each request: per millisecond of each seek time, or with the draft's curve."""
        distance, cylinders = self._served.distance, self.data.cylinders
        if self._form is not None and self._shape == LEE:
            return np.array([lee(distance, cylinders, *np.eye(3)[k]) for k in range(3)])
        return np.interp(distance, *seek_points(self.draft, cylinders))

    @cached_property
    def _hats(self) -> Numbers:
        return hats(self._served.distance, self.data.cylinders)

    def prior(self, rows: Numbers) -> Numbers:
        """The log prior; minus infinity outside of the bounds."""
        start, spread, low, high = self._beliefs
        inside = ((rows >= low) & (rows <= high)).all(axis=1)
        column = {key: rows[:, place] for place, key in enumerate(self._keys)}
        if any(key in column for key in FORM):
            inside &= runs_through(self._shape, self._three_times(column, len(rows)), self._longer)
        value = -0.5 * (((rows - start) / spread) ** 2).sum(axis=1)
        return np.where(inside, value, -np.inf)

    def log_density(self, rows: Numbers) -> Numbers:
        """The posterior of each row, up to a constant."""
        value = self.prior(rows)
        good = np.isfinite(value)
        if good.any():
            value[good] += self.likelihood(rows[good])
        return value

    def likelihood(self, rows: Numbers) -> Numbers:
        """The log likelihood of each row."""
        served = self._served
        column = {key: rows[:, place] for place, key in enumerate(self._keys)}

        def of(key: str) -> Numbers:
            if key in column:
                return column[key][:, None]
            return np.full((len(rows), 1), self._drafted[key])

        period = 60_000 / of("rpm")
        shift = np.zeros((len(rows), len(served.late)))
        for key, named in served.overheads.items():
            if key in column:
                shift += np.where(named, of(key) - self._drafted[key], 0.0)
        seek = np.where(
            served.moves,
            np.maximum(self._seek(column, len(rows)), 0.0)
            + np.where(served.write, of("settle.write_settle"), 0.0),
            served.still,
        )
        scatter = np.maximum(of("settle.scatter"), _LEAST_SCATTER)
        scatter = np.hypot(scatter, self.blur) if self.blur else scatter
        goes = served.goes
        arrives = served.late - shift
        still = np.hypot(_STILL, self.blur)
        peak = self._on_whole_turns(column, period)
        if self.data.sharpness >= SURE:
            density = self._waits(arrives - seek, np.where(goes, scatter, still), period, slice(None))
            density *= _PAIRS_RIGHT * peak + (1 - _PAIRS_RIGHT)
        else:
            together = served.together
            near = together > 0
            settles = np.where(served.write[near], of("settle.write_settle"), 0.0)
            switch = self._drafted["settle.head_switch"] + settles
            apart = self._waits(arrives[:, near] - switch, np.hypot(scatter, _SWITCHES), period, near)
            same = self._waits(arrives[:, near], still, period, near)
            same *= _ANGLES_RIGHT * peak[:, near] + (1 - _ANGLES_RIGHT)
            density = np.empty_like(arrives)
            density[:, near] = together[near] * same + (1 - together[near]) * apart
            width = np.where(goes[~near], scatter, still)
            density[:, ~near] = self._waits((arrives - seek)[:, ~near], width, period, ~near)
        # Of an outlier only is known that it is shorter than some revolutions.
        floor = _OUTLIERS / (4 * period)
        return np.asarray(np.log((1 - _OUTLIERS) * density + floor).sum(axis=1))

    def _waits(self, late: Numbers, width: Numbers, period: Numbers, places: Flags | slice) -> Numbers:
        """The density of times that are later than the arrival by `late`: uniform over a revolution with blurred edges;
        those that cross a track end are later by the time of that.
        """
        crosses = self._served.crosses[places]

        def within(late: Numbers) -> Numbers:
            return np.asarray(ndtr(late / width) - ndtr((late - period) / width))

        found = within(late)
        if crosses.any():
            found = (1 - crosses) * found + crosses * within(late - self.data.crossing)
        return found / period

    def _on_whole_turns(self, column: dict[str, Numbers], period: Numbers) -> Numbers:
        """The likelihood ratio of a time by the angle from end to end to a uniform distribution; 1 if no angle is
        known.

        The jitter of the measuring clock is estimated from the data.
        """
        aligned = self._served.aligned
        found = np.ones((len(period), len(aligned)))
        if not aligned.any():
            return found
        off = self._off_whole_turns(column, period)
        jitter = np.maximum(_typical(np.abs(off)), self.jitter)
        found[:, aligned] = np.exp(-0.5 * (off / jitter) ** 2) / (np.sqrt(2 * np.pi) * jitter)
        return found

    def _off_whole_turns(self, column: dict[str, Numbers], period: Numbers) -> Numbers:
        """The deviation of each time with a known angle from whole revolutions and that angle, as a fraction of a
        revolution.
        """
        turn, since = self._served.turn, self._served.since
        if TRACK in column:
            turn = ((turn + 0.5) % 1.0 - 0.5) * column[TRACK][:, None]
        host = column[HOST][:, None] if HOST in column else self.data.host
        if STRETCH in column:
            since = since * (1 - column[STRETCH][:, None])
        return off_whole_turns(since + host, turn, period)

    def _three_times(self, column: Mapping[str, Numbers], rows: int) -> Numbers:
        form = self._form or {}
        return np.column_stack([column[key] if key in column else np.full(rows, form[key]) for key in FORM])

    def _seek(self, column: dict[str, Numbers], rows: int) -> Numbers:
        if self._form is not None:
            three = self._three_times(column, rows)
            if self._shape == ROOT_LINE:
                time = root_line(self._served.distance, self.data.cylinders, three, self._longer)
            else:
                time = three @ self._basis
        else:
            time = np.broadcast_to(self._basis, (rows, len(self._basis)))
        if "seek.bend.0" in column:
            bends = np.column_stack([column[f"seek.bend.{k}"] for k in range(len(KNOTS))])
            time = time + bends @ self._hats.T
        return np.asarray(time)

    def best(self, begin: Sequence[float] | None = None) -> tuple[Numbers, float]:
        """The most probable values, and the log posterior there."""
        point = np.array(begin if begin is not None else self._roughly())
        scale = np.array([one.spread for one in self.parameters])

        def cost(scaled: Numbers) -> float:
            value = float(self.log_density((scaled * scale)[None, :])[0])
            return -value if np.isfinite(value) else 1e12

        found = point / scale
        for _ in range(3):
            line = optimize.minimize(
                cost, found, method="Powell", options={"maxiter": 6, "xtol": 1e-3, "ftol": 1e-7}
            )
            simplex = optimize.minimize(
                cost,
                line.x,
                method="Nelder-Mead",
                options={"maxfev": 900, "xatol": 1e-4, "fatol": 1e-3, "adaptive": True},
            )
            gain = cost(found) - simplex.fun
            found = simplex.x
            if gain < 0.05:
                break
        return found * scale, -cost(found)

    def _roughly(self) -> list[float]:
        """The starting point: with arrivals blurred so far that those of the start are covered, and the period from the
        angles.
        """
        begin = {one.key: one.start for one in self.parameters} | self.angles_tell()
        arrivals = [one for one in self.parameters if one.key not in {*_ANGLES, "settle.scatter"}]
        for wide in (1.5, 0.6, 0.25):
            begin |= replace(self, blur=wide, jitter=_CLOSE)._line_search(begin, arrivals)
        if "settle.scatter" in begin:
            begin["settle.scatter"] = max(begin["settle.scatter"], 0.25)
        return [begin[one.key] for one in self.parameters]

    def angles_tell(self) -> dict[str, float]:
        """The period and the parameters that depend on it from the angles alone: a narrow valley, found by successively
        refined grids.
        """
        some = [one for one in self.parameters if one.key in _ANGLES]
        if not self.data.aligned.any() or not some:
            return {}
        centre, reach = (np.array([getattr(one, name) for one in some]) for name in ("start", "spread"))
        low, high = (np.array([getattr(one, name) for one in some]) for name in ("low", "high"))
        reach = 3 * reach
        for blur in _CLOSING_IN:
            lines = [np.linspace(-1, 1, _GRID)] * len(some)
            rows = centre + reach * np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, len(some))
            rows = np.clip(rows, low, high)
            column = {one.key: rows[:, place] for place, one in enumerate(some)}
            rpm = column.get("rpm", np.full(len(rows), number_of(self.draft, "rpm")))
            off = self._off_whole_turns(column, 60_000 / rpm[:, None])
            score = np.log(np.exp(-0.5 * (off / blur) ** 2) / blur + _NO_ANGLE).sum(axis=1)
            for place, one in enumerate(some):
                score -= 0.5 * ((rows[:, place] - one.start) / one.spread) ** 2
            centre, reach = rows[int(np.argmax(score))], reach / 1.8
        return dict(zip((one.key for one in some), centre.tolist(), strict=True))

    def _line_search(self, begin: Mapping[str, float], searched: Sequence[Parameter]) -> dict[str, float]:
        """Improve these numbers by line searches, with the others fixed."""
        keys, scale = [one.key for one in searched], np.array([one.spread for one in searched])

        def cost(scaled: Numbers) -> float:
            point = {**begin, **dict(zip(keys, scaled * scale, strict=True))}
            value = float(self.log_density(np.array([[point[one.key] for one in self.parameters]]))[0])
            return -value if np.isfinite(value) else 1e12

        x0 = np.array([begin[key] for key in keys]) / scale
        options = {"maxiter": 4, "xtol": 1e-2, "ftol": 1e-5}
        found = optimize.minimize(cost, x0, method="Powell", options=options)
        return dict(zip(keys, (found.x * scale).tolist(), strict=True))

    def sample(self, centre: Numbers, seed: int = 1) -> Numbers:
        """Draws from the posterior, one per row."""
        spread = np.array([one.spread for one in self.parameters])
        low, high = (np.array([getattr(one, name) for one in self.parameters]) for name in ("low", "high"))
        draw = np.random.default_rng(seed)
        start = centre + 0.03 * spread * draw.standard_normal((_WALKERS, len(centre)))
        start = np.clip(start, low + 1e-6 * spread, high - 1e-6 * spread)
        bad = ~np.isfinite(self.prior(start))
        start[bad] = centre
        return ensemble(self.log_density, start, _STEPS, seed)


def _typical(off: Numbers) -> Numbers:
    """The robust standard deviation of the close ones of each row, by their median; `_CLOSE` if there is none."""
    close = off < _CLOSE
    count = close.sum(axis=1)
    ordered = np.sort(np.where(close, off, np.inf), axis=1)
    rows, last = np.arange(len(off)), np.maximum(count - 1, 0)
    middle = (ordered[rows, last // 2] + ordered[rows, (last + 1) // 2]) / 2
    return np.where(count > 0, 1.4826 * middle, _CLOSE)[:, None]


def decided(one: Parameter, low: float, high: float) -> bool:
    """Whether the data have narrowed the prior's interval to less than half."""
    return high - low < 0.5 * _NORMAL_90 * one.spread
