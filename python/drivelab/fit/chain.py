"""A chain of timed requests as the mechanics' model sees it: what each time has in it beside seek and rotation.

A request that goes to the media takes `A + W + rest`: the head arrives after A (overhead, seek, scatter), then waits W
for its sector. Where the sector's angle is not known, W is uniform over a turn, and the time lies in a window of one
turn behind the arrival: its two edges tell the seek curve. Where it is known (same track, or a layout that holds), the
times of two requests one behind the other differ by whole turns from the angle between their ends: that tells the
period, and the number of turns tells the arrival.

Where the start's layout is made from rates, nobody knows where a track ends. A request of n sectors goes over an end
with a chance of n - 1 to the sectors of a track, and one that begins d sectors from the last one's end lies on another
track with a chance of d to them: both are left open, and each counts as likely as it is.
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
"""So large n R^2 has to be for angles to count (Rayleigh's test: e^-12 by chance)."""
_FAR = 0.02
_TAIL = 0.5
_PERIODS = 401
_PERIOD_REACH = 0.02
HOST_MS = (-0.1, 1.0)
"""What a host may take between an answer and its next request, without telling."""
HOST_USUAL = (0.02, 0.03)
"""What it usually takes, and how far it may be from that."""
RPM_DOUBT = 0.003
"""By what share of it a drive's speed is off its nominal one."""


@dataclass(frozen=True)
class Timed:
    """What is known of each request."""

    time: Numbers
    rest: Numbers
    """All but seek and rotation, as the draft has it."""
    distance: Numbers
    """Cylinders from the request before."""
    moves: Flags
    """Whether the arm goes to another cylinder."""
    still: Numbers
    """The seek time of the draft where it does not."""
    write: Flags
    overheads: dict[str, Flags]
    """The requests that each overhead of the firmware stands before."""
    turn: Numbers
    """The angle from the end of the request before to its own end, as a share of a turn."""
    since: Numbers
    """Milliseconds from the one end to the other, as the media see them."""
    aligned: Flags
    """Whether that angle is known."""
    together: Numbers
    """The chance that it lies on the track of the request before; 1 or 0 where the layout is known."""
    crosses: Numbers
    """The chance that it goes over the end of a track that the draft does not know of."""
    crossing: float
    """How many milliseconds longer it then takes."""
    host: float
    """Milliseconds that the host takes before each request, as the angles tell."""
    media: Flags
    """Whether the media serve it, and it is to be fitted."""
    hit: Flags
    """Whether the buffer alone serves it."""
    cylinders: int
    period: float
    """Milliseconds; the best that the angles tell, else the draft's."""
    sharpness: float
    """n R^2 of all angles: whether the draft's layout is the drive's."""


def timed(replays: Replays, draft: Draft, *, by_command_before: bool = False) -> Timed:
    """The chain beside the draft's replay of it. Of a trace only far requests count, which no cache helps.

    Raises TraceError where the drive is too small.
    """
    requests, columns = replays.requests, replays.columns(draft)
    parts = {name: np.array(values, dtype=float) / 1e6 for name, values in columns["breakdown_ns"].items()}
    simulated = np.array(columns["simulated_ns"], dtype=float) / 1e6
    plan = draft.plan()
    begin, end = (
        np.array(_core.places(plan, blocks.tolist()))
        for blocks in (requests.first, requests.first + requests.count - 1)
    )
    # The cylinder, head and angle at the end; half a sector more or less is the same for all.
    before = np.roll(end, 1, axis=0)
    distance = np.abs(begin[:, 0] - before[:, 0])
    far = distance > _FAR * cylinders_of(draft)
    period = 60_000 / number_of(draft, "rpm")
    hit = (parts["seek"] + parts["rotation"] + parts["transfer"] == 0) & (requests.time < period / 2)
    first = np.arange(len(requests)) == 0
    idle = parts["seek"] + parts["rotation"] == 0
    # What the draft serves from what it has read ahead shows nothing of the arm.
    served = ~idle & ~first & ~np.roll(hit, 1) & (requests.time < 4 * period)
    if requests.kind == "trace":
        served &= far
    # What passes between two ends: the pause before the request, and its time.
    turn = (end[:, 3] - before[:, 3]) % 1.0
    pause = np.roll(requests.gap, 1)
    # Of a read the last data have to come over the link, of a write not: the draft's replay has the difference.
    tail = ((simulated + pause) / period - turn + 0.5) % 1.0 - 0.5
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


def _is_described(draft: Draft) -> bool:
    """Whether the draft says how many sectors each track has; its angles may be wrong all the same."""
    return draft.get("geometry.zones") is not None or draft.get("geometry.patterns") is not None


def _sector(plan: _core.Plan, first: Whole, capacity: int) -> Numbers:
    """The angle of a sector at these blocks, as a share of a turn."""
    at = np.minimum(first, capacity - 3)
    angles = [np.array(_core.places(plan, (at + k).tolist()))[:, 3] for k in range(3)]
    # Over the end of a track it is more, and of three blocks at most one is the last of its track.
    steps = [(after - before) % 1.0 for before, after in pairwise(angles)]
    return np.asarray(np.minimum(*steps))


def _on_one_track(requests: Requests, sector: Numbers) -> tuple[Numbers, Numbers]:
    """The chance that each request begins on the track on which the one before ended, and the angle from end to end
    if it does."""
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
    """How sharply times less angles fall on whole turns at the best period: n R^2, that period, and what the host takes
    before each request, which is the angle that all of them lack.

    Where all of them take about as many turns, a longer turn and a slower host are the same: what is usual decides.
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
