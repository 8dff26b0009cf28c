"""`drivelab library`: records in SQLite and in PostgreSQL, found, tagged, compared, exported and imported again."""

from __future__ import annotations

import getpass
import json
import shlex
import shutil
import socket
import sqlite3
import threading
from collections.abc import Callable
from csv import DictReader
from typing import Any

import postgres_server
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from messages import held, told
from samples import FIO, OTHERS, OWN, sample

from drivelab import InputError
from drivelab.record_library.anonymous import anonymous
from drivelab.record_library.database import Database
from drivelab.record_library.entry import TAG_CHARACTERS_MAX, canonical, checked_tag, digest_of
from drivelab.record_library.shelf import opened, prepared
from drivelab.records.opening import open_document

ALL = (*OWN, *OTHERS, *FIO)


@pytest.fixture(scope="module")
def postgres(request):
    """The URL of a server; without one the test is skipped by its name."""
    if why := postgres_server.lacking():
        pytest.skip(f"{request.node.name}: {why}")
    with postgres_server.server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def library(request, run, environment, tmp_path):
    """`library("add", ..)` on an empty library."""
    place = str(tmp_path / "library.sqlite")
    if request.param == "postgresql":
        place = request.getfixturevalue("postgres")
        database = Database(place)
        for name in ("tags", "records", "library"):
            with database.change():
                database.run(f"DROP TABLE drivelab_{name}")
        database.close()
    kept = {**environment, "DRIVELAB_LIBRARY": place}

    def call(*arguments: object, code: int = 0, **options: object) -> str:
        done = run("library", *arguments, env=kept, **options)
        assert done.returncode == code, done.stderr
        return done.stdout

    call.place = place
    return call


def listed(library: Callable[..., str], *arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(library("list", *arguments, "--json"))["records"]
    return found


def test_records_of_every_kind_come_back_as_they_were(library, tmp_path):
    said = library("add", *map(sample, ALL), "--tag", "sample")
    assert [line.split(":")[0] for line in said.splitlines()] == [
        f"added {n}" for n in range(1, len(ALL) + 1)
    ]
    for entry, name in zip(listed(library), ALL, strict=True):
        assert entry["tags"] == ["sample"]
        assert entry["source"] == str(sample(name))
        (tmp_path / "back.json").write_text(library("show", entry["number"]), encoding="utf-8")
        # Beside what was mended once, nothing differs.
        again = library("add", "back.json", "--tag", "again")
        assert again.startswith(f"already there as {entry['number']}: ")
        assert entry["digest"] in {one["digest"] for one in listed(library, "--tag", "again")}
    assert {entry["kind"] for entry in listed(library)} == {"simulated", "emulated", "predicted", "fio"}


def test_a_record_is_named_by_number_digest_tag_or_name(library):
    library("add", sample("v1-simulated.json"), sample("v1-array.json"))
    first, second = listed(library)
    library("tag", "2", "array", "five")
    for name in ("2", second["digest"], second["digest"][:6], "array", second["source"]):
        assert json.loads(library("show", name)) == json.loads(sample("v1-array.json").read_text())
    assert first["tags"] == []
    assert library("tag", "array", "five", "--remove").endswith(", tags array\n")


def test_what_is_searched_is_found(library):
    library("add", *map(sample, ALL))
    library("tag", "1", "first run")

    def numbers(*terms: str) -> list[int]:
        return [one["number"] for one in json.loads(library("search", *terms, "--json"))["records"]]

    names = {at + 1: name for at, name in enumerate(ALL)}
    assert {names[n] for n in numbers("iodepth=32")} == {"fio-3.33-text-in-front.json"}
    assert {names[n] for n in numbers("bs=4k", "rw=randrw")} == {"v1-array.json", "fio-3.33-mixed.json"}
    assert numbers("tag=first") == numbers("first run") == [1]
    assert {names[n] for n in numbers("kind=fio")} == set(FIO)
    assert numbers("RAID5") == [3]
    assert json.loads(library("search", "nothing", "--json", code=3))["records"] == []
    assert len(listed(library, "--kind", "fio")) == len(FIO)
    assert len(listed(library, "--tag", "first run")) == 1
    # Of several tags all count.
    library("tag", "2", "second")
    both = ("--tag", "first run", "--tag", "second")
    assert listed(library, *both) == []
    library("tag", "1", "second")
    assert [entry["number"] for entry in listed(library, *both)] == [1]


def test_records_of_the_library_are_compared(library, run):
    library("add", sample("v1-simulated.json"), sample("v1-first-keys.json"), "--tag", "x")
    said = library("compare", "1", "1", "--threshold", "0")
    assert "A: library 1, simulated, wd-4tb-7200, 2 points" in said
    assert "IOPS: no difference: B is the same as A" in said
    # Files beside them.
    assert library("compare", "1", sample("fio-3.33-sweep.json"), "--threshold", "5", code=3)


def test_what_is_removed_is_gone(library):
    library("add", sample("v1-simulated.json"), sample("v1-array.json"), "--tag", "x")
    assert library("remove", "1", "1").count("removed 1: ") == 1
    assert [entry["number"] for entry in listed(library)] == [2]
    # Its number is not given to another.
    assert library("add", sample("v1-simulated.json")).startswith("added 3: ")
    assert [entry["tags"] for entry in listed(library)] == [["x"], []]


def test_an_export_is_imported_as_it_was(library, tmp_path, run):
    library("add", *map(sample, ALL), "--tag", "a b")
    library("export", "-o", "all.json")
    done = run("library", "import", "all.json", "--library", "other.sqlite")
    assert done.stdout == f"all.json: {len(ALL)} records added, 0 were there already\n"
    assert library("import", "all.json") == f"all.json: 0 records added, {len(ALL)} were there already\n"
    again = run("library", "export", "--library", "other.sqlite")
    assert again.stdout == (tmp_path / "all.json").read_text(encoding="utf-8")
    part = json.loads(library("export", "2", "1", "2"))
    assert [one["tags"] for one in part["records"]] == [["a b"], ["a b"]]


def test_text_of_any_kind_is_kept(library, tmp_path):
    document = json.loads(sample("v1-first-keys.json").read_text(encoding="utf-8"))
    document["name"] = "Größe \u0000 \ud800 '); DROP TABLE drivelab_records; -- ?%s"
    (tmp_path / "odd.json").write_text(json.dumps(document), encoding="utf-8")
    library("add", "odd.json", "--tag", "Ω")
    assert json.loads(library("export"))["records"][0]["content"] == [document]
    assert len(listed(library, "--tag", "Ω")) == 1


def test_a_file_with_one_bad_record_changes_nothing(library, tmp_path):
    library("add", sample("v1-simulated.json"), sample("v1-array.json"))
    document = json.loads(library("export"))
    library("remove", "1", "2")
    document["records"][1]["content"][0]["seed"] = 77
    (tmp_path / "bad.json").write_text(json.dumps(document), encoding="utf-8")
    library("import", "bad.json", code=2)
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    library("add", sample("v1-simulated.json"), "no.json", code=2)
    assert listed(library) == []


def test_without_names_of_persons_and_machines(library, tmp_path):
    document = json.loads(sample("v1-simulated.json").read_text(encoding="utf-8"))
    host, user = socket.gethostname(), getpass.getuser()
    document |= {
        "kind": "measured",
        "name": f"run of {user} on {host}",
        "environment": {
            "host": "lab-seven",
            "device": {"serial": "WD-WX1234567", "model": "WD40EZAZ"},
            "target": {"path": "disk.img", "mount": "/srv/jane/disks"},
            "note": "WD-WX1234567 in lab-seven, jane@example.org, 10.1.2.3",
        },
    }
    (tmp_path / "m.json").write_text(json.dumps(document), encoding="utf-8")
    library("add", "m.json", "--anonymous")
    (entry,) = listed(library)
    assert (entry["anonymous"], entry["source"]) == (True, "")
    text = library("show", "1")
    secrets = ["lab-seven", "WD-WX1234567", "jane", "10.1.2.3", "disk.img"]
    for secret in [*secrets, *(name for name in (host, user) if len(name) > 2 and name != "root")]:
        assert secret not in text, secret
    kept = json.loads(text)
    assert kept["environment"]["device"]["model"] == "WD40EZAZ"
    assert kept["environment"]["note"].startswith("serial-1 in host-")
    assert kept["points"] == document["points"]
    # A record that is there with its names leaves the library without them.
    library("add", "m.json")
    exported = library("export", "2", "--anonymous")
    assert not any(secret in exported for secret in secrets)
    (record,) = json.loads(exported)["records"]
    assert (record["digest"], record["source"]) == (entry["digest"], "")


@pytest.mark.parametrize("path", ["big", "./big", "sub/big", "big.img", "read"])
def test_the_name_of_a_measured_file_is_nowhere(path):
    document = {
        "kind": "measured",
        "target": path,
        "environment": {"target": {"path": path, "kind": "file"}},
        "failures": [{"message": f"{path}: cannot be opened, or ./{path}; bigger and a big-endian one can"}],
        "points": [{"read": {"ios": 3}, "access": "read"}],
    }
    (found,) = anonymous([document])
    assert found == {
        "kind": "measured",
        "target": "path-1",
        "environment": {"target": {"path": "path-1", "kind": "file"}},
        "failures": [{"message": "path-1: cannot be opened, or path-1; bigger and a big-endian one can"}],
        "points": [{"read": {"ios": 3}, "access": "read"}],
    }
    assert anonymous([found]) == [found]


def test_csv_has_a_line_for_each_record(library):
    library("add", sample("v1-simulated.json"), sample("fio-3.33-plus.json"))
    rows = list(DictReader(library("list", "--csv").splitlines()))
    assert [(row["number"], row["kind"], row["axes.iodepth"]) for row in rows] == [
        ("1", "simulated", "1 4"),
        ("2", "fio", "4"),
    ]


def test_two_programs_add_at_a_time(library, adding):
    """Each record is there once, whoever came first."""
    found: list[BaseException] = []

    def add() -> None:
        try:
            adding(library.place)
        except BaseException as error:  # noqa: BLE001 - told below
            found.append(error)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == []
    assert len(listed(library)) == len(OWN)


@pytest.fixture
def adding():
    """Opens a library, which may not be there yet, and adds records."""
    records = [prepared(open_document(str(sample(name))), tags=["t"]) for name in OWN]

    def add(place: str) -> None:
        with opened(place, create=True) as library:
            for record in records:
                library.put([record])

    return add


def test_a_database_is_closed_to_nobody_else(run, tmp_path):
    run("library", "add", sample("v1-simulated.json"), "--library", "a.sqlite")
    blocked = sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)
    blocked.execute("BEGIN IMMEDIATE")
    # Who reads need not wait for who writes.
    assert run("library", "list", "--library", "a.sqlite").returncode == 0
    blocked.close()


@pytest.fixture
def places(run, tmp_path, monkeypatch):
    """A folder with a library, and with what is none or is damaged."""
    monkeypatch.setattr("drivelab.record_library.database.BUSY_S", 0.1)
    run(
        "library",
        "add",
        sample("v1-simulated.json"),
        sample("v1-array.json"),
        "--tag",
        "t",
        "--library",
        "l.sqlite",
    )
    run("library", "export", "-o", "e.json", "--library", "l.sqlite")
    for name in ("broken", "readonly", "locked", "newer", "entry", "content"):
        shutil.copyfile(tmp_path / "l.sqlite", tmp_path / f"{name}.sqlite")
    for name, statement in (
        ("newer", "UPDATE drivelab_library SET format_version = 2"),
        ("entry", "UPDATE drivelab_records SET entry = '{' WHERE number = 2"),
        ("content", "UPDATE drivelab_records SET content = '[' WHERE number = 1"),
        ("foreign", "CREATE TABLE x (y)"),
    ):
        with sqlite3.connect(tmp_path / f"{name}.sqlite") as database:
            database.execute(statement)
        database.close()
    damaged = bytearray((tmp_path / "broken.sqlite").read_bytes())
    damaged[4096:] = bytes(len(damaged) - 4096)
    (tmp_path / "broken.sqlite").write_bytes(damaged)
    # A version of the format that this SQLite may read and not write.
    readonly = bytearray((tmp_path / "readonly.sqlite").read_bytes())
    readonly[18] = 3
    (tmp_path / "readonly.sqlite").write_bytes(readonly)
    (tmp_path / "text.sqlite").write_text("hello, this is no database at all", encoding="utf-8")
    export = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))

    def write(name: str, document: object) -> None:
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")

    write("changed.json", {**export, "records": [{**export["records"][0], "digest": "0" * 64}]})
    write("newer.json", {**export, "format_version": 2})
    write("version.json", {**export, "format_version": "x"})
    write("records.json", {**export, "records": 1})
    write("object.json", {**export, "records": [1]})
    write("content.json", {**export, "records": [{**export["records"][0], "content": 1}]})
    write("tags.json", {**export, "records": [{**export["records"][0], "tags": 1}]})
    write("tag.json", {**export, "records": [{**export["records"][0], "tags": ["a,b"]}]})
    no_name = {key: value for key, value in export["records"][0].items() if key != "name"}
    write("key.json", {**export, "records": [no_name]})
    (tmp_path / "cut.json").write_text((tmp_path / "e.json").read_text()[:200], encoding="utf-8")
    (tmp_path / "r.json").write_bytes(sample("v1-simulated.json").read_bytes())
    lock = sqlite3.connect(tmp_path / "locked.sqlite", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    yield tmp_path
    lock.close()


WRONG = (
    "list --library none.sqlite",
    "list --library .",
    "list --library ''",
    "list --library text.sqlite",
    "list --library foreign.sqlite",
    "list --library broken.sqlite",
    "list --library newer.sqlite",
    "list --library entry.sqlite",
    "list --library locked.sqlite",
    "list --library mysql://host/database",
    "list --library postgresql://jane:secret@localhost:1/x",
    "list --library postgresql://localhost:port/x",
    "list --kind x --library l.sqlite",
    "list --json --csv --library l.sqlite",
    "search nothing --library l.sqlite",
    "show 9 --library l.sqlite",
    "show t --library l.sqlite",
    "show 1 --library content.sqlite",
    "compare 1 --library l.sqlite",
    "compare 1 9 --library l.sqlite",
    "tag 1 '' --library l.sqlite",
    "tag 1 a,b --library l.sqlite",
    "tag 1 x --remove --library l.sqlite",
    "tag 1 x --library readonly.sqlite",
    "add e.json --library l.sqlite",
    "add none.json --library l.sqlite",
    "add r.json r.json --tag a,b --library new.sqlite",
    "add r.json --library text.sqlite/x",
    "add r.json --library locked.sqlite",
    "add r.json --library newer.sqlite",
    "import r.json --library new.sqlite",
    "import cut.json --library new.sqlite",
    "import changed.json --library new.sqlite",
    "import newer.json --library new.sqlite",
    "import version.json --library new.sqlite",
    "import records.json --library new.sqlite",
    "import object.json --library new.sqlite",
    "import content.json --library new.sqlite",
    "import tags.json --library new.sqlite",
    "import tag.json --library new.sqlite",
    "import key.json --library new.sqlite",
    "export -o none/x.json --library l.sqlite",
    "export 7 --library l.sqlite",
)


def test_messages(run, places):

    held("library-messages.txt", told(run, [["library", *shlex.split(words)] for words in WRONG], places))
    # Nothing was made on the way.
    assert not (places / "new.sqlite").exists()
    assert not (places / "none.sqlite").exists()


def test_what_is_damaged_is_whole_again_once_it_is_added(run, places):
    assert run("library", "add", "r.json", "--library", "content.sqlite").returncode == 0
    shown = run("library", "show", "1", "--library", "content.sqlite")
    assert json.loads(shown.stdout) == json.loads(sample("v1-simulated.json").read_text(encoding="utf-8"))
    assert run("library", "import", "e.json", "--library", "entry.sqlite").returncode == 0
    listing = run("library", "list", "--library", "entry.sqlite").stdout
    assert listing == run("library", "list", "--library", "l.sqlite").stdout


def test_a_newer_library_is_left_as_it_is(run, places):
    before = (places / "newer.sqlite").read_bytes()
    for arguments in (["list"], ["add", "r.json"], ["remove", "1"]):
        assert run("library", *arguments, "--library", "newer.sqlite").returncode == 2
    assert (places / "newer.sqlite").read_bytes() == before
    # Who only reads makes no tables in somebody else's database.
    before = (places / "foreign.sqlite").read_bytes()
    assert run("library", "list", "--library", "foreign.sqlite").returncode == 2
    assert (places / "foreign.sqlite").read_bytes() == before


def test_without_an_option_the_library_is_the_users(run, environment, tmp_path):
    kept = {**environment, "XDG_DATA_HOME": str(tmp_path / "data"), "DRIVELAB_LIBRARY": ""}
    assert run("library", "add", sample("v1-simulated.json"), env=kept).returncode == 0
    assert (tmp_path / "data" / "drivelab" / "library.sqlite").is_file()


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)
documents = st.dictionaries(st.text(), plain, max_size=5)


@given(document=documents, draw=st.randoms(use_true_random=False))
def test_the_digest_depends_on_the_content_alone(document, draw):
    names = draw.sample(list(document), len(document))
    text = canonical([document])
    assert canonical([{name: document[name] for name in names}]) == text
    assert json.loads(text) == [document]
    assert digest_of(text) != digest_of(canonical([{**document, "more": 1, "still more": 2}]))


@given(document=documents)
def test_what_is_anonymous_stays_as_it_is(document):
    once = anonymous([document])
    assert anonymous(once) == once


@given(
    document=documents,
    secret=st.text(st.characters(whitelist_categories=("Lu", "Ll", "Nd")), min_size=4, max_size=12),
    key=st.sampled_from(["serial", "Serial Number", "hostname", "user-name", "wwn"]),
)
def test_a_secret_is_nowhere(document, secret, key):
    assume(secret.lower() not in {"none", "root", "unknown", "localhost"})
    held_secret = {"a": {key: secret}, "b": f"on {secret}, twice: ({secret})", "c": [f"/dev/disk/{secret}"]}
    (found,) = anonymous([{"first": held_secret, "second": document}])
    # What the document says by itself in longer words is another word.
    assert secret not in json.dumps(found["first"], ensure_ascii=False).split('"b"')[1]
    assert found["first"]["a"][key] != secret


@given(tag=st.text(max_size=80))
def test_a_tag_is_kept_or_refused(tag):
    try:
        kept = checked_tag(tag)
    except InputError:
        return
    assert checked_tag(kept) == kept


def test_a_tag_has_as_many_characters_as_there_may_be():
    assert checked_tag("x" * TAG_CHARACTERS_MAX) == "x" * TAG_CHARACTERS_MAX
    with pytest.raises(InputError, match="at most 60 characters"):
        checked_tag("x" * (TAG_CHARACTERS_MAX + 1))


@pytest.mark.parametrize("place", ["content", "points"])
def test_a_number_beyond_all_is_told_with_its_place(run, places, place):
    export = json.loads((places / "e.json").read_text(encoding="utf-8"))
    if place == "content":
        export["records"][1]["content"][0]["seed"] = float("inf")
    else:
        export["records"][1]["points"] = float("inf")
    text = json.dumps(export).replace("Infinity", "1e999")
    (places / "infinite.json").write_text(text, encoding="utf-8")
    done = run("library", "import", "infinite.json", "--library", "new.sqlite")
    assert done.returncode == 2
    assert "infinite.json: records[1]" in done.stderr
    assert not (places / "new.sqlite").exists()
