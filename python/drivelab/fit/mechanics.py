"""Period, overheads, seek curve and scatter of a drive from a chain, with intervals: the likelihood and its posterior.

The likelihood of a time is that of `chain.py`, with the arrival normal around overhead and seek; one time in a hundred
may be anything (an outlier). Beliefs before the measurement come from the start: a normal distribution around each of
its values. The posterior is sampled; a parameter is decided where its 90 % interval is less than half as wide
as before.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize
from scipy.special import ndtr

from drivelab.fit.chain import SURE, Timed
from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Numbers
from drivelab.fit.parameters import KNOTS, Parameter, hats, lee, number_of, overhead, seek_points
from drivelab.fit.sampling import ensemble

_OUTLIERS = 0.01
_WALKERS = 40
_STEPS = 800
_NORMAL_90 = 3.29
_LEAST_SCATTER = 0.004
_STILL = 0.015
_PAIRS_RIGHT = 0.8
_CLOSE = 0.04
_BETWEEN = 0.02
_BEND_SPREAD = 0.06
TRACK = "chain.track"
"""How much longer than the start's the angle between two blocks of a track is: rates do not tell it to the per cent."""
FORM = ("seek.single", "seek.average", "seek.full")


def chain_parameters(draft: Draft, data: Timed, *, bends: bool) -> list[Parameter]:
    """What a chain may decide, with what is believed of it by `draft`."""
    rpm = number_of(draft, "rpm")
    found = [Parameter("rpm", rpm, 0.01 * rpm, 0.95 * rpm, 1.05 * rpm, "rpm")]
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
    start = number_of(draft, "settle.scatter")
    found.append(Parameter("settle.scatter", start, 0.1 + start, _LEAST_SCATTER, 2.0))
    return found


@dataclass(frozen=True)
class Model:
    """The log posterior of parameters, given a chain."""

    data: Timed
    draft: Draft
    parameters: tuple[Parameter, ...]
    blur: float = 0.0
    """Milliseconds by which arrivals scatter beside what is fitted."""

    def prior(self, rows: Numbers) -> Numbers:
        """What was believed before, and minus infinity beyond what may be."""
        start, spread, low, high = (
            np.array([getattr(one, name) for one in self.parameters])
            for name in ("start", "spread", "low", "high")
        )
        inside = ((rows >= low) & (rows <= high)).all(axis=1)
        keys = [one.key for one in self.parameters]
        if all(key in keys for key in FORM):
            single, average, full = (rows[:, keys.index(key)] for key in FORM)
            inside &= (single < 0.95 * average) & (average < 0.95 * full)
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
        data, which = self.data, self.data.media
        column = {one.key: rows[:, place] for place, one in enumerate(self.parameters)}

        def of(key: str) -> Numbers:
            if key in column:
                return column[key][:, None]
            default = overhead(self.draft, key) if key.startswith("firmware.") else number_of(self.draft, key)
            return np.full((len(rows), 1), default)

        period = 60_000 / of("rpm")
        write, time = data.write[which], data.time[which]
        shift = np.zeros((len(rows), int(which.sum())))
        for key, named in data.overheads.items():
            shift += np.where(named[which], of(key) - overhead(self.draft, key), 0.0)
        seek = np.where(
            data.moves[which],
            np.maximum(self._seek(column, len(rows)), 0.0) + np.where(write, of("settle.write_settle"), 0.0),
            data.still[which],
        )
        late = time - data.rest[which] - shift - seek
        # An arm that stays where it is comes when it is told to.
        goes = data.moves[which] | (data.still[which] > 0)
        width = np.where(goes, np.maximum(of("settle.scatter"), _LEAST_SCATTER), _STILL)
        width = np.hypot(width, self.blur) if self.blur else width
        inside = ndtr(late / width) - ndtr((late - period) / width)
        density = inside / period
        aligned = data.aligned[which]
        if aligned.any():
            # On whole turns; the jitter of the clock that timed it is taken from the data.
            turn = data.turn[which][aligned]
            if TRACK in column:
                turn = ((turn + 0.5) % 1.0 - 0.5) * column[TRACK][:, None]
            off = (data.since[which][aligned] / period - turn + 0.5) % 1.0 - 0.5
            close = np.where(np.abs(off) < _CLOSE, off, np.nan)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a row without any close pair
                centre = np.nan_to_num(np.nanmedian(close, axis=1, keepdims=True))
                # The host takes some time between two requests, and not much.
                off = off - np.clip(centre, -_BETWEEN / period, _BETWEEN / period)
                jitter = 1.4826 * np.nanmedian(
                    np.abs(np.where(np.isnan(close), np.nan, off)), axis=1, keepdims=True
                )
            jitter = np.maximum(np.nan_to_num(jitter, nan=_CLOSE), 2e-4)
            peak = np.exp(-0.5 * (off / jitter) ** 2) / (np.sqrt(2 * np.pi) * jitter)
            # A layout may hold for most pairs and not for all: a pair on two tracks that the start has on one.
            density[:, aligned] *= _PAIRS_RIGHT * peak + (1 - _PAIRS_RIGHT)
        # Nothing is known of an outlier but that it is shorter than some turns.
        floor = _OUTLIERS / (4 * period)
        return np.asarray(np.log((1 - _OUTLIERS) * density + floor).sum(axis=1))

    def _seek(self, column: dict[str, Numbers], rows: int) -> Numbers:
        data, which = self.data, self.data.media
        distance = data.distance[which]
        if self.draft.get("seek.table") is None and self.draft.get("seek.single") is not None:
            basis = np.array([lee(distance, data.cylinders, *np.eye(3)[k]) for k in range(3)])
            form = np.column_stack(
                [column.get(key, np.full(rows, number_of(self.draft, key))) for key in FORM]
            )
            time = form @ basis
        else:
            at, curve = seek_points(self.draft, data.cylinders)
            time = np.broadcast_to(np.interp(distance, at, curve), (rows, len(distance)))
        if "seek.bend.0" in column:
            bends = np.column_stack([column[f"seek.bend.{k}"] for k in range(len(KNOTS))])
            time = time + bends @ hats(distance, data.cylinders).T
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
        """Where to begin: with arrivals blurred until the start's are in sight, and the period that the angles
        tell.
        """
        begin = {one.key: one.start for one in self.parameters}
        if "rpm" in begin:
            begin["rpm"] = 60_000 / self.data.period
        searched = [one for one in self.parameters if one.key not in {"rpm", "settle.scatter"}]
        scale = np.array([one.spread for one in searched])
        for wide in (1.5, 0.6, 0.25):
            blurred = replace(self, blur=wide)

            def cost(scaled: Numbers, blurred: Model = blurred, begin: dict[str, float] = begin) -> float:
                point = begin | dict(zip((one.key for one in searched), scaled * scale, strict=True))
                value = float(blurred.log_density(np.array([[point[one.key] for one in self.parameters]]))[0])
                return -value if np.isfinite(value) else 1e12

            x0 = np.array([begin[one.key] for one in searched]) / scale
            options = {"maxiter": 4, "xtol": 1e-2, "ftol": 1e-5}
            found = optimize.minimize(cost, x0, method="Powell", options=options)
            begin |= dict(zip((one.key for one in searched), found.x * scale, strict=True))
        if "settle.scatter" in begin:
            begin["settle.scatter"] = max(begin["settle.scatter"], 0.25)
        return [begin[one.key] for one in self.parameters]

    def sample(self, centre: Numbers, seed: int = 1) -> Numbers:
        """Draws from the posterior, a row each."""
        spread = np.array([one.spread for one in self.parameters])
        low, high = (np.array([getattr(one, name) for one in self.parameters]) for name in ("low", "high"))
        draw = np.random.default_rng(seed)
        start = centre + 0.03 * spread * draw.standard_normal((_WALKERS, len(centre)))
        start = np.clip(start, low + 1e-6 * spread, high - 1e-6 * spread)
        bad = ~np.isfinite(self.prior(start))
        start[bad] = centre
        return ensemble(self.log_density, start, _STEPS, seed)


def decided(one: Parameter, low: float, high: float) -> bool:
    """Whether the data have narrowed what was believed to less than half of it."""
    return high - low < 0.5 * _NORMAL_90 * one.spread
