"""`--report`: what a verb prints and draws, and its record, as one HTML file.

A report has what the verb prints for people, whatever form was asked for: it is printed once more and kept. Charts load
slowly, so they load here and only when a report is asked for.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drivelab.cli.output import ARGUMENTS, Kept, Remark, kept, say
from drivelab.cli.places import check_file, place
from drivelab.errors import InputError, OutputError, raw
from drivelab.host.files import write_text
from drivelab.report.document.content import Content, Drawing
from drivelab.report.document.embedded import SUFFIXES
from drivelab.report.table import Table

if TYPE_CHECKING:
    import altair

OPTION = "--report"
Reports = Annotated[
    list[Path],
    typer.Option(
        OPTION,
        help="Write a report, with text, tables, charts and the record in one file: .html; repeatable",
        metavar="FILE",
        parser=place,
    ),
]
Make = Callable[[], "altair.TopLevelMixin"]
_SEVERE = ("error:", "warning:")
_WRITTEN = "wrote "


@dataclass(frozen=True, kw_only=True)
class Reported:
    """What a verb has to report."""

    title: str
    verb: str
    prints: Callable[[], object]
    """Prints the result for people, and says its remarks."""
    charts: Sequence[Make]
    provenance: Mapping[str, Any]
    identity: str
    """The provenance in one line, as it is printed: a report has it elsewhere."""
    record: object
    captions: Sequence[str] = ()
    """Of the tables that have no title, in their order."""
    scenario: str = ""
    answer: Sequence[str] = ()
    """The result in sentences; without any, what is printed before the first table."""
    said: Sequence[str] = field(default_factory=list)
    """Remarks from before the result was there."""
    is_rerun: bool = False


def check_reports(paths: Sequence[Path]) -> None:
    """Refuse a report that could not be written. Raises InputError and OutputError."""
    for path in paths:
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(f"{OPTION} {path}: a report ends in {' or '.join(SUFFIXES)}")
        check_file(OPTION, path)


def write_reports(paths: Sequence[Path], found: Callable[[], Reported], *, quiet: bool) -> None:
    """Write what was found to each of the files. Raises OutputError."""
    if not paths:
        return
    from drivelab.report.document.page import page  # noqa: PLC0415

    text = page(content_of(found()))
    for path in paths:
        write_text(path, text)
        if not quiet:
            say(f"wrote {path}")


def content_of(found: Reported) -> Content:
    """The report of what was found. Raises OutputError."""
    with kept() as parts:
        found.prints()
    answer, printed = _apart(parts, found)
    remarks = [*found.said, *(part.text for part in parts if isinstance(part, Remark))]
    return Content(
        title=found.title,
        verb=found.verb,
        answer=answer,
        drawings=_drawn(found.charts),
        printed=printed,
        remarks=_remarks(remarks, found.identity),
        provenance=found.provenance,
        command=command(ARGUMENTS.get()),
        scenario=found.scenario,
        record=found.record,
        captions=found.captions,
        is_rerun=found.is_rerun,
    )


def _apart(parts: Kept, found: Reported) -> tuple[list[str], list[str | Table]]:
    """The answer, and what else was printed on stdout."""
    printed: list[str | Table] = []
    for part in parts:
        if isinstance(part, Table):
            printed.append(part)
        elif isinstance(part, str):
            lines = [line for line in part.split("\n") if line != found.identity]
            printed.append("\n".join(lines))
    if found.answer:
        return list(found.answer), printed
    first = next((place for place, part in enumerate(printed) if isinstance(part, Table)), len(printed))
    texts = [part for part in printed[:first] if isinstance(part, str) and part.strip()]
    return texts, printed[first:]


def _remarks(texts: Sequence[str], identity: str) -> list[str]:
    """Remarks, each once, the severe ones first, without the provenance."""
    lines = [line for text in texts for line in text.split("\n")]
    kept_lines = [line for line in dict.fromkeys(lines) if line not in {"", identity}]
    kept_lines = [line for line in kept_lines if not line.startswith(_WRITTEN)]
    return sorted(kept_lines, key=lambda line: not line.startswith(_SEVERE))


def _drawn(charts: Sequence[Make]) -> list[Drawing]:
    from drivelab import charts as room  # noqa: PLC0415
    from drivelab.charts.inline import inline  # noqa: PLC0415

    try:
        return [inline(make(), number) for number, make in enumerate(charts, 1)]
    except room.ChartError as error:
        raise OutputError(raw(error)) from error


def command(arguments: Sequence[str]) -> str:
    """The command as it was typed, without its reports: the same record gives the same report under any name."""
    if not arguments:
        return ""
    left: list[str] = []
    is_value = False
    for word in arguments:
        if is_value or word == OPTION or word.startswith(f"{OPTION}="):
            is_value = word == OPTION and not is_value
            continue
        left.append(word)
    return shlex.join(["drivelab", *left])
