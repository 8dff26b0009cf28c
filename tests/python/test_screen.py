"""What is printed for people: counts with their nouns, and lines and tables that fit a screen."""

from __future__ import annotations

import pytest

from drivelab.cli.output import wrapped
from drivelab.report.chances import figure, in_percent, percent_text
from drivelab.report.plural import are, counted
from drivelab.report.table import SCREEN, Cell, Table


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (1, "candidate", "1 candidate"),
        (0, "candidate", "0 candidates"),
        (1_200, "drive", "1,200 drives"),
        (1, "stretch", "1 stretch"),
        (2, "stretch", "2 stretches"),
        (3, "history", "3 histories"),
        (2, "day", "2 days"),
        (2, "I/O", "2 I/Os"),
        (2, "more point", "2 more points"),
    ],
)
def test_a_count_has_the_noun_that_belongs_to_it(count, noun, text):
    assert counted(count, noun) == text


def test_the_verb_and_the_form_of_a_count():
    assert (are(1), are(0), are(2)) == ("is", "are", "are")
    assert (counted(1.0, "year", form="g"), counted(2.5, "year", form="g")) == ("1 year", "2.5 years")
    assert counted(10_001, "place", form="d") == "10001 places"


def test_a_line_is_broken_between_words_and_set_in():
    text = f"survives: {'the failure of any two drives; ' * 6}--a-long-option=that-stays-whole"
    lines = wrapped(text).splitlines()
    assert len(lines) > 1
    assert all(len(line) <= SCREEN for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])
    assert " ".join(line.strip() for line in lines).split() == text.split()


def test_a_table_is_fitted_by_its_columns_of_text_alone():
    reason = "its chance of loss is above the limit however fast it is rebuilt, and it holds too little"
    rows = [
        [Cell("raid10 of 8 x some-drive"), Cell("1,234,567.89"), Cell(reason)],
        [Cell("b"), Cell("2"), Cell("")],
    ]
    table = Table(["candidate", "USD", "out for"], rows, left=frozenset({0, 2}), width=60)
    lines = str(table).splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert "1,234,567.89" in lines[1]
    assert " ".join(line[line.index("  ") :].strip() for line in lines[1:-1]).count("however") == 1
    words = " ".join(lines).split()
    assert all(word in words for word in reason.split())
    # Without a width every row is one line.
    assert len(str(Table(table.columns, rows, left=table.left)).splitlines()) == 3


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0144, "1.44 %"),
        (4.48e-6, "0.000448 %"),
        (1e-12, "1e-10 %"),
        (0.999979, "99.9979 %"),
        (1.0, ">99.9999 %"),
    ],
)
def test_a_chance_is_said_in_percent(share, text):
    outcome = in_percent({"loss_in_a_year": {"value": share, "low": 0.0, "high": 1.0}, "nines": 3.0})
    assert percent_text(outcome["loss_in_a_year_percent"]) == text
    assert outcome["nines"] == 3.0
    bound = in_percent({"loss_in_life": {"value": None, "low": 0.0, "high": 3e-6}})["loss_in_life_percent"]
    assert percent_text(bound) == f"<{figure(3e-4)} %"
