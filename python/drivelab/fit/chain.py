"""A chain of timed requests for the model of the mechanics: the parts of each time besides seek and rotation.

A request that goes to the media takes `A + W + rest`: the head arrives after A (overhead, seek, scatter), then waits W
for its sector. If the sector's angle is unknown, W is uniform over a revolution, and the time lies in a window of one
revolution after the arrival: its two edges determine the seek curve. If it is known (same track, or a valid layout),
the times of two consecutive requests differ from the angle between their ends by whole revolutions: that determines the
period, and the number of revolutions determines the arrival.

If the start's layout is derived from rates, the ends of tracks are unknown. A request of n sectors crosses a track end
with probability (n - 1) / (sectors per track), and one that begins d sectors from the last one's end is on another
track with probability d / (sectors per track): both cases are considered, weighted with their probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from drivelab import _core
from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Flags, Numbers, Requests, Whole
from drivelab.fit.parameters import cylinders_of, number_of
from drivelab.fit.replaying import Replays

SURE = 12.0
"""The smallest n R^2 for angles to be significant (Rayleigh's test: probability e^-12 by chance)."""
_FAR = 0.02
_TAIL = 0.5
LEAST_JITTER = 2e-4
"""The smallest jitter of angles, as a fraction of a revolution."""
_PERIODS = 401
_PERIOD_REACH = 0.02
HOST_MS = (-0.1, 1.0)
"""The range of times that a host may take between a completion and its next request beyond the recorded ones."""
HOST_USUAL = (0.02, 0.03)
"""Its usual value, and the standard deviation."""
RPM_DOUBT = 0.003
"""The relative deviation of a drive's speed from the nominal one."""


@dataclass(frozen=True)
class Timed:
    """The known parts of each request's time."""

    time: Numbers
    rest: Numbers
    """The time without seek and rotation, according to the draft."""
    distance: Numbers
    """The distance in cylinders from the previous request."""
    moves: Flags
    """Whether the arm moves to another cylinder."""
    still: Numbers
    """The seek time of the draft if it does not."""
    write: Flags
    overheads: dict[str, Flags]
    """The requests to which each firmware overhead applies."""
    turn: Numbers
    """The angle from the end of the previous request to its own end, as a fraction of a revolution."""
    since: Numbers
    """The time between the two ends at the media in ms."""
    aligned: Flags
    """Whether this angle is known."""
    together: Numbers
    """The probability that it is on the track of the previous request; 1 or 0 if the layout is known."""
    crosses: Numbers
    """The probability that it crosses a track end that the draft does not know."""
    crossing: float
    """The additional time in ms if it does."""
    host: float
    """The time in ms that the host takes before each request, according to the angles."""
    media: Flags
    """Whether it is served by the media and used in the fit."""
    hit: Flags
    """Whether it is served by the buffer alone."""
    cylinders: int
    period: float
    """The period in ms: the best fit of the angles, otherwise the draft's."""
    sharpness: float
    """n R^2 of all angles: large if the draft's layout is that of the drive."""

    def jitter(self) -> float:
        """How much the times with a known angle deviate from whole revolutions, as a fraction of a revolution: a robust
        standard deviation.
        """
        which = self.media & self.aligned
        off = off_whole_turns(self.since[which] + self.host, self.turn[which], self.period)
        return max(1.4826 * float(np.median(np.abs(off))), LEAST_JITTER)


def timed(replays: Replays, draft: Draft, *, by_command_before: bool = False) -> Timed:
    """Compare the chain with the draft's replay of it. For a trace only far requests are used, which no cache serves.

    Raises TraceError if the drive is too small.
    """
    requests, columns = replays.requests, replays.columns(draft)
    parts = {name: np.array(values, dtype=float) / 1e6 for name, values in columns["breakdown_ns"].items()}
    simulated = np.array(columns["simulated_ns"], dtype=float) / 1e6
    plan = draft.plan()
    begin, end = (
        np.array(_core.places(plan, blocks.tolist()))
        for blocks in (requests.first, requests.first + requests.count - 1)
    )
    # The cylinder, head and angle at the end; a shift by half a sector is common to all.
    before = np.roll(end, 1, axis=0)
    distance = np.abs(begin[:, 0] - before[:, 0])
    far = distance > _FAR * cylinders_of(draft)
    period = 60_000 / number_of(draft, "rpm")
    hit = (parts["seek"] + parts["rotation"] + parts["transfer"] == 0) & (requests.time < period / 2)
    first = np.arange(len(requests)) == 0
    idle = parts["seek"] + parts["rotation"] == 0
    # Requests that the draft serves from read-ahead contain no information on the arm.
    served = ~idle & ~first & ~np.roll(hit, 1) & (requests.time < 4 * period)
    if requests.kind == "trace":
        served &= far
    # The time between two ends: the pause before the request, and its response time.
    turn = (end[:, 3] - before[:, 3]) % 1.0
    pause = np.roll(requests.gap, 1)
    # The last data of a read must be transferred over the link, those of a write need not: the draft's replay gives the
    # difference.
    tail = off_whole_turns(simulated + pause, turn, period)
    tail = np.where(np.abs(tail) * period < _TAIL, tail * period, 0.0)
    since = requests.time + pause - tail
    sharp, found, host = _period(since, turn, served & far, period)
    rest = simulated - parts["seek"] - parts["rotation"]
    sector = _sector(plan, requests.first, draft.capacity)
    over = (begin[:, :2] != end[:, :2]).any(axis=1)
    longer = np.where(over, parts["transfer"] - requests.count * sector * period, 0.0)
    aligned, together, crosses = served, np.ones(len(requests)), np.zeros(len(requests))
    if sharp < SURE:
        same = (distance == 0) & (begin[:, 1] == before[:, 1]) & (end[:, 1] == before[:, 1])
        together = np.where(same & ~first, 1.0, 0.0)
        if not _is_described(draft):
            together, angle = _on_one_track(requests, sector)
            turn = np.where(together > 0, angle, turn)
            crosses = np.clip((requests.count - 1) * sector, 0.0, 1.0)
            rest = rest - longer
        near = served & (together > 0)
        which = near & (together > 0.5)
        sharp_near, found, host = _period(since, turn, which, period, turns_differ=False)
        aligned = near & (sharp_near >= SURE)
        if sharp_near < SURE:
            found, host = period, 0.0
    return Timed(
        time=requests.time,
        rest=rest,
        distance=distance,
        moves=distance > 0,
        still=parts["seek"],
        write=~requests.read,
        overheads=_overheads(requests.read, by_command_before=by_command_before),
        turn=turn,
        since=since,
        aligned=aligned & ~replays.held,
        together=together,
        crosses=crosses,
        crossing=float(np.median(longer[over])) if over.any() else number_of(draft, "settle.head_switch"),
        host=host,
        media=served & ~replays.held,
        hit=hit & ~first & ~replays.held,
        cylinders=cylinders_of(draft),
        period=found,
        sharpness=sharp,
    )


def off_whole_turns(time: Numbers, turn: Numbers, period: float | Numbers) -> Numbers:
    """The deviation of times from an angle and whole revolutions, as a fraction of a revolution."""
    return np.asarray((time / period - turn + 0.5) % 1.0 - 0.5)


def _is_described(draft: Draft) -> bool:
    """Whether the draft gives the number of sectors per track; its angles may nevertheless be wrong."""
    return draft.get("geometry.zones") is not None or draft.get("geometry.patterns") is not None


def _sector(plan: _core.Plan, first: Whole, capacity: int) -> Numbers:
    """The angle of a sector at these blocks, as a fraction of a revolution."""
    at = np.minimum(first, capacity - 3)
    angles = [np.array(_core.places(plan, (at + k).tolist()))[:, 3] for k in range(3)]
    # Across a track end it is larger, and at most one of three blocks is the last of its track.
    steps = [(after - before) % 1.0 for before, after in pairwise(angles)]
    return np.asarray(np.minimum(*steps))


def _on_one_track(requests: Requests, sector: Numbers) -> tuple[Numbers, Numbers]:
    """The probability that each request begins on the track on which the previous one ended, and the angle from end to
    end if it does.
    """
    end = requests.first + requests.count
    apart = np.abs(requests.first - np.roll(end, 1))
    together = np.clip(1 - apart * sector, 0.0, 1.0)
    together[0] = 0.0
    return together, np.asarray((end - np.roll(end, 1)) * sector % 1.0)


def _overheads(read: Flags, *, by_command_before: bool) -> dict[str, Flags]:
    found = {"firmware.read_miss": read, "firmware.write": ~read}
    if not by_command_before:
        return found
    before = np.concatenate([[True], read[:-1]])
    return {
        f"{key}.{name}": which & (before if name == "after_read" else ~before)
        for key, which in found.items()
        for name in ("after_read", "after_write")
    }


def _period(
    since: Numbers, turn: Numbers, which: Flags, period: float, *, turns_differ: bool = True
) -> tuple[float, float, float]:
    """How sharply times minus angles concentrate at whole revolutions with the best period: n R^2, that period, and the
    host's time before each request, which is the offset that all of them share.

    If all requests take about the same number of revolutions, a longer revolution and a slower host are
    indistinguishable: the usual values decide.
    """
    n = int(which.sum())
    if n < 8:
        return 0.0, period, 0.0
    tried = period * (1 + np.linspace(-_PERIOD_REACH, _PERIOD_REACH, _PERIODS))
    for _ in range(2):
        mean = np.exp(2j * np.pi * (since[which] / tried[:, None] - turn[which])).mean(axis=1)
        host = -np.angle(mean) / (2 * np.pi) * tried
        length = np.where((host >= HOST_MS[0]) & (host <= HOST_MS[1]), np.abs(mean), 0.0)
        score = n * length**2
        if not turns_differ:
            score -= 0.5 * ((host - HOST_USUAL[0]) / HOST_USUAL[1]) ** 2
            score -= 0.5 * ((tried / period - 1) / RPM_DOUBT) ** 2
        best = int(np.argmax(score))
        step = tried[1] - tried[0]
        found = float(tried[best])
        tried = found + step * np.linspace(-1, 1, 101)
    return n * float(length[best]) ** 2, found, float(host[best])
