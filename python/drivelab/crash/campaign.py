"""A campaign: the instants of the power cuts, the checker's verdict on each, and the earliest loss."""

from __future__ import annotations

import bisect
import hashlib
import json
import random
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from drivelab import _core
from drivelab.crash.check import ERROR, GOOD, LOSS, Checked, Checker, check
from drivelab.crash.session import Kept
from drivelab.errors import InputError, ref

_LOOK_S = 0.2
# A checker that has failed so often in the bisection, each time perhaps only after its timeout, is not asked further.
_ERRORS_MAX = 8

Progress = Callable[[float], object] | None


@dataclass
class Campaign:
    """The results of the cuts."""

    asked: int = 0
    """The number of planned cuts."""
    cuts: list[Checked] = field(default_factory=list)
    """The checked cuts in the order of their instants."""
    earliest: Checked | None = None
    """The earliest cut with a loss, found between the first loss and the cut before it."""
    not_judged: list[Checked] = field(default_factory=list)
    """Cuts of the bisection on which the checker has failed."""
    interrupted: bool = False
    is_shell_interrupted: bool = False
    """Whether the shell on the first failing cut was ended by a signal, after all cuts."""

    def of(self, verdict: str) -> list[Checked]:
        """The cuts with this verdict."""
        return [one for one in self.cuts if one.verdict == verdict]

    def first_failing(self) -> Checked | None:
        """The earliest loss; where there is none, the first cut that the checker could not judge."""
        return self.earliest or next((one for verdict in (LOSS, ERROR) for one in self.of(verdict)), None)

    def is_bisected(self) -> bool:
        """Whether the earliest loss was found by bisection and is none of the planned cuts."""
        return self.earliest is not None and self.earliest not in self.cuts

    def digest(self) -> str:
        """A digest that is equal for the same cuts with the same outcomes."""
        outcomes = [(one.at_ns, one.verdict, one.committed, one.lost) for one in self.cuts]
        return hashlib.sha256(json.dumps(outcomes).encode()).hexdigest()[:16]


def drawn(log: _core.CrashLog, kept: Kept, count: int, seed: int) -> list[int]:
    """Instants at which to cut, uniformly over the events and not over time: a long wait counts as one event. They
    begin with the first commit.

    Raises RunError if the session cannot be replayed.
    """
    happened = _within(log.instants(), kept)
    # Data that are reported as safe may never have reached the device.
    instants = sorted({*happened, *(at for at, _ in kept.commits), kept.first_ns(), kept.ended_ns})
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    stretches = (draw.randrange(len(instants) - 1) for _ in range(count))
    return sorted({draw.randrange(instants[place], instants[place + 1]) for place in stretches})


def at_flushes(log: _core.CrashLog, kept: Kept) -> list[int]:
    """The instants from the first commit on at which a FLUSH was answered. Raises InputError if there is none."""
    found = _within(sorted(set(log.flushes())), kept)
    if not found:
        raise InputError(
            f"{ref('every', 'flush')}: the workload has sent no FLUSH behind its first commit; take {ref('cuts')}"
        )
    return found


def check_written(log: _core.CrashLog, kept: Kept) -> bool:
    """Whether the workload has written to the device before it ended.

    On a file system it may have written only to the page cache and committed that: then a loss can be found. Raises
    InputError if nothing was written and nothing can have been lost.
    """
    is_written = any(kept.began_ns <= at <= kept.ended_ns for at in log.writes())
    if not is_written and (kept.fs is None or not kept.commits):
        raise InputError(
            "the workload has written nothing to the device, so there is nothing to lose: see that it writes to "
            f"DRIVELAB_URI, or with {ref('fs')} below DRIVELAB_MOUNT"
        )
    return is_written


def check_tested(found: Campaign) -> None:
    """Reject a campaign if the workload has written nothing and the checker finds no loss. Raises InputError."""
    if not found.interrupted and all(one.verdict == GOOD for one in found.cuts):
        raise InputError(
            "nothing was tested: the workload has written nothing to the device before it ended, and the checker "
            "misses nothing; see that the workload does what it should"
        )


def _within(instants: Sequence[int], kept: Kept) -> list[int]:
    begin, end = bisect.bisect_left(instants, kept.first_ns()), bisect.bisect_right(instants, kept.ended_ns)
    return list(instants[begin:end])


def run(checker: Checker, instants: Sequence[int], workers: int, progress: Progress) -> Campaign:
    """Check each of these instants. Ctrl-C ends the run, and the results so far are kept. Raises RunError."""
    found = Campaign(len(instants))
    with ThreadPoolExecutor(workers) as pool:
        waiting = list[Future[Checked]]()
        try:
            # The first checks already run while the last ones are submitted: an interrupt may come then.
            for at in instants:
                waiting.append(pool.submit(check, checker, at))
            for number, one in enumerate(waiting):
                # A signal that arrives just before this thread sleeps is handled when it wakes up.
                while not one.done():
                    wait([one], _LOOK_S)
                one.result()
                if progress is not None:
                    progress((number + 1) / len(waiting))
            found.cuts = [one.result() for one in waiting]
            if len(instants) > 1:
                found.earliest = _earliest(checker, found.cuts, found.not_judged)
        except KeyboardInterrupt:
            found.interrupted = True
        finally:
            checker.stop.set()
            pool.shutdown(cancel_futures=True)
    found.cuts = [one.result() for one in waiting if not one.cancelled() and one.exception() is None]
    return found


def _earliest(checker: Checker, cuts: Sequence[Checked], not_judged: list[Checked]) -> Checked | None:
    """The earliest loss between the first loss and the good cut before it, found by bisection.

    An instant at which the checker fails says nothing of those before it: others are tried in its place.
    """
    place = next((place for place, one in enumerate(cuts) if one.verdict == LOSS), None)
    if place is None:
        return None
    worst = cuts[place]
    good = [one.at_ns for one in cuts[:place] if one.verdict == GOOD]
    begin = good[-1] if good else checker.kept.first_ns() - 1
    happened = {*checker.log.instants(), *(at for at, _ in checker.kept.commits)}
    instants = sorted(at for at in happened if begin < at < worst.at_ns)
    low, high = 0, len(instants)
    while low < high and len(not_judged) < _ERRORS_MAX:
        middle = (low + high) // 2
        one = check(checker, instants[middle])
        if one.verdict == LOSS:
            worst, high = one, middle
        elif one.verdict == GOOD:
            low = middle + 1
        else:
            not_judged.append(one)
            del instants[middle]
            high -= 1
    return worst
