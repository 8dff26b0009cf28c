"""Ready-made measurements: `drivelab measure sweep|table|surface|access|chain|reorder|all TARGET`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drivelab.cli import measure_options as device
from drivelab.cli.chart_options import Look
from drivelab.cli.exits import Exit
from drivelab.cli.groups import given, grouped
from drivelab.cli.measure_reorder import reorder
from drivelab.cli.measure_shingled import shingled
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.pictures import draw
from drivelab.cli.places import check_picture
from drivelab.cli.run_options import Form, Pictures, Quiet
from drivelab.errors import InputError
from drivelab.measuring import asked, ready, summary
from drivelab.measuring.run import How, MeasuredResult
from drivelab.report.csv_text import rows_csv
from drivelab.report.plural import counted
from drivelab.scanning import access as accesses_of
from drivelab.scanning.surface import PLACES, Surface
from drivelab.scanning.surface import document as surface_document

if TYPE_CHECKING:
    import altair

TargetName = Annotated[
    str, typer.Argument(metavar="TARGET", help="A file, a block device or an NBD address", show_default=False)
]
Seconds = Annotated[float, typer.Option(help="Measured time of each point", min=0.01, metavar="S")]
Block = Annotated[str, typer.Option("--bs", help="Transfer size", metavar="SIZE")]


def add_ready(group: typer.Typer) -> None:
    """The verbs, in the order of the help."""
    from drivelab.cli.measure_all import everything  # noqa: PLC0415 - it uses this module

    for name, verb in (
        ("sweep", sweep),
        ("table", table),
        ("surface", surface),
        ("access", access),
        ("chain", chain),
        ("reorder", reorder),
        ("shingled", shingled),
        ("all", everything),
    ):
        group.command(name)(verb)


@grouped
def sweep(
    *,
    target: TargetName,
    rw: Annotated[str, typer.Option(help="randread or read", metavar="KIND")] = "randread",
    bs: Block = "4KiB",
    iodepth: Annotated[str, typer.Option(help="Commands outstanding", metavar="N,N..")] = ready.DEPTHS,
    seconds: Seconds = 10.0,
    repeat: device.Repeat = 1,
    engine: device.Engine = "auto",
    form: Form,
    output: Pictures = [],  # noqa: B006
    quiet: Quiet = False,
) -> int:
    """Rate and latency over queue depth; the CSV is what `fit --sweep` reads."""
    if rw not in {"randread", "read"}:
        raise InputError(
            f"--rw {rw}: a sweep reads; give randread or read, or use `measure --rw {rw} --write`"
        )
    document = ready.sweep_document(rw, bs, whole(iodepth, "--iodepth"), seconds)
    result = run(document, target, engine, output, repeat=repeat, quiet=quiet)
    return show(
        result,
        {"kind": "sweep", **result.document()},
        lambda: ready.sweep_csv(result, bs, rw),
        lambda: emit_table(result.table()),
        [(result.chart, path) for path in output],
        form,
        quiet=quiet,
    )


@grouped
def table(
    *,
    target: TargetName,
    bs: Annotated[str, typer.Option(help="Transfer sizes in KiB", metavar="N,N..")] = ",".join(
        map(str, ready.BLOCKS_KIB)
    ),
    threads: Annotated[str, typer.Option(help="Threads", metavar="N,N..")] = ",".join(
        map(str, ready.THREADS)
    ),
    seconds: Seconds = 5.0,
    engine: device.Engine = "auto",
    permit: device.Permit,
    form: Form,
    quiet: Quiet = False,
) -> int:
    """Block size by threads in MiB/s, the columns of the linux-kernel table of 2007; with --write its writes too."""
    form.check()
    found = asked.find_target(target)
    asked.allow(
        found,
        permit.destroy(),
        writes=any(given(permit)),
        say=(lambda _text: None) if quiet else say,
    )
    documents = list(
        ready.table_documents(
            whole(bs, "--bs"), whole(threads, "--threads"), seconds, with_writes=permit.write
        )
    )
    how = How(engine=asked.how_of(engine=engine).engine, may_write=permit.write)
    results: dict[str, MeasuredResult] = {}
    with progress_bar(len(documents), "table", quiet=quiet) as progress:
        for number, (kind, document) in enumerate(documents):
            results[kind] = ready.measured(document, found, asked.SYSTEM, how)
            if progress is not None:
                progress(number + 1)
            if results[kind].interrupted:
                break
    rows = ready.table_rows(results)
    if form.as_json:
        records = {kind: result.document() for kind, result in results.items()}
        emit_json({"kind": "table", "unit": "MiB/s", "rows": rows, "records": records})
    elif form.as_csv:
        emit(rows_csv(rows))
    else:
        emit_table(ready.rates_table(rows))
    for result in results.values():
        tell(result)
    return max((code_of(result) for result in results.values()), default=Exit.OK)


@grouped
def surface(
    *,
    target: TargetName,
    places: Annotated[
        int, typer.Option(help="Number of addresses at which the rate is measured", metavar="N")
    ] = PLACES,
    requests: Annotated[int, typer.Option(help="Reads of 64 KiB at each place", metavar="N", min=8)] = 256,
    accesses: Annotated[int, typer.Option(help="Number of random reads", metavar="N", min=20)] = 500,
    engine: device.Engine = "auto",
    form: Form,
    output: Pictures = [],  # noqa: B006
    quiet: Quiet = False,
) -> int:
    """Rate over the addresses, and access times; the CSV is what `fit --surface` reads."""
    document = surface_document("read", places, requests=requests)
    result = run(document, target, engine, output, quiet=quiet)
    dots = (
        None
        if result.interrupted
        else run(ready.chain_document(accesses, "4KiB"), target, engine, [], log=accesses, quiet=quiet)
    )
    if dots is not None and dots.interrupted:
        result = replace(result, interrupted=True)
    size, name = (result.environment["target"][key] for key in ("size_bytes", "path"))
    found = _surface_found(result, dots)

    def chart() -> altair.TopLevelMixin:
        from drivelab import charts  # noqa: PLC0415 - slow to load

        return charts.surface({**found, "capacity_bytes": size, "name": name})

    return show(
        result,
        found,
        lambda: ready.surface_csv(found["surface"]["places"], size, result),
        lambda: _print_surface(found),
        [(chart, path) for path in output if "access" in found],
        form,
        quiet=quiet,
    )


def _surface_found(result: MeasuredResult, dots: MeasuredResult | None) -> dict[str, Any]:
    """The record of a surface: of one that was interrupted, the places and the accesses that had finished."""
    scanned = Surface.of(ready.finished(result)).to_dict()
    found = {"kind": "surface", "rw": "read", **result.document(), "surface": scanned}
    if dots is not None and (not dots.interrupted or ready.timed(dots)):
        found["access"] = accesses_of.Access.of(dots.points[0]).to_dict()
        found["access_record"] = dots.document()
    return found


def _print_surface(found: Mapping[str, Any]) -> None:
    rates = [place["bytes_per_s"] / 1e6 for place in found["surface"]["places"]]
    if rates:
        emit(
            f"rate {min(rates):.4g} to {max(rates):.4g} MB/s, mean {sum(rates) / len(rates):.4g}, "
            f"at {counted(len(rates), 'place')}"
        )
    if "access" in found:
        access = found["access"]
        emit(
            f"access {access['mean_ns'] / 1e6:.3f} ms, deviation {access['sd_ns'] / 1e6:.3f}, "
            f"{counted(access['n'], 'read')}"
        )


@grouped
def access(
    *,
    target: TargetName,
    requests: Annotated[int, typer.Option(help="Random reads", metavar="N", min=20)] = 2_000,
    bs: Block = "4KiB",
    engine: device.Engine = "auto",
    form: Form,
    quiet: Quiet = False,
) -> int:
    """Access time by distance, and the full stroke."""
    result = run(ready.chain_document(requests, bs), target, engine, [], log=requests, quiet=quiet)
    size = result.environment["target"]["size_bytes"]
    rows = ready.distances(ready.timed(result), size)
    stroke: list[float] = []
    if not result.interrupted:
        wanted = max(40, requests // 5)
        ends = run(ready.full_stroke_document(wanted), target, engine, [], log=wanted, quiet=quiet)
        stroke = ready.crossings(ready.timed(ends), size)
        result = replace(result, interrupted=ends.interrupted)
    mean = sum(stroke) / len(stroke) if stroke else None
    full = {"n": len(stroke), "mean_ms": mean, "min_ms": min(stroke, default=None)}

    def text() -> None:
        emit_table(ready.distances_table(rows))
        if mean is not None:
            emit(
                f"full stroke: {mean:.3f} ms, mean of {counted(len(stroke), 'read')} from one end to the other"
            )

    return show(
        result,
        {
            "kind": "access",
            **result.document(),
            "distances": [one.row() for one in rows],
            "full_stroke": full,
        },
        lambda: rows_csv([one.row() for one in rows]),
        text,
        [],
        form,
        quiet=quiet,
    )


@grouped
def chain(
    *,
    target: TargetName,
    requests: Annotated[int, typer.Option(help="Reads", metavar="N")] = 2_000,
    bs: Block = "4KiB",
    engine: device.Engine = "auto",
    form: Form,
    quiet: Quiet = False,
) -> int:
    """Timed reads one after the other, with their addresses; the CSV is what `fit --chain` reads."""
    result = run(ready.chain_document(requests, bs), target, engine, [], log=requests, quiet=quiet)
    timed = ready.timed(result)
    rows = [
        {"i": place, "byte_offset": offset, "bytes": size, "rw": kind, "time_ms": ms}
        for place, (offset, size, kind, ms) in enumerate(timed)
    ]
    return show(
        result,
        {"kind": "chain", **result.document(), "requests": rows},
        lambda: ready.chain_csv(result),
        lambda: emit_table(result.table()),
        [],
        form,
        quiet=quiet,
    )


def whole(text: str, option: str) -> list[int]:
    """A list of numbers from 1 on. Raises InputError."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise InputError(f"{option} {text}: give numbers from 1 on, with commas between them: 1,4,16")
    return [int(part) for part in parts]


def run(
    document: Mapping[str, Any],
    target: str,
    engine: str,
    output: Sequence[Path],
    *,
    log: int = 0,
    repeat: int = 1,
    quiet: bool,
) -> MeasuredResult:
    """Measure one workload that only reads. Raises InputError."""
    for path in output:
        check_picture("--output", path)
    found = asked.find_target(target)
    how = How(engine=asked.how_of(engine=engine).engine, log=log, repeats=repeat)
    with progress_bar(points_of(document) * repeat, document.get("name", "surface"), quiet=quiet) as progress:
        return ready.measured(document, found, asked.SYSTEM, how, progress)


def points_of(document: Mapping[str, Any]) -> int:
    """Points of its sweep."""
    found = 1
    for value in document["workload"].values():
        found *= len(value) if isinstance(value, list) else 1
    return found


def show(
    result: MeasuredResult,
    document: Mapping[str, Any],
    csv: Callable[[], str],
    text: Callable[[], None],
    pictures: Sequence[tuple[Callable[[], altair.TopLevelMixin], Path]],
    form: Form,
    *,
    quiet: bool,
) -> int:
    """Print one measurement in the form that was asked for; returns the exit code."""
    form.check()
    if form.as_json:
        emit_json(document)
    elif form.as_csv:
        emit(csv())
    elif result.points:
        text()
        if not quiet:
            emit(f"\n{summary.condition(result)}\n{result.identity()}")
    tell(result)
    for make, path in pictures if result.points else ():
        draw(make, path, result.provenance(), Look())
        if not quiet:
            say(f"wrote {path}")
    return code_of(result)


def tell(result: MeasuredResult) -> None:
    """What speaks against the figures."""
    for note in summary.notes(result):
        say(note)


def code_of(result: MeasuredResult) -> int:
    """What a run came to."""
    from drivelab.cli.measure import exit_code  # noqa: PLC0415 - that module uses this one

    return exit_code(result)
