"""What the 2005 test found with applications, checked on the predicted cells. Gains are those of NCQ on over off."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drivelab.experiment.outcome import Outcome
from drivelab.experiment.tables import change_text

DRIVES = ("SP2504C", "WD2500")
TRACES = ("xp-startup", "application-loading", "file-copying", "general-usage")
COPYING = "file-copying"
APPLICATIONS = ("acdsee", "photoshop", "premiere", "directx", "opengl")
DEPTHS = (1, 2, 4, 8, 16, 32)
# Printed gains above this have a sign.
SIGNED = 0.02
# Tolerance of a gain.
OFF = 0.08
# Copying gains less than this.
LITTLE = 0.01
# "None, slightly lower": the largest change of the print is 2.4 %.
SAME = 0.03


def pcmark_gain(outcome: Outcome) -> tuple[bool, str]:
    """Each printed gain above 2 % is met within 8 percentage points, with its sign."""
    printed, predicted = _gains(outcome, printed=True), _gains(outcome)
    wrong = [
        case
        for case, gain in printed.items()
        if gain > SIGNED and (predicted[case] <= 0 or abs(predicted[case] - gain) > OFF)
    ]
    copying = {drive: predicted[drive, COPYING] for drive in DRIVES}
    least = all(
        copying[drive] <= min(predicted[drive, trace] for trace in TRACES) + 1e-12 and copying[drive] < LITTLE
        for drive in DRIVES
    )
    numbers = ", ".join(f"{trace} {drive} {change_text(gain)}" for (drive, trace), gain in predicted.items())
    return not wrong and least, numbers


def pcmark_queue(outcome: Outcome) -> tuple[bool, str]:
    """The smallest gain of the traces that are not copies, beside the largest of the applications."""
    traces = min(gain for (_, trace), gain in _gains(outcome).items() if trace != COPYING)
    applications = max(-change for change in _changes(outcome).values())
    return (
        traces > SAME > applications,
        f"traces {change_text(traces)} at least, applications {change_text(applications)} at most",
    )


def worldbench_gain(outcome: Outcome) -> tuple[bool, str]:
    """The times of the five other applications."""
    changes = _changes(outcome).values()
    return max(map(abs, changes)) <= SAME, f"{change_text(min(changes))} to {change_text(max(changes))}"


def worldbench_nero(outcome: Outcome) -> tuple[bool, str]:
    """The times of Nero Express."""
    nero = {drive: _change(outcome, drive, "nero") for drive in DRIVES}
    printed = {drive: _change(outcome, drive, "nero", printed=True) for drive in DRIVES}
    holds = max(nero.values()) < min(0.0, *_changes(outcome).values())
    return holds, ", ".join(
        f"{drive} {change_text(nero[drive])} (printed {change_text(printed[drive])})" for drive in DRIVES
    )


def asynchronous_io(outcome: Outcome) -> tuple[bool, str]:
    """The gain in three traces as they are, one request at a time, and on files in few pieces."""
    traces = [trace for trace in TRACES if trace != COPYING]
    as_it_is = _gains(outcome)
    found = {
        variant: {
            trace: outcome.variants[variant][f"SP2504C/on/{trace}"].predicted
            / outcome.variants[variant][f"SP2504C/off/{trace}"].predicted
            - 1
            for trace in traces
        }
        for variant in ("synchronous", "defragmented")
    }
    holds = all(of[trace] < as_it_is["SP2504C", trace] for of in found.values() for trace in traces)
    spans = {
        "as it is": [as_it_is["SP2504C", trace] for trace in traces],
        **{variant: list(of.values()) for variant, of in found.items()},
    }
    return holds, "; ".join(
        f"{name} {change_text(min(of))} to {change_text(max(of))}" for name, of in spans.items()
    )


def ncq_against_10k(outcome: Outcome) -> tuple[bool, str]:
    """Random reads of 4 KiB over the whole of each drive."""
    cells = outcome.by_id()
    rate = {depth: cells[f"SP2504C/on/random-{depth}"].predicted for depth in DEPTHS}
    raptor = max(cells[f"Raptor/off/random-{depth}"].predicted for depth in (1, 32))
    passes = next((depth for depth in DEPTHS if rate[depth] > raptor), None)
    numbers = ", ".join(f"{depth}: {rate[depth]:.0f}" for depth in DEPTHS)
    where = "at no depth" if passes is None else f"from {passes}"
    return passes is not None, f"{where}: {numbers}; the Raptor without a queue {raptor:.0f}"


def _gains(outcome: Outcome, *, printed: bool = False) -> dict[tuple[str, str], float]:
    return {
        (drive, trace): _change(outcome, drive, trace, printed=printed)
        for drive in DRIVES
        for trace in TRACES
    }


def _changes(outcome: Outcome) -> dict[tuple[str, str], float]:
    return {(drive, test): _change(outcome, drive, test) for drive in DRIVES for test in APPLICATIONS}


def _change(outcome: Outcome, drive: str, test: str, *, printed: bool = False) -> float:
    """With NCQ over without."""
    on, off = (outcome.by_id()[f"{drive}/{ncq}/{test}"] for ncq in ("on", "off"))
    if not printed:
        return on.predicted / off.predicted - 1
    if on.cell.published is None or off.cell.published is None:
        raise ValueError(f"{drive}/{test}: nothing is printed")
    return on.cell.published / off.cell.published - 1


CLAIMS: Mapping[str, Callable[[Outcome], tuple[bool, str]]] = {
    claim.__name__: claim
    for claim in (
        pcmark_gain,
        pcmark_queue,
        worldbench_gain,
        worldbench_nero,
        asynchronous_io,
        ncq_against_10k,
    )
}
