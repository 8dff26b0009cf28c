"""tools/durability_figures.py: what it shows of histories and rebuilds is what they come to."""

from __future__ import annotations

import re

import durability_figures as tool


def test_rare_losses_are_held_to_the_chain(capsys):
    tool.rare(1 << 20)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == ["splitting", "biasing"]
    for line in lines:
        found = re.search(r"± (\d+\.\d)% a year, ([+-]\d+\.\d)% from the chain's", line)
        assert found is not None
        # Half an interval is two standard errors.
        assert abs(float(found[2])) < 2 * float(found[1])


def test_drive_years_are_counted(capsys):
    tool.drive_years(1 << 17)
    for line in capsys.readouterr().out.splitlines():
        # Eight drives for five years, but for those that are lost before.
        years = re.search(r"\((\S+), ", line)
        assert years is not None
        assert abs(float(years[1]) / ((1 << 17) * 40) - 1) < 0.01


def test_a_rebuild_is_held_to_the_whole_one(capsys):
    tool.rebuilds(tool.CASES[:1])
    off = re.search(r"([+-]\d+\.\d)% from the whole", capsys.readouterr().out)
    assert off is not None
    assert abs(float(off[1])) < 5


def test_a_name_that_is_no_figure_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(tool.sys, "argv", ["durability_figures.py", "rate"])
    assert tool.main() == 2
    assert "there is no rate: there are drive-years, rare" in capsys.readouterr().err
