"""`drivelab answer`: ready answers by name; each module of `drivelab/answers` is a command here, with its options."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperGroup

from drivelab.answering import registry
from drivelab.answering.lab import Lab
from drivelab.answering.option import Option
from drivelab.answering.registry import Ready
from drivelab.answering.result import Answer
from drivelab.cli import completion
from drivelab.cli import workload_options as words
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped, values
from drivelab.cli.output import emit, emit_json, emit_table, say, wrapped
from drivelab.cli.pictures import Drawn
from drivelab.cli.reports import Reported, Reports, check_reports, write_reports
from drivelab.cli.run_options import AsCsv, AsJson, Quiet, Workers, check_form
from drivelab.report.csv_text import rows_csv
from drivelab.report.table import Cell, Table


class _Answers(TyperGroup):
    """The answers as commands; a name that there is not is refused with the nearest."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - as typer has it
        """The command of this name. Raises InputError."""
        command = super().get_command(ctx, cmd_name)
        if command is None and not cmd_name.startswith("-"):
            registry.found(cmd_name)
        return command


answer = typer.Typer(
    cls=_Answers,
    help="Ready answers, computed by simulation: the names alone without one.",
    invoke_without_command=True,
)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What is printed, and in which form."""

    scenario: Annotated[
        bool,
        typer.Option("--scenario", help="Print the scenario behind the decisive row instead, for simulate"),
    ] = False
    as_json: AsJson = False
    as_csv: AsCsv = False

    def check(self) -> None:
        """Refuse two forms at once. Raises InputError."""
        check_form(json=self.as_json, csv=self.as_csv, scenario=self.scenario)


@answer.callback()
def listed(context: typer.Context, as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the answers, a line each."""
    if context.invoked_subcommand is not None:
        return
    check_form(json=as_json, csv=as_csv)
    rows = [
        {"name": ready.name, "title": ready.title, "question": ready.question}
        for ready in map(registry.found, registry.names())
    ]
    if as_json:
        emit_json(rows)
    elif as_csv:
        emit(rows_csv(rows))
    else:
        cells = [[Cell(row["name"]), Cell(row["title"])] for row in rows]
        emit_table(Table(["answer", "what it answers"], cells, left=frozenset({0, 1})))
        say("drivelab answer NAME --help has the options of each")


def _verb(ready: Ready) -> Callable[..., int]:
    """The command of an answer."""
    group = _group(ready)

    def ask(
        *,
        asked: Any,  # noqa: ANN401 - the group of this answer's options
        randseed: words.Randseed = None,
        settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
        shown: Shown,
        drawn: Drawn,
        report: Reports = [],  # noqa: B006 - typer wants a list, and nobody changes it
        workers: Workers = None,
        quiet: Quiet = False,
    ) -> int:
        shown.check()
        drawn.check()
        check_reports(report)
        lab = Lab(ready.name, words.overrides_of({"randseed": randseed}, settings), workers)
        found = registry.asked(ready, values(asked), lab)
        _print(found, shown, quiet=quiet)
        drawn.draw(found.chart, found.provenance, quiet=quiet)
        write_reports(report, lambda: _reported(found), quiet=quiet)
        return Exit.OK

    ask.__annotations__["asked"] = group
    ask.__doc__ = f"{ready.title[0].upper()}{ready.title[1:]}.\n\n{ready.question}"
    return grouped(ask)


def _group(ready: Ready) -> type[Any]:
    """The options of an answer as a group of options of the command line."""
    fields = []
    for one in dataclasses.fields(ready.options):
        kind, said = ready.described()[one.name]
        default = dataclasses.field(
            **({} if one.default is dataclasses.MISSING else {"default": one.default})
        )
        fields.append((one.name, Annotated[kind, _option(one.name, kind, said)], default))
    return dataclasses.make_dataclass(f"OptionsOf{ready.name.title()}", fields, frozen=True, kw_only=True)


def _option(name: str, kind: Any, said: Option) -> Any:  # noqa: ANN401 - as typer has it
    flag = f"--{name.replace('_', '-')}"
    # Brackets would be markup.
    text = said.help.replace("[", "\\[")
    if kind is bool:
        return typer.Option(flag, help=text)
    unasked = type(None) in get_args(kind)
    names = getattr(completion, said.names) if said.names else None
    return typer.Option(flag, help=text, metavar=said.metavar, autocompletion=names, show_default=not unasked)


def _print(found: Answer, shown: Shown, *, quiet: bool) -> None:
    if shown.scenario:
        emit(found.scenario)
    elif shown.as_json:
        emit_json(found.to_dict())
    elif shown.as_csv:
        emit(rows_csv(found.rows))
    else:
        emit(wrapped(found.sentence))
        emit("")
        emit_table(found.table())
        emit("")
        for text in found.assumptions:
            emit(wrapped(f"assumes: {text}"))
        if not quiet:
            say(
                f"{found.identity()}\n--scenario prints the scenario of the decisive row, for drivelab simulate"
            )


def _reported(found: Answer) -> Reported:
    return Reported(
        title=found.title,
        verb=f"answer {found.name}",
        prints=lambda: _print(found, Shown(), quiet=True),
        charts=[found.chart],
        provenance=found.provenance,
        identity=found.identity(),
        captions=("Figures",),
        record=found.to_dict(),
        scenario=found.scenario,
    )


for _ready in map(registry.found, registry.names()):
    answer.command(_ready.name)(_verb(_ready))
