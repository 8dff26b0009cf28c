"""A report as HTML: the same content gives the same bytes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from drivelab.report.document.colours import dark_rules
from drivelab.report.document.content import Content, Drawing
from drivelab.report.document.embedded import block
from drivelab.report.document.pieces import escaped, lines, listed, pairs, preformatted, table
from drivelab.report.table import Table

_NAMES = {
    "version": "drivelab",
    "model_version": "model",
    "seed": "seed",
    "scenario_hash": "scenario digest",
    "digest": "record digest",
}
"""The keys of the provenance as they are shown, in this order; others follow under their own names."""

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{hash}'; img-src data:; \
base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="drivelab {version}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="about">Report of <code>drivelab {verb}</code></p>
</header>
<main>
{body}
</main>
{record}
</body>
</html>
"""


def page(content: Content) -> str:
    """The report. Raises ValueError for a record that is no JSON."""
    style = _style(content.drawings)
    return _PAGE.format(
        hash=f"sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}",
        version=escaped(str(content.provenance.get("version", ""))),
        title=escaped(content.title),
        verb=escaped(content.verb),
        style=style,
        body="\n".join(_sections(content)),
        record=block(content.record),
    )


def _style(drawings: Sequence[Drawing]) -> str:
    """The style sheet, with the colours of the drawings on a dark page."""
    own = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    rules = dark_rules(shape for drawing in drawings for shape in drawing.shapes)
    return f"\n{own}{rules}"


def _sections(content: Content) -> Iterator[str]:
    if content.answer:
        yield f'<div class="answer">\n{"".join(map(lines, content.answer))}\n</div>'
    if content.drawings:
        yield _section("Charts", map(_figure, content.drawings))
    if content.printed:
        yield _section("Figures", _printed(content))
    if content.remarks:
        yield _section("Notes", [listed(content.remarks)])
    if content.scenario.strip():
        yield _section("Scenario", [preformatted(content.scenario.strip("\n"))])
    yield _section("Provenance", _provenance(content))
    yield _section("Record", [f"<p>{text}</p>" for text in _use(content)])


def _section(title: str, parts: Iterator[str] | Sequence[str]) -> str:
    return "\n".join([f"<section>\n<h2>{title}</h2>", *parts, "</section>"])


def _figure(drawing: Drawing) -> str:
    shapes = "\n".join(drawing.shapes)
    return f"<figure>\n{shapes}\n</figure>"


def _printed(content: Content) -> Iterator[str]:
    number, captions = 0, iter(content.captions)
    for part in content.printed:
        if isinstance(part, Table):
            number += 1
            caption = part.title or next(captions, f"Table {number}")
            yield table(part, f"table-{number}", caption)
        elif part.strip():
            yield lines(part)


def _provenance(content: Content) -> Iterator[str]:
    facts = content.provenance
    names = [*(name for name in _NAMES if name in facts), *(name for name in facts if name not in _NAMES)]
    yield pairs((_NAMES.get(name, name.replace("_", " ")), str(facts[name])) for name in names)
    if content.command:
        yield f'<p>The command:</p>\n<pre class="command" tabindex="0">{escaped(content.command)}</pre>'


def _use(content: Content) -> Iterator[str]:
    yield (
        "This file holds the whole record, as <code>--json</code> prints it. Whatever reads a record reads this file "
        "too: the command line, and the room <i>Your records</i> of the page."
    )
    if content.is_rerun:
        yield (
            "<code>drivelab simulate FILE.html</code> runs it again and compares the digests; "
            "<code>drivelab compare FILE.html OTHER.json</code> sets it beside another record."
        )
