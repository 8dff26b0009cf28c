"""What is mended in JSON, and what cannot be."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab import InputError
from drivelab.records.repair import documents
from drivelab.runs import hdr

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(st.text(), plain, max_size=5)
# Lines that programs say; none of them begins an object.
lines = st.lists(
    st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp"))).filter(
        lambda text: "{" not in text
    ),
    max_size=3,
)


@given(found=st.lists(objects, min_size=1, max_size=4), said=lines, indent=st.sampled_from([None, 2]))
def test_documents_are_found_among_text(found, said, indent):
    noise = "\n".join(said)
    text = "\n".join(f"{noise}\n{json.dumps(one, indent=indent)}" for one in found) + f"\n{noise}\n"
    read = documents(text, "x")
    assert read.found == found
    assert bool(read.notes) == bool(noise.strip())


def test_figures_that_are_no_numbers_are_missing():
    read = documents('{"a" : -nan, "b": inf, "c": "nan : -nan", "d": NaN, "e": 1}', "x")
    assert read.found == [{"a": None, "b": None, "c": "nan : -nan", "d": None, "e": 1}]
    assert read.notes == ["figures that are no numbers (nan, inf) are missing"]


def test_messages_within_are_left_out():
    read = documents('{"a" : 1,\nfio: io_u error on file x: Input/output error\n"b": 2}\n', "x")
    assert read.found == [{"a": 1, "b": 2}]
    assert read.notes == ["messages within the JSON are left out"]


def test_objects_that_are_there_twice_are_joined():
    read = documents('{"a": {"x": 1, "y": 2}, "a": {"y": 3}, "b": 1, "b": 1}', "x")
    assert read.found == [{"a": {"x": 1, "y": 3}, "b": 1}]
    assert read.notes == ["`a` is there more than once: the last one counts, of files all of them"]


@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        assert documents(text, "x").found


@given(text=st.text(st.sampled_from("HISTFAAAABx+/=9"), max_size=60))
def test_a_histogram_is_read_or_refused(text):
    # Nothing else is raised.
    with contextlib.suppress(ValueError):
        assert all(count > 0 for _, count in hdr.decode(text))


def test_deep_nesting_is_refused():
    with pytest.raises(InputError, match="nested too deeply"):
        documents('{"a":' * 100_000, "x")
