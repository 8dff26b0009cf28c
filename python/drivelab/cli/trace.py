"""`drivelab trace`: what is in a recorded trace, its first requests, the same in another format or shape."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, emit_table, say
from drivelab.cli.pictures import Drawn
from drivelab.cli.places import check_file, place
from drivelab.cli.run_options import AsJson, Form, Quiet
from drivelab.report.csv_text import rows_csv
from drivelab.report.plural import counted
from drivelab.trace import FORMATS, WRITTEN, Reading, Shape
from drivelab.trace import convert as convert_traces
from drivelab.trace import head as head_of
from drivelab.trace import info as info_of
from drivelab.trace.copying import written_format
from drivelab.trace.reading import problem_lines, processors_left_out, traces_of

trace = typer.Typer(
    help="Read a recorded trace of requests: what is in it, its first requests, another format or shape.",
    no_args_is_help=True,
)

Traces = Annotated[
    list[Path],
    typer.Argument(
        metavar="TRACE..",
        help="A file, packed or not; of blktrace its folder, its NAME, or its files",
        parser=place,
        show_default=False,
    ),
]
DeviceSize = Annotated[
    str | None,
    typer.Option(
        help="Capacity of the device, such as 300GB; requests beyond it are reported", metavar="SIZE"
    ),
]
Sort = Annotated[
    bool, typer.Option("--sort", help="Sort requests that are out of order by fewer than 131,072 positions")
]
To = Annotated[
    str | None,
    typer.Option(
        help=f"The format to write: {', '.join(WRITTEN)}",
        metavar="NAME",
        show_default="that of the first trace",
        autocompletion=lambda incomplete: [name for name in WRITTEN if name.startswith(incomplete)],
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output", "-o", help="Output file; compressed if it ends in .gz", metavar="FILE", parser=place
    ),
]
Merge = Annotated[
    str | None,
    typer.Option(help="Alignment of several traces: by their clock, or by their start", metavar="HOW"),
]
SHAPE_PANEL = "Shape, in this order"


def _shape(text: str, metavar: str, *names: str) -> Any:  # noqa: ANN401 - as typer has it
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=SHAPE_PANEL)


@dataclass(frozen=True)
class Understood:
    """How the text of a trace is understood."""

    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"The format, if the first lines are ambiguous: {', '.join(FORMATS)}",
            metavar="NAME",
            autocompletion=lambda incomplete: [name for name in FORMATS if name.startswith(incomplete)],
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            help="The columns, if it is in none of the formats, such as time:ms,offset:bytes,size:sectors,op,-; or a "
            ".toml file that has them",
            metavar="LIST",
        ),
    ] = None
    lenient: Annotated[bool, typer.Option("--lenient", help="Count faulty lines, and continue")] = False
    read_flag: Annotated[
        int | None,
        typer.Option(
            help="The flag that means a read in this trace: 0 or 1", min=0, max=1, show_default=False
        ),
    ] = None
    time_unit: Annotated[
        str | None,
        typer.Option(
            help="The unit of times: ns, 100ns, us, ms or s", metavar="UNIT", show_default="the format's"
        ),
    ] = None

    def reading(self, device_size: str | None, *, sort: bool) -> Reading:
        """The same for who reads it."""
        return Reading(
            format=self.format_,
            columns=self.columns,
            lenient=self.lenient,
            read_flag=self.read_flag,
            time_unit=self.time_unit,
            device_size=device_size,
            sort=sort,
        )


@dataclass(frozen=True)
class Window:
    """The part of a trace that is kept."""

    device: Annotated[str | None, _shape("Only this device", "NAME")] = None
    skip: Annotated[
        int, typer.Option(help="Skip the first N requests", min=0, rich_help_panel=SHAPE_PANEL)
    ] = 0
    count: Annotated[
        int | None, typer.Option(help="At most N requests", min=1, rich_help_panel=SHAPE_PANEL)
    ] = None
    from_: Annotated[
        str | None, _shape("Begin at this time after the first request, such as 90s", "TIME", "--from")
    ] = None
    until: Annotated[str | None, _shape("End before this time", "TIME")] = None


@dataclass(frozen=True)
class Scaling:
    """What becomes of times and addresses."""

    scale_time: Annotated[
        str | None,
        _shape("Factor for the times since the first request: 0.5 is twice as fast", "FACTOR"),
    ] = None
    remap: Annotated[
        str | None,
        _shape(
            "wrap: addresses modulo --capacity, keeps distances; scale: times --capacity over --of, keeps shares of "
            "the stroke",
            "HOW",
        ),
    ] = None
    capacity: Annotated[str | None, _shape("The size of the new device, such as 300GB", "SIZE")] = None
    of: Annotated[str | None, _shape("The size of the old device", "SIZE")] = None


@trace.command()
@grouped
def info(
    *,
    traces: Traces,
    understood: Understood,
    device_size: DeviceSize = None,
    sort: Sort = False,
    form: Form,
    drawn: Drawn,
    quiet: Quiet = False,
) -> int:
    """Count everything about a trace: mix, sizes, rates, bursts, locality, reuse, working set, response times."""
    form.check()
    drawn.check()
    found = info_of(traces, understood.reading(device_size, sort=sort))
    _note_processors(traces, quiet=quiet)
    if form.as_json:
        emit_json(found.to_dict())
    elif form.as_csv:
        emit(rows_csv([found.row()]))
    else:
        for at, table in enumerate(found.tables()):
            if at:
                emit("")
            emit_table(table)
    drawn.draw(found.chart, found.provenance(), quiet=quiet)
    return Exit.OK


@trace.command()
@grouped
def head(
    *,
    traces: Traces,
    count: Annotated[
        int, typer.Option("--count", "-n", help="Number of requests", min=1, max=1_000_000)
    ] = 10,
    understood: Understood,
    device_size: DeviceSize = None,
    sort: Sort = False,
    form: Form,
    quiet: Quiet = False,
) -> int:
    """Show the first requests of a trace as they are understood."""
    form.check()
    found = head_of(traces, count, understood.reading(device_size, sort=sort))
    _note_processors(traces, quiet=quiet)
    if form.as_json:
        emit_json(found.to_dict())
    elif form.as_csv:
        emit(found.csv())
    else:
        emit_table(found.table())
    if not quiet:
        for line in problem_lines(traces, found.problems):
            say(line)
    return Exit.OK


@trace.command()
@grouped
def convert(
    *,
    traces: Traces,
    output: Output,
    to: To = None,
    merge: Merge = None,
    understood: Understood,
    device_size: DeviceSize = None,
    sort: Sort = False,
    window: Window,
    scaling: Scaling,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Write a trace, or several merged into one, in another format or shape."""
    shape = Shape(**vars(window), **vars(scaling), merge=merge)
    reading = understood.reading(device_size, sort=sort)
    return _copy(traces, output, to, shape, reading, as_json=as_json, quiet=quiet)


@trace.command()
@grouped
def cut(
    *,
    traces: Traces,
    output: Output,
    to: To = None,
    understood: Understood,
    sort: Sort = False,
    window: Window,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Write a part of a trace: a window of time or of requests, or one device."""
    reading = understood.reading(None, sort=sort)
    return _copy(traces, output, to, Shape(**vars(window)), reading, as_json=as_json, quiet=quiet)


def _copy(
    traces: list[Path],
    output: Path,
    to: str | None,
    shape: Shape,
    reading: Reading,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    check_file("--output", output)
    copied = convert_traces(traces, output, None if to is None else written_format(to), shape, reading)
    _note_processors(traces, quiet=quiet)
    if as_json:
        emit_json(copied.to_dict())
    elif not quiet:
        for line in copied.remarks():
            say(line)
    return Exit.OK


def _note_processors(traces: list[Path], *, quiet: bool) -> None:
    """A file of blktrace alone is a part of a trace."""
    for files in traces_of(traces):
        left_out = processors_left_out(files)
        if left_out and not quiet:
            stem = files[0].name.rsplit(".blktrace.", 1)[0]
            say(
                f"beside it: {counted(left_out, 'more file')} of {stem}.blktrace; name {files[0].parent / stem} for "
                "all of them"
            )
