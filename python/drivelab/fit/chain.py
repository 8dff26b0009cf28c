"""A chain of timed requests as the mechanics' model sees it: what each time has in it beside seek and rotation.

A request that goes to the media takes `A + W + rest`: the head arrives after A (overhead, seek, scatter), then waits W
for its sector. Where the sector's angle is not known, W is uniform over a turn, and the time lies in a window of one
turn behind the arrival: its two edges tell the seek curve. Where it is known (same track, or a layout that holds), the
times of two requests one behind the other differ by whole turns from the angle between their ends: that tells the
period, and the number of turns tells the arrival.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drivelab import _core
from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Flags, Numbers
from drivelab.fit.parameters import cylinders_of, number_of
from drivelab.fit.replaying import Replays

SURE = 12.0
"""So large n R^2 has to be for angles to count (Rayleigh's test: e^-12 by chance)."""
_FAR = 0.02
_TAIL = 0.5
_PERIODS = 401
_PERIOD_REACH = 0.02


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
    same = (distance == 0) & (begin[:, 1] == before[:, 1]) & (end[:, 1] == before[:, 1])
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
    sharp, found = _period(since, turn, served & far, period)
    aligned = served.copy()
    if sharp < SURE:
        sharp_near, found = _period(since, turn, served & same, period)
        aligned = served & same & (sharp_near >= SURE)
        found = found if sharp_near >= SURE else period
    return Timed(
        time=requests.time,
        rest=simulated - parts["seek"] - parts["rotation"],
        distance=distance,
        moves=distance > 0,
        still=parts["seek"],
        write=~requests.read,
        overheads=_overheads(requests.read, by_command_before=by_command_before),
        turn=turn,
        since=since,
        aligned=aligned & ~replays.held,
        media=served & ~replays.held,
        hit=hit & ~first & ~replays.held,
        cylinders=cylinders_of(draft),
        period=found,
        sharpness=sharp,
    )


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


def _period(time: Numbers, turn: Numbers, which: Flags, period: float) -> tuple[float, float]:
    """How sharply times less angles fall on whole turns at the best period: n R^2, and that period."""
    n = int(which.sum())
    if n < 8:
        return 0.0, period
    tried = period * (1 + np.linspace(-_PERIOD_REACH, _PERIOD_REACH, _PERIODS))
    for _ in range(2):
        phase = np.exp(2j * np.pi * (time[which] / tried[:, None] - turn[which]))
        # From end to end of two requests the angle is that of whole turns: a phase of its own there is none.
        length = phase.mean(axis=1).real
        best = int(np.argmax(length))
        step = tried[1] - tried[0]
        found = float(tried[best])
        tried = found + step * np.linspace(-1, 1, 101)
    return n * max(float(length[best]), 0.0) ** 2, found
