"""`drivelab reproduce`: run a published table again and set the figures side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import executors, experiment
from drivelab.cli import completion
from drivelab.cli.chart_options import Look, check_look
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.pictures import draw
from drivelab.cli.places import place
from drivelab.cli.run_options import AsCsv, Placement, check_form
from drivelab.experiment import Experiment, Outcome
from drivelab.experiment.engine import planned
from drivelab.experiment.tables import (
    cell_tables,
    claims_table,
    legend,
    not_modelled_table,
    summary_table,
)
from drivelab.host.files import make_folder, write_text
from drivelab.report.csv_text import rows_csv
from drivelab.report.json_text import json_text
from drivelab.report.plural import counted


@grouped
def reproduce(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="An experiment, or the path of one; without it, list them",
            autocompletion=completion.experiments,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Cells, claims and summary as JSON")] = False,
    as_csv: AsCsv = False,
    out: Annotated[
        list[Path], typer.Option(help="Folder for record.json and the picture", metavar="DIR", parser=place)
    ] = [],  # noqa: B006
    look: Look,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 3 unless every claim holds")] = False,
    placement: Placement,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no legend")] = False,
) -> int:
    """Recompute a published table: printed and predicted values, and their differences."""
    check_form(json=as_json, csv=as_csv)
    if name is None:
        _list(as_json=as_json, as_csv=as_csv)
        return Exit.OK
    loaded = experiment.load(name)
    check_look(look, pictures=bool(out), remedy="add --out DIR")
    for folder in out:
        make_folder(folder)
    ready = planned(loaded)
    with (
        executors.using(placement.ray, placement.checkpoint, say),
        progress_bar(ready.points, loaded.name, quiet=quiet) as progress,
    ):
        outcome = experiment.run(loaded, placement.workers, progress, ready)
    if as_json:
        emit_json(outcome.to_dict())
    elif as_csv:
        emit(rows_csv(outcome.rows()))
    else:
        _print(outcome, quiet=quiet)
    for folder in out:
        record = folder / "record.json"
        write_text(record, json_text(outcome.to_dict()))
        _tell_written(record, quiet=quiet)
    if outcome.interrupted:
        say(f"interrupted: {len(outcome.predictions)} of {counted(len(loaded.cells), 'cell')} finished")
        return Exit.INTERRUPTED
    for folder in out:
        picture = folder / f"{loaded.name}.html"
        draw(outcome.chart, picture, outcome.identity(), look)
        _tell_written(picture, quiet=quiet)
    holds = all(verdict.holds for verdict in outcome.verdicts)
    return Exit.COMPARISON if strict and not holds else Exit.OK


def _tell_written(path: Path, *, quiet: bool) -> None:
    if not quiet:
        say(f"wrote {path}")


def _list(*, as_json: bool, as_csv: bool) -> None:
    loaded: list[Experiment] = [experiment.load(name) for name in experiment.names()]
    facts = [{"name": e.name, "title": e.title, "source": e.source, "cells": len(e.cells)} for e in loaded]
    if as_json:
        emit_json({"experiments": facts})
    elif as_csv:
        emit(rows_csv(facts))
    else:
        emit("\n".join(f"{e.name}: {e.title}, {counted(len(e.cells), 'cell')}\n  {e.source}" for e in loaded))


def _print(outcome: Outcome, *, quiet: bool) -> None:
    loaded = outcome.experiment
    emit(f"{loaded.title}{f', in {loaded.unit}' if loaded.unit else ''}\n{loaded.source}")
    if not quiet:
        emit(legend(outcome))
    parts = (summary_table(outcome), claims_table(outcome), not_modelled_table(outcome))
    for table in (*cell_tables(outcome), *parts):
        if table.rows:
            emit("")
            emit_table(table)
    if not quiet:
        identity = outcome.identity()
        emit(
            f"\n{counted(outcome.runs, 'run')}, seed {outcome.seed}, drivelab {identity['version']}, "
            f"model {identity['model_version']}, digest {identity['digest']}"
        )
