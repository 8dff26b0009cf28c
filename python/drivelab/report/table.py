"""A table of text, written for whoever looks: aligned plain text, a terminal's rich table, HTML."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from drivelab.report.visible import visible_cell

if TYPE_CHECKING:
    import rich.table

SCREEN = 100
"""Columns of a screen on which an answer has to fit."""
STYLES_CSS = {
    "bold": "font-weight:bold",
    "dim": "color:gray",
    "green": "color:green",
    "yellow": "color:#b58900",
}
STYLES_CSS["red"] = "color:#c0392b"


@dataclass(frozen=True)
class Cell:
    """What a table says in one place; `style` is a colour's name, and never carries the meaning alone."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells under titled columns. Figures are set to the right, text to the left."""

    columns: list[str]
    rows: list[list[Cell]]
    title: str = ""
    left: frozenset[int] = field(default_factory=frozenset)
    """Columns that hold text."""
    width: int | None = None
    """Where plain text shall fit: its columns of text are then broken between words."""

    def __str__(self) -> str:
        """Plain text in aligned columns, two blanks between them; no line is cut."""
        columns = [visible_cell(title) for title in self.columns]
        rows = [[visible_cell(cell.text) for cell in row] for row in self.rows]
        widths = [max(len(title), *(len(row[i]) for row in rows), 0) for i, title in enumerate(columns)]
        self._fit(widths)
        every = frozenset(range(len(widths)))
        lines = self._lines(columns, widths, every)
        lines += [line for row in rows for line in self._lines(row, widths, self.left)]
        return "\n".join([*([visible_cell(self.title)] if self.title else []), *lines])

    def _fit(self, widths: list[int]) -> None:
        """Break titles, then narrow the widest columns of text, until a line fits or no word could stay whole."""

        def excess() -> int:
            return 0 if self.width is None else sum(widths) + 2 * (len(widths) - 1) - self.width

        if excess() <= 0:
            return
        least = [
            max(len(word) for text in (title, *self._texts(i)) for word in text.split() or [""])
            for i, title in enumerate(self.columns)
        ]
        for i in range(len(widths)):
            if i not in self.left:
                widths[i] = max(least[i], *map(len, self._texts(i)), 0)
        while excess() > 0 and (able := [i for i in self.left if widths[i] > least[i]]):
            widths[max(able, key=lambda i: widths[i])] -= 1

    def _texts(self, column: int) -> list[str]:
        return [row[column].text for row in self.rows]

    def _lines(self, texts: list[str], widths: list[int], broken: frozenset[int]) -> list[str]:
        """A row; several lines where a text is broken."""
        parts = [
            textwrap.wrap(text, widths[i], break_long_words=False, break_on_hyphens=False) or [""]
            if i in broken and len(text) > widths[i]
            else [text]
            for i, text in enumerate(texts)
        ]
        count = max(map(len, parts), default=1)
        return [
            self._line([part[place] if place < len(part) else "" for part in parts], widths)
            for place in range(count)
        ]

    def _line(self, texts: list[str], widths: list[int]) -> str:
        padded = (
            text.ljust(width) if i in self.left else text.rjust(width)
            for i, (text, width) in enumerate(zip(texts, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    def rich(self) -> rich.table.Table:
        """The table for a terminal."""
        from rich import box  # noqa: PLC0415 - only a terminal needs it
        from rich.table import Table as RichTable  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = RichTable(
            title=Text(visible_cell(self.title)) if self.title else None,
            title_justify="left",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            collapse_padding=True,
        )
        for i, title in enumerate(self.columns):
            # A figure is never cut or broken; its title may take two lines instead.
            whole = not any(" " in row[i].text for row in self.rows)
            shown = visible_cell(title)
            text = Text(shown.replace(" ", "\n") if whole else shown)
            table.add_column(text, justify="left" if i in self.left else "right", no_wrap=whole)
        for row in self.rows:
            table.add_row(*(Text(visible_cell(cell.text), style=cell.style) for cell in row))
        return table

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(title)}</th>" for title in self.columns)
        body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in self.rows)
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cell(cell: Cell) -> str:
    style = f' style="{STYLES_CSS[cell.style]}"' if cell.style in STYLES_CSS else ""
    return f"<td{style}>{html.escape(cell.text)}</td>"
