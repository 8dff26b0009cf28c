"""`drivelab library`: records kept in a database, to be found, compared, and given to others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab.cli.compare_options import Judgement, show
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, emit_table, say
from drivelab.cli.pictures import Drawn
from drivelab.cli.places import check_file, place
from drivelab.cli.reports import Reports, check_reports
from drivelab.cli.run_options import AsJson, Form
from drivelab.host.files import write_text
from drivelab.record_library.call import KINDS, Records, checked_export, of_file
from drivelab.record_library.entry import DIGEST_SHOWN, Entry
from drivelab.record_library.exchange import imported
from drivelab.record_library.shelf import VARIABLE, shown
from drivelab.records.formats.known import OTHERS
from drivelab.records.opening import check_sources, open_document
from drivelab.report.csv_text import rows_csv
from drivelab.report.json_text import json_text
from drivelab.report.plural import counted
from drivelab.report.table import Cell, Table

library = typer.Typer(
    help="Keep records in a database: add, list, search, tag, compare, export, import.",
    no_args_is_help=True,
)

_VALUES_SHOWN = 4

Where_ = Annotated[
    str | None,
    typer.Option(
        "--library",
        help=f"The database: a file, or postgresql://user@host/database [${VARIABLE}, else one of the user]",
        metavar="PLACE",
        show_default=False,
    ),
]
_A_RECORD = "Its number, the begin of its digest, or a tag or name that only it has"
Named = Annotated[list[str], typer.Argument(metavar="RECORD..", help=_A_RECORD, show_default=False)]
One = Annotated[str, typer.Argument(metavar="RECORD", help=_A_RECORD, show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes")]
Tags = Annotated[
    list[str],
    typer.Option("--tag", help="A tag; repeatable", metavar="TAG", show_default=False),
]
Kind = Annotated[str | None, typer.Option(help=", ".join(KINDS), metavar="KIND", show_default=False)]
Anonymous = Annotated[
    bool,
    typer.Option("--anonymous", help="Without names of hosts and users, serial numbers, paths and addresses"),
]


@library.command("add")
def add(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE..",
            help=f"JSON of simulate, emulate, measure, reproduce or fio; {OTHERS}; - for stdin",
            show_default=False,
        ),
    ],
    tags: Tags = [],  # noqa: B006 - typer wants a list, and nobody changes it
    anonymous: Anonymous = False,
    where: Where_ = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Add records. What is there already stays as it is, and gets the tags as well."""
    check_sources(sources)
    documents = {source: open_document(source) for source in sources}
    # Nothing is opened, let alone made, unless all of them are records.
    records = [
        of_file(document, source, tags=tags, anonymous=anonymous) for source, document in documents.items()
    ]
    with Records(where, create=True) as found:
        kept = found.shelf.put(records)
        if as_json:
            emit_json([{**entry.to_dict(), "new": is_new} for entry, is_new in kept])
        else:
            for entry, is_new in kept:
                emit(f"{'added' if is_new else 'already there as'} {shown(entry)}")
        if not quiet:
            for source, document in documents.items():
                for note in document.notes:
                    say(f"note: {source}: {note}")
            say(f"library {found.place}")
    return Exit.OK


@library.command("list")
@grouped
def list_(
    *,
    tags: Tags = [],  # noqa: B006
    kind: Kind = None,
    where: Where_ = None,
    form: Form,
) -> int:
    """List the records."""
    return _list([], tags, kind, where, form)


@library.command("search")
@grouped
def search(
    *,
    terms: Annotated[
        list[str],
        typer.Argument(
            metavar="TERM..",
            help="A word anywhere, or NAME=VALUE of a field (kind, target, tag, ..), of an axis (bs=4k) or of a key of "
            "the scenario (target.queue.protocol=ncq); all must fit",
            show_default=False,
        ),
    ],
    tags: Tags = [],  # noqa: B006
    kind: Kind = None,
    where: Where_ = None,
    form: Form,
) -> int:
    """List the records that fit all terms. Without any the exit code is 3."""
    return _list(terms, tags, kind, where, form)


def _list(terms: list[str], tags: list[str], kind: str | None, where: str | None, form: Form) -> int:
    form.check()
    with Records(where) as found:
        entries = found.search(*terms, kind=kind, tags=tags)
        place_ = found.place
    if form.as_json:
        emit_json({"library": place_, "records": [entry.to_dict() for entry in entries]})
    elif form.as_csv:
        emit(rows_csv([_row(entry) for entry in entries]))
    elif entries:
        emit_table(_table(entries))
    else:
        say(f"library {place_}: no record{' fits' if terms or tags or kind else ''}")
    return Exit.OK if entries or not terms else Exit.COMPARISON


def _row(entry: Entry) -> dict[str, str]:
    table = entry.to_dict()
    axes = {f"axes.{name}": " ".join(values) for name, values in entry.axes.items()}
    axes |= {f"settings.{name}": " ".join(values) for name, values in entry.settings.items()}
    return {
        key: " ".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else "")
        for key, value in {**table, **axes}.items()
        if key not in {"axes", "settings"}
    }


def _table(entries: list[Entry]) -> Table:
    rows = [
        [
            Cell(str(entry.number)),
            Cell(entry.kind),
            Cell(", ".join(part for part in (entry.target or entry.name, entry.label) if part) or "-"),
            Cell(str(entry.points)),
            Cell(_swept(entry)),
            Cell(entry.program or "-"),
            Cell(entry.added[:10]),
            Cell(", ".join(entry.tags) or "-"),
            Cell(entry.digest[:DIGEST_SHOWN]),
        ]
        for entry in entries
    ]
    columns = ["no", "kind", "of", "points", "axes", "program", "added", "tags", "digest"]
    return Table(columns, rows, left=frozenset({1, 2, 4, 5, 6, 7, 8}))


def _swept(entry: Entry) -> str:
    """The axes with their values, the depth left out where iodepth says it."""
    parts = []
    for name, values in entry.axes.items():
        if name in {"drive", "numjobs"} or (name == "depth" and "iodepth" in entry.axes):
            continue
        more = ",.." if len(values) > _VALUES_SHOWN else ""
        parts.append(f"{name} {','.join(values[:_VALUES_SHOWN])}{more}")
    return "; ".join(parts) or "-"


@library.command("show")
def show_record(record: One, where: Where_ = None) -> int:
    """Print a record as JSON: what was added, with its keys in order."""
    with Records(where) as found:
        objects = found.content(record)
    for one in objects:
        emit_json(one)
    return Exit.OK


@library.command("tag")
def tag(
    record: One,
    tags: Annotated[
        list[str], typer.Argument(metavar="TAG..", help="Words to find it by", show_default=False)
    ],
    remove: Annotated[bool, typer.Option("--remove", help="Take the tags off")] = False,
    where: Where_ = None,
) -> int:
    """Put tags on a record, or take them off."""
    with Records(where) as found:
        entry = found.untag(record, *tags) if remove else found.tag(record, *tags)
    emit(f"{shown(entry)}, tags {', '.join(entry.tags) or 'none'}")
    return Exit.OK


@library.command("remove")
def remove(records: Named, where: Where_ = None) -> int:
    """Take records out of the library."""
    with Records(where) as found:
        for entry in found.remove(*records):
            emit(f"removed {shown(entry)}")
    return Exit.OK


@library.command("compare")
@grouped
def compare(
    *,
    records: Named,
    judgement: Judgement,
    form: Form,
    drawn: Drawn,
    report: Reports = [],  # noqa: B006 - typer wants a list, and nobody changes it
    where_kept: Where_ = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes")] = False,
) -> int:
    """Compare records of the library, as `drivelab compare` does files; a path or published:NAME may be among them."""
    form.check()
    drawn.check("-o")
    check_reports(report)
    choice = judgement.choice()
    check_sources(records)
    with Records(where_kept) as found:
        comparison = found.compared(records, choice)
    return show(comparison, form, drawn, report, quiet=quiet)


@library.command("export")
def export(
    records: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RECORD..]", help="Which; all unless named", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; stdout unless named", metavar="FILE", parser=place),
    ] = None,
    anonymous: Anonymous = False,
    where: Where_ = None,
    quiet: Quiet = False,
) -> int:
    """Write records with their tags and digests into one file for another library."""
    if output is not None:
        check_file("-o", output)
    with Records(where) as found:
        document = found.exported(records or (), anonymous=anonymous)
    if output is None:
        emit(json_text(document))
        return Exit.OK
    write_text(output, json_text(document))
    if not quiet:
        say(f"wrote {output}: {counted(len(document['records']), 'record')}")
    return Exit.OK


@library.command("import")
def import_(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="FILE..", help="What `library export` wrote; - for stdin", show_default=False),
    ],
    where: Where_ = None,
    quiet: Quiet = False,
) -> int:
    """Take records from exports, once version, form and digests are checked; a file is taken whole or not at all."""
    check_sources(sources)
    # Nothing is opened, let alone made, for a file that is not sound.
    documents = [(source, checked_export(source)) for source in sources]
    with Records(where, create=True) as found:
        for source, records in documents:
            new, there = imported(found.shelf, records)
            were = "was" if len(there) == 1 else "were"
            emit(f"{source}: {counted(len(new), 'record')} added, {len(there)} {were} there already")
        if not quiet:
            say(f"library {found.place}")
    return Exit.OK
