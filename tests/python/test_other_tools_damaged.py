"""Results of other tools that are cut, changed or mixed up: a record, or a message; never a traceback."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from messages import held, told
from other_tools import (
    CRYSTALDISKMARK,
    DISKSPD,
    DISKSPD_XML,
    ELBENCHO,
    FIO_BW_LOG,
    FIO_LOG,
    FIO_TERSE,
    FIO_TEXT,
    HDTUNE,
    IOMETER,
    IOSTAT,
    IOZONE,
    OPEN,
    SAMPLES,
    SAR,
    SYSBENCH,
    VDBENCH,
    iostat,
)

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


def test_sizes_of_any_length_are_told():
    digits = "9" * 400
    understand("crystaldiskmark", CRYSTALDISKMARK.replace("1MiB", f"{digits}MiB"))
    understand("diskspd", DISKSPD.replace("4KiB", f"{digits}KiB"))
    understand("sysbench", SYSBENCH.replace("16KiB", f"{digits}KiB"))
    understand("fio-text", FIO_TEXT.replace("4096B", f"{digits}B"))


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


WRONG = {
    "terse-2.txt": "2;job;0;0;100;200\n",
    "terse-9.txt": "9;fio-3.99;job;0;0;1\n",
    "terse-cut.txt": FIO_TERSE[:300],
    "terse-share.txt": FIO_TERSE.replace("99.000000%=715", "99.0=715"),
    "terse-number.txt": FIO_TERSE.replace(";0;0;80000;", ";0;0;-1;"),
    "text-cut.txt": FIO_TEXT[: FIO_TEXT.index("  read: IOPS")],
    "text-counts.txt": FIO_TEXT[: FIO_TEXT.index("     issued")],
    "text-time.txt": FIO_TEXT.replace("/10000msec)", ")"),
    "log.txt": FIO_LOG,
    "log-line.txt": FIO_LOG + "16000, 700",
    "log-short.txt": "1, 700, 0, 4096\n",
    "x_bw.1.log": "1000, 5, 0, 0\n1300, 5, 0, 0\n3000, 5, 0, 0\n",
    "x_clat.1.log": FIO_BW_LOG.replace("0, 0\n", "0, 0, 0x4004\n"),
    "hdtune.txt": HDTUNE,
    "diskspd.txt": DISKSPD[: DISKSPD.index("total:")],
    "diskspd-twice.txt": DISKSPD + DISKSPD,
    "diskspd-row.txt": DISKSPD.replace(
        "|         8000 |       3.13 |     800.00 |    6.500 |     3.000", "| 8000"
    ),
    "diskspd.xml": DISKSPD_XML[:-12],
    "diskspd-tag.xml": DISKSPD_XML.replace("</Latency>", ""),
    "diskspd-time.xml": DISKSPD_XML.replace("<TestTimeSeconds>10.00</TestTimeSeconds>", ""),
    "diskspd-none.xml": DISKSPD_XML.replace("20000", "0"),
    "elbencho.csv": ELBENCHO[:-20],
    "cdm.txt": CRYSTALDISKMARK.replace("* MB/s", "MB/s"),
    "cdm-line.txt": CRYSTALDISKMARK.replace("200.278 MB/s [", "200.278 MB/s"),
    "cdm-twice.txt": CRYSTALDISKMARK + CRYSTALDISKMARK,
    "vdbench.html": VDBENCH[: VDBENCH.index("10:00:02.100")],
    "vdbench-cut.html": VDBENCH[:-15],
    "iometer.csv": IOMETER[: IOMETER.index("ALL,")],
    "iometer-cut.csv": IOMETER[: IOMETER.index("ALL,") + 60],
    "sysbench.txt": SYSBENCH[: SYSBENCH.index("File operations")],
    "iozone.txt": IOZONE.replace("Output is in kBytes/sec", ""),
    "iozone-unit.txt": IOZONE.replace("kBytes/sec", "ops/sec"),
    "iozone-shifted.txt": IOZONE.replace("   2604     2666", " 2604 2666   "),
    "iostat.txt": IOSTAT[: IOSTAT.rindex("90.00")],
    "iostat-idle.txt": iostat((0, 0)),
    "sar.txt": SAR.replace("     50.00\n", "\n"),
    "prose.txt": "It was fast.\n",
}


def test_messages(run, tmp_path):
    for name, text in WRONG.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = [["compare", name, name] for name in WRONG]
    commands += [["compare", "iozone:prose.txt", "prose.txt"], ["compare", "fio-terse:-", "-"]]
    commands.append(["fit", "wd-4tb-7200", "-o", "x.toml", "--sweep", "fio-log-lat-ns:log.txt"])
    held("other-tools-messages.txt", told(run, commands, tmp_path))
