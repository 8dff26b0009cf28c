"""`drivelab scan`: what a disk reviewer measures first, simulated: the surface, or requests of growing size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab.cli import completion
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_assumed_of
from drivelab.cli.exits import Exit
from drivelab.cli.groups import given, grouped
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar
from drivelab.cli.pictures import Drawn
from drivelab.cli.run_options import Form, Quiet, Workers
from drivelab.errors import InputError
from drivelab.report.csv_text import rows_csv
from drivelab.scanning import access, sizes, surface
from drivelab.scanning.scan import Scan, SizeScan, scan_target, scan_target_sizes, target_of
from drivelab.scanning.several import Scans, check_drives, scan_targets
from drivelab.scanning.tables import link_note, scan_notes, sizes_notes


def _unasked(
    text: str, default: object, least: int | None = None, names: completion.Complete | None = None
) -> Any:  # noqa: ANN401 - as typer has it
    """An option that is None unless it is given, so that one without effect can be refused."""
    return typer.Option(help=text, show_default=str(default), min=least, autocompletion=names)


@dataclass(frozen=True)
class OfSurface:
    """Options of the scan of a surface alone."""

    rw: Annotated[
        str | None,
        _unasked("Access of the surface scan: read or write", "read", names=completion.surface_kinds),
    ] = None
    places: Annotated[
        int | None, _unasked("Number of addresses at which the rate is measured", surface.PLACES)
    ] = None
    accesses: Annotated[int | None, _unasked("Number of random accesses", access.REQUESTS)] = None
    access_size: Annotated[str | None, _unasked("Size of a random access", access.BLOCK)] = None


def _check_effective(by_size: bool, of_surface: OfSurface, requests: int | None) -> None:
    """Refuse the options of the other kind of scan. Raises InputError."""
    if not by_size and requests is not None:
        raise InputError("--requests changes nothing without --sizes; the accesses are counted by --accesses")
    for option in given(of_surface) if by_size else ():
        raise InputError(
            f"{option} changes nothing with --sizes, which takes random reads and writes of all sizes; leave it out"
        )


@grouped
def scan(
    *,
    drive: Annotated[
        list[str],
        typer.Option(
            help="A drive of the catalogue, or a path to one; several for a comparison",
            metavar="NAME",
            autocompletion=completion.drives,
        ),
    ],
    controller: Annotated[
        str | None,
        typer.Option(help="The host's adapter", metavar="NAME", autocompletion=completion.controllers),
    ] = None,
    by_size: Annotated[
        bool, typer.Option("--sizes", help="Requests from 512 B to 512 MiB in place of the surface")
    ] = False,
    of_surface: OfSurface,
    requests: Annotated[
        int | None, _unasked("With --sizes: requests of each size", sizes.REQUESTS, least=1)
    ] = None,
    randseed: words.Randseed = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    form: Form,
    drawn: Drawn,
    workers: Workers = None,
    quiet: Quiet = False,
) -> int:
    """Scan a drive: transfer rate over the surface, access time by address, burst rate; or time over size.

    The rate is that of sequential requests at evenly spaced places, the access time that of random single
    sectors, the burst rate that of a block read again and again.
    """
    form.check()
    drawn.check()
    _check_effective(by_size, of_surface, requests)
    rw, places = of_surface.rw or "read", _default(of_surface.places, surface.PLACES)
    wanted = (_default(of_surface.accesses, access.REQUESTS), of_surface.access_size or access.BLOCK)
    if rw not in surface.REQUESTS:
        raise InputError(f"--rw {rw}: a surface is scanned by {' or '.join(surface.REQUESTS)}")
    names = [name.strip() for each in drive for name in ([each] if Path(each).is_file() else each.split(","))]
    laid_over = words.overrides_of({"randseed": randseed}, settings)
    if len(names) > 1:
        if by_size:
            raise InputError("--sizes takes one drive; scan the others one by one")
        check_drives(names)
        targets = [target_of(name, controller, laid_over) for name in names]
        for each in targets:
            note_assumed_of(each.overrides, each.name)
        with progress_bar(len(targets) * (places + 2), "scan", quiet=quiet) as progress:
            scans = scan_targets(targets, rw, places, wanted, workers, progress)
        _print_several(scans, form, quiet=quiet)
        drawn.draw(scans.chart, scans.provenance(), quiet=quiet)
        return Exit.OK
    target = target_of(names[0], controller, laid_over)
    note_assumed_of(target.overrides)
    total = 2 * 21 if by_size else places + 2
    with progress_bar(total, target.name, quiet=quiet) as progress:
        found: Scan | SizeScan = (
            scan_target_sizes(target, requests or sizes.REQUESTS, workers, progress)
            if by_size
            else scan_target(target, rw, places, wanted, workers, progress)
        )
    if form.as_json:
        emit_json(found.to_dict())
    elif form.as_csv:
        emit(rows_csv(found.rows()))
    else:
        emit_table(found.table())
        if not quiet:
            notes = scan_notes(found) if isinstance(found, Scan) else sizes_notes(found)
            emit("\n" + "\n".join([*notes, found.run.identity()]))
    drawn.draw(found.chart, found.run.provenance(), quiet=quiet)
    return Exit.OK


def _print_several(scans: Scans, form: Form, *, quiet: bool) -> None:
    """Several drives side by side."""
    if form.as_json:
        emit_json(scans.to_dict())
    elif form.as_csv:
        emit(rows_csv(scans.rows()))
    else:
        emit_table(scans.table())
        if not quiet:
            lines = [
                f"{each.run.name}: {text}" for each in scans.scans if (text := link_note(each)) is not None
            ]
            lines += [f"{each.run.name}: {each.run.identity()}" for each in scans.scans]
            emit("\n" + "\n".join(lines))


def _default(count: int | None, unasked: int) -> int:
    return unasked if count is None else count
