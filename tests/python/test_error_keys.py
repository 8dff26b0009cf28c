"""References to keys in messages: as options, as arguments and as keys of a file."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab import simulate
from drivelab.errors import InputError, OptionError, ScenarioError, raw, ref
from drivelab.errors.keys import (
    BEGIN,
    END,
    VALUE,
    as_arguments,
    as_keys,
    as_options,
    key_of_trace,
    of_trace,
    said,
)
from drivelab.errors.several import SeveralError

SIMULATE = {"--bs", "--trace-format", "--lenient", "--set", "--randseed"}
MARKS = {BEGIN, VALUE, END}


@pytest.mark.parametrize(
    ("reference", "option", "argument", "in_file"),
    [
        (ref("fs_size"), "--fs-size", "fs_size", "fs_size"),
        (ref("fs_size", "1GiB"), "--fs-size 1GiB", 'fs_size="1GiB"', 'fs_size = "1GiB"'),
        (ref("copies", 3), "--copies 3", "copies=3", "copies = 3"),
        (ref("error", "5e-2"), "--error 5e-2", "error=5e-2", "error = 5e-2"),
        (ref("afr", "1.5%"), "--afr 1.5%", 'afr="1.5%"', 'afr = "1.5%"'),
        (ref("seed"), "--randseed", "seed", "seed"),
        (ref("workload.bs"), "--bs", "bs", "workload.bs"),
        (ref("workload.bs", "4k"), "--bs 4k", 'bs="4k"', 'workload.bs = "4k"'),
        (ref("run.seed", 2), "--randseed 2", "randseed=2", "run.seed = 2"),
        (
            ref("workload.fua", "true"),
            "--set workload.fua=true",
            '**{"workload.fua": True}',
            "workload.fua = true",
        ),
        (ref("workload.fua"), "workload.fua", "workload.fua", "workload.fua"),
        (
            ref("trace.format", "msr"),
            "--trace-format msr",
            'trace_format="msr"',
            'workload.trace.format = "msr"',
        ),
        (ref("trace.lenient", "true"), "--lenient", "lenient=True", "workload.trace.lenient = true"),
        (
            ref("trace.time_unit", "ms"),
            "--time-unit ms of `drivelab trace convert`",
            '**{"workload.trace.time_unit": "ms"}',
            'workload.trace.time_unit = "ms"',
        ),
    ],
)
def test_a_reference_is_what_its_reader_gives(reference: str, option: str, argument: str, in_file: str):
    text = f"leave {reference} out, or not"
    assert as_options(text, SIMULATE) == f"leave {option} out, or not"
    assert as_arguments(text) == f"leave {argument} out, or not"
    assert as_keys(text) == f"leave {in_file} out, or not"


def test_keys_of_a_trace_are_those_of_its_own_verbs_and_of_its_table():
    text = f"give {ref('trace.format', 'msr')}"
    assert as_options(of_trace(text), {"--format"}) == "give --format msr"
    assert said(text, key_of_trace) == 'give format = "msr"'
    assert said(ref("bs"), key_of_trace) == ref("bs"), "another key stays a reference"


def test_a_verb_without_the_option_takes_the_key_with_set():
    text = f"give {ref('trace.format', 'msr')}"
    assert as_options(text, {"--set"}) == "give --set workload.trace.format=msr"
    assert as_options(text, set()) == "give --format msr of `drivelab trace convert`"


@given(st.text())
def test_text_without_references_stays(text: str):
    for shown in (as_options(text, SIMULATE), as_arguments(text), as_keys(text)):
        assert shown == text or MARKS & set(text)


@given(st.text(st.characters(exclude_characters=MARKS)), st.text(st.characters(exclude_characters=MARKS)))
def test_no_mark_is_left(name: str, value: str):
    text = f"{ref(name, value)}{ref(name)}"
    for shown in (as_options(text, SIMULATE), as_arguments(text), as_keys(text)):
        assert not MARKS & set(shown)


def test_an_error_is_shown_to_callers_and_stays_a_part_of_another():
    inner = OptionError("fs_size", "1x", "no size", "such as 1GiB")
    assert str(inner) == 'fs_size="1x": no size: such as 1GiB'
    outer = InputError(f"a.toml: {raw(inner)}")
    assert f"{outer}" == str(outer)
    assert repr(outer) == f"InputError({str(outer)!r})"
    assert str(outer) == 'a.toml: fs_size="1x": no size: such as 1GiB'
    assert as_options(raw(outer), set()) == "a.toml: --fs-size 1x: no size: such as 1GiB"
    assert str(SeveralError([inner, inner])) == str(inner), "each error once"
    for error in (inner, outer, SeveralError([inner])):
        assert str(copy.copy(error)) == str(error)


def test_problems_of_a_scenario_name_arguments():
    with pytest.raises(ScenarioError) as raised:
        simulate(drive="wd-4tb-7200", bs="0")
    (problem,) = raised.value.problems
    assert problem["origin"] == "bs"
    assert not MARKS & set(str(raised.value))
    with pytest.raises(ScenarioError, match='drive="wd-4tb-7200"'):
        simulate(rw="randread")
    again = copy.copy(raised.value)
    assert (str(again), again.problems) == (str(raised.value), raised.value.problems)
