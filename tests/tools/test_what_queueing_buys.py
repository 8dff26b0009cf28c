"""The page on what queueing buys says what the model says today."""

from __future__ import annotations

import what_queueing_buys


def test_the_page_is_what_the_tool_would_write(monkeypatch, tmp_path):
    monkeypatch.setattr(what_queueing_buys, "PICTURES", tmp_path / "pictures")
    written = what_queueing_buys.PAGE.read_text(encoding="utf-8")
    assert what_queueing_buys.page() == written, "run tools/what_queueing_buys.py"


def test_a_table_in_markdown_keeps_its_columns():
    table = what_queueing_buys.table(["order", "1"], [["fcfs", "85.1"]])
    assert table.splitlines() == ["| order | 1 |", "|---|--:|", "| fcfs | 85.1 |"]
