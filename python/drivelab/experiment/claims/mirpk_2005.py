"""What HD Tach shows of NCQ in the 2005 test, checked on the predicted cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drivelab.experiment.outcome import Outcome

DRIVES = ("SP2504C", "WD2500")
FIGURES = ("buffer", "average", "access")
# An access time is printed to 0.01 ms and differs by 0.1 ms in 15.5: 0.6 %.
ACCESS = 0.01
# The largest difference of the print between NCQ on and off: 61.7 against 59.7 MB/s.
PRINTED = 0.034
# Tolerances of "gains nothing" and "about equal" between two runs with different random addresses.
NOTHING, EQUAL = 0.005, 0.01
# Minimum gain that counts as "gains".
GAIN = 0.05


def random_access_unchanged_by_ncq(outcome: Outcome) -> tuple[bool, str]:
    """The access time with NCQ over that without."""
    return _alike(_on_over_off(outcome, "access"), ACCESS)


def average_read_unchanged_by_ncq(outcome: Outcome) -> tuple[bool, str]:
    """The mean rate with NCQ over that without."""
    return _alike(_on_over_off(outcome, "average"), PRINTED)


def hdtach_unchanged(outcome: Outcome) -> tuple[bool, str]:
    """All three figures with NCQ over those without."""
    changes = {
        f"{figure} {drive}": change
        for figure in FIGURES
        for drive, change in _on_over_off(outcome, figure).items()
    }
    return _alike(changes, PRINTED)


def link_300(outcome: Outcome) -> tuple[bool, str]:
    """Each figure at 300 MB/s over that at 150: the buffer's rate gains, the others do not."""
    slow = outcome.variants["link-150"]
    changes = {
        prediction.cell.id: prediction.predicted / slow[prediction.cell.id].predicted - 1
        for prediction in outcome.predictions
    }
    buffer = {id_: change for id_, change in changes.items() if id_.endswith("/buffer")}
    others = {id_: change for id_, change in changes.items() if id_ not in buffer}
    holds = min(buffer.values()) >= GAIN and max(map(abs, others.values())) <= NOTHING
    return holds, f"buffer {_span(buffer)}; mean rate and access time {_span(others)}"


def pata_equals_sata(outcome: Outcome) -> tuple[bool, str]:
    """Mean rate and access time behind a parallel link over those behind the serial one, both without a queue."""
    serial, parallel = outcome.by_id(), outcome.variants["pata"]
    changes = {
        id_: prediction.predicted / serial[id_].predicted - 1
        for id_, prediction in parallel.items()
        if not id_.endswith("/buffer")
    }
    return _alike(changes, EQUAL)


CLAIMS: Mapping[str, Callable[[Outcome], tuple[bool, str]]] = {
    claim.__name__: claim
    for claim in (
        random_access_unchanged_by_ncq,
        average_read_unchanged_by_ncq,
        hdtach_unchanged,
        link_300,
        pata_equals_sata,
    )
}


def _on_over_off(outcome: Outcome, figure: str) -> dict[str, float]:
    """The relative change of a figure with NCQ, for each drive."""
    cells = outcome.by_id()
    return {
        drive: cells[f"{drive}/on/{figure}"].predicted / cells[f"{drive}/off/{figure}"].predicted - 1
        for drive in DRIVES
    }


def _alike(changes: Mapping[str, float], allowed: float) -> tuple[bool, str]:
    """Whether no change is larger than allowed, and the changes."""
    holds = all(abs(change) <= allowed for change in changes.values())
    return holds, ", ".join(f"{name} {change:+.2%}" for name, change in changes.items())


def _span(changes: Mapping[str, float]) -> str:
    least, most = min(changes.values()), max(changes.values())
    return f"{least:+.1%}" if round(least, 3) == round(most, 3) else f"{least:+.1%} to {most:+.1%}"
