"""`simulate --fio`: the workload as fio's job files, and what they do not say."""

from __future__ import annotations

from collections.abc import Iterator

from drivelab import _core
from drivelab.cli.output import emit, say
from drivelab.errors import InputError, TraceError, raw
from drivelab.report.points_table import axis_text

_WRITES = "; writes: destroys what is on DEVICE\n"
_CANNOT = "; fio cannot express it: "


def emit_jobs(checked: _core.Plan) -> None:
    """A job file for each point on stdout, and a note for each thing that fio cannot express."""
    jobs = list(_jobs(checked))
    emit("\n".join(jobs))
    lines = (line for text in jobs for line in text.splitlines() if line.startswith(_CANNOT))
    for line in dict.fromkeys(lines):
        say(f"note: {line.removeprefix('; ')}")


def _writes(checked: _core.Plan, place: int) -> bool:
    """Whether the trace of a point writes. Raises InputError where it cannot be read."""
    try:
        return checked.trace_writes(place)
    except TraceError as error:
        raise InputError(raw(error)) from error


def _jobs(checked: _core.Plan) -> Iterator[str]:
    """A job file for each point, with its place in the sweep above it where there are several."""
    for place, (axes, whole) in enumerate(zip(checked.axes, checked.fio, strict=True)):
        text = whole if _writes(checked, place) else whole.replace(f"{_WRITES}[trace]", "[trace]")
        at = ", ".join(f"{axis} = {axis_text(value)}" for axis, value in axes.items())
        yield f"; {at}\n{text}" if at else text
