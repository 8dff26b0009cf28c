"""The page on what queueing buys says what the model says today."""

from __future__ import annotations

import re

import what_queueing_buys


def digest(picture):
    """The identity of the run that a picture carries: the drawing itself may differ with the fonts of a machine."""
    return re.search(r"digest:? ?([0-9a-f]{16})", picture.read_text(encoding="utf-8")).group(1)


def test_the_page_is_what_the_tool_would_write(monkeypatch, tmp_path):
    pictures = what_queueing_buys.PICTURES
    monkeypatch.setattr(what_queueing_buys, "PICTURES", tmp_path / "pictures")
    written = what_queueing_buys.PAGE.read_text(encoding="utf-8")
    assert what_queueing_buys.page() == written, "run make docs"
    drawn = {path.name: digest(path) for path in (tmp_path / "pictures").iterdir()}
    assert drawn == {name: digest(pictures / name) for name in drawn}, "run make docs"


def test_a_table_in_markdown_keeps_its_columns():
    table = what_queueing_buys.table(["order", "1"], [["fcfs", "85.1"]])
    assert table.splitlines() == ["| order | 1 |", "|---|--:|", "| fcfs | 85.1 |"]
