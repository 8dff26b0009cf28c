"""Where the command line's words go: data to stdout, everything else to stderr.

What comes from files and names cannot steer a terminal: control characters are written out here, in JSON and TOML as
these escape them. A pipe that is closed early raises ReaderGone, a full disk OutputError; `boundary.py` handles both.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from drivelab import _core
from drivelab.errors import OutputError
from drivelab.errors.keys import as_options
from drivelab.report.json_text import json_text
from drivelab.report.table import SCREEN
from drivelab.report.visible import visible, visible_cell

if TYPE_CHECKING:
    from drivelab.report.table import Table
    from drivelab.runs.simulation import Progress


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
OPTIONS: ContextVar[Collection[str]] = ContextVar("options", default=())
"""The options of the verb that runs."""
ARGUMENTS: ContextVar[Sequence[str]] = ContextVar("arguments", default=())
"""The arguments of the command that runs."""


@dataclass(frozen=True)
class Remark:
    """What would be said on stderr."""

    text: str


Kept = list["str | Table | Remark"]
"""What a verb prints, in its order: text and tables of stdout, remarks of stderr."""
_KEPT: ContextVar[Kept | None] = ContextVar("kept", default=None)


@contextmanager
def kept() -> Iterator[Kept]:
    """Keep what is printed within the block instead of printing it."""
    found: Kept = []
    before = _KEPT.set(found)
    try:
        yield found
    finally:
        _KEPT.reset(before)


class ReaderGone(Exception):  # noqa: N818 - not an error: the reader has seen enough, as in `| head`
    """Nobody reads stdout any more."""


def emit(text: str) -> None:
    """Put text on stdout, at once, so that a failure to write is noticed here and not at exit."""
    if (keeping := _KEPT.get()) is not None:
        keeping.append(as_typed(text))
        return
    try:
        shown = visible(as_typed(text))
        sys.stdout.write(shown if shown.endswith("\n") else shown + "\n")
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise OutputError(f"cannot write to stdout: {(error.strerror or str(error)).lower()}") from error


def version_text() -> str:
    """What `--version` prints."""
    return f"drivelab {_core.VERSION}, model {_core.MODEL_VERSION}"


def emit_json(value: object) -> None:
    """One JSON document on stdout. NaN and infinity are not JSON, and raise ValueError."""
    text = json_text(value)
    # JSON is UTF-8: where stdout is not, as on a console of Windows, what ASCII lacks is escaped.
    emit(text if _is_utf_8(sys.stdout) else _NOT_ASCII.sub(lambda one: json.dumps(one[0])[1:-1], text))


def _is_utf_8(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("-", "").replace("_", "") == "utf8"


def emit_table(table: Table) -> None:
    """A table on stdout: with lines and colours on a terminal, plain where a program or a file reads."""
    if (keeping := _KEPT.get()) is not None:
        keeping.append(table)
        return
    if not sys.stdout.isatty():
        emit(str(table))
        return
    from rich.console import Console  # noqa: PLC0415 - slow to load, and only a terminal needs it
    from rich.measure import Measurement  # noqa: PLC0415

    console = Console(highlight=False)
    drawn = table.rich()
    # Where the terminal is too narrow it breaks the lines itself: no figure is lost.
    needed = Measurement.get(console, console.options.update(max_width=10_000), drawn).minimum
    console.width = max(console.width, needed)
    console.print(drawn)


def wrapped(text: str) -> str:
    """A line of an answer, broken between words where it is wider than a screen; what goes on is set in.

    What is kept is not broken: its reader has a width of its own.
    """
    if _KEPT.get() is not None:
        return text
    return textwrap.fill(text, SCREEN, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def as_typed(text: str) -> str:
    """Text whose references to keys are options of the verb that runs."""
    return as_options(text, OPTIONS.get())


def say(text: str) -> None:
    """A remark to the person, on stderr."""
    if (keeping := _KEPT.get()) is not None:
        keeping.append(Remark(as_typed(text)))
        return
    sys.stderr.write(visible(as_typed(text)) + "\n")
    sys.stderr.flush()


@contextmanager
def progress_bar(
    total: int, what: str, *, quiet: bool, limits: Sequence[tuple[int | None, int | None]] = ()
) -> Iterator[Progress | None]:
    """A bar on stderr over `total` points; None, and nothing shown, where stderr is no terminal.

    With `limits` (nanoseconds and I/Os at which each point ends) a single point tells how far it is.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    single = limits[0] if len(limits) == 1 else None
    count = MofNCompleteColumn() if single is None else TextColumn("{task.fields[far]}")
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(visible_cell(what)), total=total, far="")
        yield lambda done: bar.update(task, completed=done, far=how_far(done, single))


def how_far(done: float, limit: tuple[int | None, int | None] | None) -> str:
    """What has been simulated of a run that ends after so many nanoseconds, or I/Os."""
    span_ns, ios = limit or (None, None)
    if span_ns is not None and ios is None:
        return f"{done * span_ns / 1e9:,.1f} of {span_ns / 1e9:,.1f} s simulated"
    if ios is not None and span_ns is None:
        return f"{done * ios:,.0f} of {ios:,} I/Os"
    return f"{100 * done:.0f} %"
