"""`drivelab trace`: what is in a recorded trace, its first requests, the same in another format or shape."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab.cli.chart_options import ASK_FOR_ONE, Dpi, Look, Provenance, Title, Width, check_look
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, emit_table, say
from drivelab.cli.pictures import draw
from drivelab.cli.places import check_file, check_picture, place
from drivelab.cli.run_options import AsCsv, AsJson, Pictures, Quiet, check_form
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
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"The format, where the first lines leave it open: {', '.join(FORMATS)}",
        metavar="NAME",
        autocompletion=lambda incomplete: [name for name in FORMATS if name.startswith(incomplete)],
    ),
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Count what is wrong, and go on")]
ReadFlag = Annotated[
    int | None,
    typer.Option(help="0 or 1, whichever means a read in this trace", min=0, max=1, show_default=False),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        help="The unit of times: ns, 100ns, us, ms or s", metavar="UNIT", show_default="the format's"
    ),
]
DeviceSize = Annotated[
    str | None,
    typer.Option(help="A device ends there, such as 300GB; what reaches beyond is a problem", metavar="SIZE"),
]
Sort = Annotated[
    bool, typer.Option("--sort", help="Put requests in order that are fewer than 131,072 places out of it")
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
    typer.Option("--output", "-o", help="Where to; packed if it ends in .gz", metavar="FILE", parser=place),
]
SHAPE_PANEL = "Shape, in this order"
Device = Annotated[
    str | None,
    typer.Option(help="One device alone, by its name", metavar="NAME", rich_help_panel=SHAPE_PANEL),
]
Skip = Annotated[int, typer.Option(help="Without so many first requests", min=0, rich_help_panel=SHAPE_PANEL)]
Count = Annotated[
    int | None, typer.Option(help="So many requests at most", min=1, rich_help_panel=SHAPE_PANEL)
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="From this time since the first request on, such as 90s",
        metavar="TIME",
        rich_help_panel=SHAPE_PANEL,
    ),
]
Until = Annotated[
    str | None, typer.Option(help="Up to this time, without it", metavar="TIME", rich_help_panel=SHAPE_PANEL)
]
ScaleTime = Annotated[
    str | None,
    typer.Option(
        help="Times since the first request are multiplied by it: 0.5 is twice as fast",
        metavar="FACTOR",
        rich_help_panel=SHAPE_PANEL,
    ),
]
RemapTo = Annotated[
    str | None,
    typer.Option(
        help="wrap: addresses modulo --capacity, keeps distances; scale: times --capacity over --of, keeps shares of "
        "the stroke",
        metavar="HOW",
        rich_help_panel=SHAPE_PANEL,
    ),
]
Capacity = Annotated[
    str | None,
    typer.Option(
        help="The size of the new device, such as 300GB", metavar="SIZE", rich_help_panel=SHAPE_PANEL
    ),
]
Of = Annotated[
    str | None, typer.Option(help="The size of the old device", metavar="SIZE", rich_help_panel=SHAPE_PANEL)
]
Merge = Annotated[
    str | None,
    typer.Option(
        help="Several traces: clock where they have one, start to begin them together", metavar="HOW"
    ),
]


@trace.command()
def info(
    traces: Traces,
    format_: Format = None,
    lenient: Lenient = False,
    read_flag: ReadFlag = None,
    time_unit: TimeUnit = None,
    device_size: DeviceSize = None,
    sort: Sort = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    output: Pictures = [],  # noqa: B006 - typer wants a list, and nobody changes it
    title: Title = None,
    width: Width = None,
    dpi: Dpi = None,
    provenance: Provenance = False,
    quiet: Quiet = False,
) -> int:
    """Count everything about a trace: mix, sizes, rates, bursts, locality, reuse, working set, response times."""
    check_form(json=as_json, csv=as_csv)
    for path in output:
        check_picture("--output", path)
    look = Look(title, width, dpi, provenance)
    check_look(look, pictures=bool(output), remedy=ASK_FOR_ONE)
    found = info_of(traces, Reading(format_, lenient, read_flag, time_unit, device_size, sort))
    _note_processors(traces, quiet=quiet)
    if as_json:
        emit_json(found.to_dict())
    elif as_csv:
        emit(rows_csv([found.row()]))
    else:
        for at, table in enumerate(found.tables()):
            if at:
                emit("")
            emit_table(table)
    for path in output:
        draw(found.chart, path, found.provenance(), look)
        if not quiet:
            say(f"wrote {path}")
    return Exit.OK


@trace.command()
def head(
    traces: Traces,
    count: Annotated[int, typer.Option("--count", "-n", help="So many requests", min=1, max=1_000_000)] = 10,
    format_: Format = None,
    lenient: Lenient = False,
    read_flag: ReadFlag = None,
    time_unit: TimeUnit = None,
    device_size: DeviceSize = None,
    sort: Sort = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    quiet: Quiet = False,
) -> int:
    """Show the first requests of a trace as they are understood."""
    check_form(json=as_json, csv=as_csv)
    found = head_of(traces, count, Reading(format_, lenient, read_flag, time_unit, device_size, sort))
    _note_processors(traces, quiet=quiet)
    if as_json:
        emit_json(found.to_dict())
    elif as_csv:
        emit(found.csv())
    else:
        emit_table(found.table())
    if not quiet:
        for line in problem_lines(traces, found.problems):
            say(line)
    return Exit.OK


@trace.command()
def convert(
    traces: Traces,
    output: Output,
    to: To = None,
    merge: Merge = None,
    format_: Format = None,
    lenient: Lenient = False,
    read_flag: ReadFlag = None,
    time_unit: TimeUnit = None,
    device_size: DeviceSize = None,
    sort: Sort = False,
    device: Device = None,
    skip: Skip = 0,
    count: Count = None,
    from_: From = None,
    until: Until = None,
    scale_time: ScaleTime = None,
    remap: RemapTo = None,
    capacity: Capacity = None,
    of: Of = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Write a trace, or several merged into one, in another format or shape."""
    reading = Reading(format_, lenient, read_flag, time_unit, device_size, sort)
    shape = Shape(device, skip, count, from_, until, scale_time, remap, capacity, of, merge)
    return _copy(traces, output, to, shape, reading, as_json=as_json, quiet=quiet)


@trace.command()
def cut(
    traces: Traces,
    output: Output,
    to: To = None,
    format_: Format = None,
    lenient: Lenient = False,
    read_flag: ReadFlag = None,
    time_unit: TimeUnit = None,
    sort: Sort = False,
    device: Device = None,
    skip: Skip = 0,
    count: Count = None,
    from_: From = None,
    until: Until = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Write a part of a trace: a window of time or of requests, or one device."""
    reading = Reading(format_, lenient, read_flag, time_unit, None, sort)
    shape = Shape(device, skip, count, from_, until)
    return _copy(traces, output, to, shape, reading, as_json=as_json, quiet=quiet)


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
