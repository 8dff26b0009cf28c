"""Parts of a report as HTML: tables, texts, lists. Every text is escaped here."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from drivelab.report.table import STYLES_CSS, Cell, Table
from drivelab.report.visible import visible, visible_cell

_COLUMNS = re.compile(r"\S {2,}\S")
"""Text that is aligned by blanks."""
_SEVERE = ("error", "warning")
_LONG = 32
"""A text of more characters may be broken in its cell."""


def escaped(text: str) -> str:
    """Text for HTML, its control characters written out."""
    return html.escape(visible(text))


def table(found: Table, name: str, caption: str) -> str:
    """A table with its caption; `name` is its id."""
    head = "".join(
        f'<th scope="col"{_side(found, place)}>{_cell_text(title)}</th>'
        for place, title in enumerate(found.columns)
    )
    rows = "\n".join(f"<tr>{''.join(_cells(found, row))}</tr>" for row in found.rows)
    title = _cell_text(caption)
    return (
        f'<div class="wide" role="region" aria-labelledby="{name}" tabindex="0">\n<table>\n'
        f'<caption id="{name}">{title}</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _cells(found: Table, row: Sequence[Cell]) -> Iterable[str]:
    for place, cell in enumerate(row):
        # The first column says what the row is about.
        tag, scope = ("th", ' scope="row"') if place == 0 else ("td", "")
        side = ("t long" if len(cell.text) > _LONG else "t") if place in found.left else ""
        names = [name for name in (side, _class(cell)) if name]
        kind = f' class="{" ".join(names)}"' if names else ""
        yield f"<{tag}{scope}{kind}>{_cell_text(cell.text)}</{tag}>"


def _side(found: Table, place: int) -> str:
    return ' class="t"' if place in found.left else ""


def _class(cell: Cell) -> str:
    return f"s-{cell.style}" if cell.style in STYLES_CSS else ""


def _cell_text(text: str) -> str:
    return html.escape(visible_cell(text))


def lines(text: str) -> str:
    """A text of one or more lines: a paragraph each; lines in columns stay in columns."""
    found = text.strip("\n").split("\n")
    if any(_COLUMNS.search(line) for line in found):
        return preformatted(text.strip("\n"))
    blocks = [block for block in re.split(r"\n\s*\n", text.strip()) if block]
    return "\n".join(_block(block.split("\n")) for block in blocks)


def _block(found: Sequence[str]) -> str:
    texts = "\n".join(f"<p>{escaped(line)}</p>" for line in found)
    return texts if len(found) == 1 else f'<div class="lines">\n{texts}\n</div>'


def preformatted(text: str) -> str:
    """Text in lines and columns as it is."""
    return f'<pre tabindex="0">{escaped(text)}</pre>'


def listed(texts: Iterable[str]) -> str:
    """A list of remarks; errors and warnings are marked."""
    rows = []
    for text in texts:
        kind, colon, rest = text.partition(":")
        if kind in _SEVERE:
            rows.append(f'<li><strong class="grave">{kind}{colon}</strong>{escaped(rest)}</li>')
        else:
            rows.append(f"<li>{escaped(rest.strip() if kind == 'note' else text)}</li>")
    return "<ul>\n" + "\n".join(rows) + "\n</ul>"


def pairs(found: Iterable[tuple[str, str]]) -> str:
    """Names with their values."""
    rows = "\n".join(
        f"<dt>{escaped(name)}</dt><dd><code>{escaped(value)}</code></dd>" for name, value in found
    )
    return f"<dl>\n{rows}\n</dl>"
