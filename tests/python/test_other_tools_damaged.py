"""Results of other tools that are cut, changed or mixed up: a record, or a message; never a traceback."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from other_tools import OPEN, SAMPLES

from drivelab.errors import InputError
from drivelab.records.formats.known import read, split
from drivelab.records.opening import Document
from drivelab.records.opening import read as understood

NAMES = sorted(SAMPLES)
PIECES = st.sampled_from(
    ["", "-", "0", "nan", "1e999", "9" * 400, ".", ",", ";", "%", "\n", "\t", "<", "{", "\x00", "\u0663", "é"]
)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str]:
    """A format, and a text of it that was cut and changed in a few places."""
    name = draw(st.sampled_from(NAMES))
    text = SAMPLES[name]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(at + draw(st.sampled_from([0, 1, 1, 3, 20, 200])), len(text))
        text = text[:at] + draw(PIECES) + text[end:]
    if draw(st.booleans()):
        text = text[: draw(st.integers(0, len(text)))]
    return split(name)[0], text


def understand(name: str, text: str) -> None:
    """Read a text, and what becomes of it; a fault of the text is a message that names it."""
    try:
        found = read(text, "a.txt", name)
        if found is not None:
            understood(Document(found.objects, "a.txt", found.notes))
    except InputError as error:
        message = str(error)
        assert message.startswith("a.txt: ")
        assert len(message) < 1000


@given(damaged())
@example(("", ""))
@settings(max_examples=300)
def test_damaged_files_are_told(case):
    name, text = case
    understand(name, text)
    understand("", text)


@given(st.text(max_size=200), st.sampled_from(NAMES))
def test_any_text_in_any_format_is_told(text, name):
    understand(split(name)[0], text)


def test_each_sample_is_of_its_format_alone():
    for name, text in SAMPLES.items():
        found = read(text, "a.txt", split(name)[0])
        assert found is not None
        assert understood(Document(found.objects, "a.txt", found.notes)).points
        if name not in OPEN:
            assert read(text, "a.txt") == found
