"""`drivelab validate`: a drive file beside the measured service times of the real drive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab.cli import completion
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_assumed_of
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, emit_table
from drivelab.cli.pictures import Drawn
from drivelab.cli.places import place
from drivelab.cli.run_options import AsCsv, check_form
from drivelab.errors import InputError
from drivelab.report import toml_text
from drivelab.report.csv_text import tables_csv
from drivelab.report.plural import counted
from drivelab.scenarios.scenario import Override
from drivelab.validating import validation
from drivelab.validating.validation import Validation
from drivelab.validating.validation_groups import FAR_PERCENT, MARGIN_PERCENT

_MARGIN_MAX = 1000


@grouped
def validate(
    *,
    drive: Annotated[
        str,
        typer.Argument(
            metavar="DRIVE",
            help="A drive file, or a drive of the catalogue",
            autocompletion=completion.drives,
        ),
    ],
    trace: Annotated[
        Path, typer.Option(help="Its validation trace", metavar="FILE", parser=place, show_default=False)
    ],
    drawn: Drawn,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of the initial rotational position [1]", min=0, show_default=False),
    ] = None,
    demerit_max: Annotated[
        float | None,
        typer.Option(
            help="Exit 3 if the demerit exceeds this share of the measured mean",
            metavar="PERCENT",
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(help="Allowed error of a group's mean", metavar="PERCENT"),
    ] = MARGIN_PERCENT,
    groups_max: Annotated[
        int | None,
        typer.Option(help="Exit 3 if more groups fail", metavar="COUNT", min=0, show_default=False),
    ] = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    as_json: Annotated[bool, typer.Option("--json", help="The figures as JSON")] = False,
    as_csv: AsCsv = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No footer")] = False,
) -> int:
    """Replay the measured requests of a real drive, and set its service times beside the model's."""
    check_form(json=as_json, csv=as_csv)
    drawn.check("-o")
    # Not a number compares as false with everything.
    if demerit_max is not None and not demerit_max >= 0:
        raise InputError(
            f"--demerit-max {demerit_max:g}: give a percentage that is not below zero, such as 5"
        )
    if not 0 <= margin <= _MARGIN_MAX:
        raise InputError(f"--margin {margin:g}: give a percentage from 0 to {_MARGIN_MAX}, such as 5")
    overrides = words.overrides_of({}, settings)
    if seed is not None:
        overrides.insert(0, Override("run.seed", str(seed), "--seed"))
    found = validation.replay(drive, trace, overrides, margin)
    note_assumed_of([Override("target.drive", toml_text.value_text(str(drive)), "the drive"), *overrides])
    if as_json:
        emit_json(found.to_dict())
    elif as_csv:
        emit(tables_csv([found.table()]))
    else:
        _print(found, quiet=quiet)
    drawn.draw(found.chart, found.provenance(), quiet=quiet)
    share = found.all.demerit_share
    # Without a measured mean there is no share that could be small enough.
    too_far = demerit_max is not None and (share is None or 100 * share > demerit_max)
    too_many = groups_max is not None and found.verdicts()["fail"] > groups_max
    return Exit.COMPARISON if too_far or too_many else Exit.OK


def _hits(found: Validation) -> str:
    """What is known of hits and misses request by request."""
    if not found.hits:
        return "hits and misses: by the model; the trace does not tell them apart\n"
    shares = "; ".join(
        f"{name} {100 * agreed.share:.1f} % agreed, {agreed.both_hit} hits and {agreed.both_miss} misses, "
        f"{agreed.only_measured_hit} hits only as measured, {agreed.only_simulated_hit} only as simulated"
        for name, agreed in found.hits.items()
    )
    return f"hits and misses: by the trace; {shares}\n"


def _print(found: Validation, *, quiet: bool) -> None:
    emit_table(found.table())
    if quiet:
        return
    facts, verdicts = found.provenance(), found.verdicts()
    judged = sum(verdicts.values()) - verdicts["too_few"]
    margin = f"{100 * found.all.margin:g} %"
    emit(
        f"\n{verdicts['pass']} of {counted(judged, 'group')} pass, {verdicts['undecided']} undecided, "
        f"{verdicts['fail']} fail: the 95 % interval of the mean error lies within {margin}, neither, beyond it\n"
        f"{_hits(found)}"
        f"far: more than {FAR_PERCENT} % of the capacity from the end of the request before\n"
        f"demerit: root mean square of the distance between both distributions\n"
        f"drivelab {facts['version']}, model {facts['model_version']}, seed {facts['seed']}, "
        f"scenario {facts['scenario_hash']}"
    )
