"""The stages of a fit, one after the other; each takes the draft of the previous one and reports its results.

The results of a stage are stored next to the output (`OUT.fit.json`), under a hash of all inputs: the same command
resumes from there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from drivelab import _core
from drivelab.fit.chain_stage import fit_chain
from drivelab.fit.contradictions import of_means, of_sweeps, of_time_and_sweep
from drivelab.fit.dies import RUN as FLASH_RUN
from drivelab.fit.dies import fit_dies, is_flash
from drivelab.fit.draft import Draft
from drivelab.fit.fitted import AT_BOUND
from drivelab.fit.mechanics import FORM
from drivelab.fit.parameters import number_of
from drivelab.fit.policy import fit_policy, rows_of, seek_scale
from drivelab.fit.replaying import Replays, held_out
from drivelab.fit.results import Found, Measured
from drivelab.fit.seek_form import may_change_form, with_other_form
from drivelab.fit.sweeping import Sweeps
from drivelab.fit.trace_intervals import trace_intervals
from drivelab.fit.tracing import Tell, fit_trace
from drivelab.fit.zones import fit_surface
from drivelab.host.files import write_text

STATE_VERSION = 2
_NORMAL_90 = 3.29
_DOUBTED = ("seek.average", "firmware.read_miss", "settle.scatter")


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
    found.draft, fitted, found.surface, told = fit_surface(found.draft, measured.surface, measured.known)
    found.add(fitted)
    found.tell(told)
    if not found.surface:
        found.notes.append("rates: the start has zones of its own, which stay; --surface is not used")


def _chain(found: Found, measured: Measured, workers: int, tell: Tell) -> None:
    """All chains together, or the first alone where another one contradicts it."""
    before = found.to_state()
    fit_chain(found, measured, workers, tell)
    if len(measured.chains) == 1:
        return
    first, *others = measured.chains
    alone = Found(found.draft)
    alone.from_state(before)
    if all(of_means([first], one, found.draft, measured.hold_out) is None for one in measured.chains):
        return
    fit_chain(alone, replace(measured, chains=(first,)), workers, tell)
    told = [of_means([first], one, alone.draft, measured.hold_out) for one in others]
    if any(told):
        found.from_state(alone.to_state())
        found.tell([one for one in told if one is not None])


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
    told = [of_means(measured.traces, one, found.draft, measured.hold_out) for one in measured.chains]
    found.tell([one for one in told if one is not None])


def _sweep(found: Found, measured: Measured, workers: int, tell: Tell) -> None:
    if is_flash(found.draft):
        sweeps = Sweeps(measured.sweeps, workers)
        found.draft, fitted = fit_dies(sweeps, found.draft, measured.known, tell)
        found.add(fitted)
        found.sweep = rows_of(sweeps, found.draft, run=FLASH_RUN)
        return
    kept, told = of_sweeps(measured.sweeps)
    found.tell(told)
    if lists := [*measured.chains, *measured.traces]:
        kept, told = of_time_and_sweep(kept, found.draft, lists, workers)
        found.tell(told)
    sweeps = Sweeps(kept, workers)
    start, factors, other = found.draft, dict[object, float](), None
    if not measured.chains and not measured.traces and (scaled := seek_scale(sweeps, found.draft)):
        found.draft, factors[start.get("seek.form")] = scaled
        other = _other_scaled(sweeps, start, measured.known, factors)
    doubts = {
        key: (found.fitted[key].high - found.fitted[key].low) / _NORMAL_90
        for key in _DOUBTED
        if key in found.fitted and isinstance(found.draft.get(key), str)
    }
    policy = fit_policy(sweeps, found.draft, measured.known, tell, doubts, other)
    before = found.draft.get("queue.order"), found.draft.get("queue.chooses")
    found.draft, found.candidates = policy.draft, policy.candidates
    # As they were measured, also those that another measurement contradicts.
    found.sweep = rows_of(Sweeps(measured.sweeps, workers), policy.draft)
    for key, was in zip(("queue.order", "queue.chooses"), before, strict=True):
        if (now := policy.draft.get(key)) != was and now is not None:
            found.rules[key] = now
    if factors:
        found.notes.append(
            f"a sweep alone tells the sum of overhead and seek: all seeks are "
            f"{factors[policy.draft.get('seek.form')]:.3f} times the start's; "
            "how seek and overhead share it, the data do not decide"
        )
    if other is not None:
        found.form_is(policy.form, "the sweep", start, measured.known)
    found.guard_and_scatter = policy.guard_and_scatter
    if policy.by_class is not None:
        found.notes.append(
            f"order: the firmware of {policy.by_class} explains the sweep; no number of it is fitted"
        )
    found.add(policy.fitted)


def _other_scaled(
    sweeps: Sweeps, start: Draft, known: Sequence[str], factors: dict[object, float]
) -> Draft | None:
    """The start with the other form of the seek curve, whose seeks meet the smallest depth too."""
    if not may_change_form(start, known):
        return None
    other = with_other_form(start, *(number_of(start, key) for key in FORM))
    scaled = None if other is None else seek_scale(sweeps, other)
    if scaled is None:
        return None
    factors[scaled[0].get("seek.form")] = scaled[1]
    return scaled[0]


_STAGES = {"surface": _surface, "chain": _chain, "trace": _trace, "sweep": _sweep}
