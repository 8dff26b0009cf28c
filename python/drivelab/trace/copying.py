"""Converts traces to another format or shape: one or several are read, one is written, completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, OutputError, TraceError, raw, ref
from drivelab.errors.keys import of_trace
from drivelab.report.plural import counted
from drivelab.trace.reading import (
    WRITTEN,
    Reading,
    problem_entries,
    problem_lines,
    reading_options,
    texts,
    traces_of,
)

_RELATIVE = frozenset({"iolog2", "iolog3", "blkparse", "disksim", "spc"})
"""Formats whose times count from the first request, and are never below zero."""
_PACKED_OTHERWISE = (".zst", ".bz2", ".xz")


@dataclass(frozen=True)
class Shape:
    """The operations on the requests, in this order; docs/how-to/traces.md describes what each preserves."""

    device: str | None = None
    skip: int = 0
    count: int | None = None
    from_: str | None = None
    until: str | None = None
    scale_time: str | None = None
    remap: str | None = None
    capacity: str | None = None
    of: str | None = None
    merge: str | None = None


@dataclass(frozen=True)
class Copied:
    """The result of a conversion."""

    output: str
    figures: dict[str, Any]
    names: Sequence[str | Path] = ()
    """The traces that were read, as named."""

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"output": self.output, **self.figures, "problems": problem_entries(self.figures["problems"])}

    def remarks(self) -> list[str]:
        """The text output."""
        found = self.figures
        lines = [
            f"{found['written']:,} of {counted(found['read'], 'request')} written to {self.output} ({found['to']})"
        ]
        if found["left_out"]:
            lines.append(
                f"{counted(found['left_out'], 'request')} left out: no bytes, too large, or not in this format"
            )
        if found["injected"]:
            lines.append(f"{counted(found['injected'], 'injected fault')} kept")
        if found["injected_left_out"]:
            lines.append(f"{counted(found['injected_left_out'], 'injected fault')} left out")
        lines += problem_lines(self.names, found["problems"])
        if found["to"] in _RELATIVE and any(kind == "unsorted" for kind, _, _ in found["problems"]):
            lines.append(
                f"times of {found['to']} count from the first request: one that is before it in time is written with "
                "it, at 0; sort the trace to put requests in order"
            )
        return lines


def cut(  # noqa: PLR0913 - its parameters are the options of the verb
    traces: str | Path | Sequence[str | Path],
    output: str | Path,
    to: str | None = None,
    *,
    device: str | None = None,
    skip: int = 0,
    count: int | None = None,
    from_: str | None = None,
    until: str | None = None,
    reading: Reading | None = None,
) -> Copied:
    """Write a part of a trace: one device, a window of requests (`skip`, `count`) or of time ("90s" since the first).

    Raises InputError, with the line, if a trace cannot be read, and OutputError if the output cannot be written.
    """
    return convert(traces, output, to, Shape(device, skip, count, from_, until), reading)


def convert(
    traces: str | Path | Sequence[str | Path],
    output: str | Path,
    to: str | None = None,
    shape: Shape | None = None,
    reading: Reading | None = None,
) -> Copied:
    """Write the requests of traces to `output` in the format `to`; by default that of the first trace.

    Raises InputError, with the line, if a trace cannot be read, and OutputError if the output cannot be written.
    """
    names = [traces] if isinstance(traces, str | Path) else list(traces)
    found, shape, target = traces_of(names), shape or Shape(), Path(output)
    if shape.merge not in {None, "clock", "start"}:
        raise InputError(
            f"{ref('merge', shape.merge)}: give clock (the traces have one) or start (they begin together)"
        )
    if len(found) > 1 and shape.merge is None:
        raise InputError(
            f"{len(found)} traces: give {ref('merge', 'clock')} where they have one clock, or "
            f"{ref('merge', 'start')} to begin them together"
        )
    if len(found) == 1 and shape.merge is not None:
        raise InputError(f"{ref('merge')} changes nothing with one trace; leave it out")
    if target.suffix in _PACKED_OTHERWISE:
        raise InputError(f"{target}: only .gz is written packed; leave {target.suffix} out, or write .gz")
    for path in (path for files in found for path in files):
        if target.exists() and target.is_file() and target.samefile(path):
            raise InputError(
                f"{ref('output', target)}: this is a trace that is read, and would be lost; name another file"
            )
    wanted = asdict(shape) | {"gzip": target.suffix == ".gz"}
    wanted["from"] = wanted.pop("from_")
    options = reading_options(reading or Reading())

    def copy(path: Path) -> dict[str, Any]:
        try:
            figures = _core.trace_copy([texts(files) for files in found], options, wanted, str(path), to)
        except TraceError as error:
            raise InputError(of_trace(raw(error))) from error
        if not figures["written"] and not figures["injected"]:
            raise InputError(_nothing_written(names, figures["read"], shape))
        return figures

    # A pipe or a device is written directly.
    if target.exists() and not target.is_file():
        return Copied(str(target), copy(target), names)
    return Copied(str(target), _replaced(target, copy), names)


def _nothing_written(names: Sequence[str | Path], read: int, shape: Shape) -> str:
    """The reason for which the output would have no request."""
    shown = ", ".join(map(str, names))
    if not read:
        return f"{shown}: there is no request in it"
    asked = {"device": shape.device, "skip": shape.skip, "from_": shape.from_, "until": shape.until}
    given = " ".join(ref(name, value) for name, value in asked.items() if value)
    if given:
        asked_of = "`drivelab trace info` says how long it lasts and what its devices are"
        return f"{given}: lies outside of {shown}; {asked_of}"
    larger = "" if shape.remap is None else f", more of them than {ref('capacity', shape.capacity)} has"
    return (
        f"{shown}: none of its {read:,} requests can be written: no bytes{larger}, or not in this format; `drivelab "
        "trace info` says what they are"
    )


def _replaced(target: Path, copy: Any) -> dict[str, Any]:  # noqa: ANN401 - a function from a path to figures
    """The result of `copy`, which writes another file that then replaces `target`."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {(error.strerror or str(error)).lower()}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        figures: dict[str, Any] = copy(temporary)
        mask = os.umask(0o022)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return figures


def written_format(name: str) -> str:
    """The name of a writable format. Raises InputError."""
    if name not in WRITTEN:
        raise InputError(f"{ref('to', name)}: there are {', '.join(WRITTEN)}")
    return name
