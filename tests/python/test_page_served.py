"""`drivelab page`: who may ask, what is refused; its library and its sessions are those of the command line."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from devices import RAID5, Device, served
from served_page import Page
from served_page import page as served_page

import drivelab
import page
from drivelab.errors import InputError
from drivelab.record_library.call import library
from drivelab.runs.control import Answer
from drivelab.served import door, serving, sessions, site

# The built page is made anew by the tests of this group.
pytestmark = pytest.mark.xdist_group("page")

COMMAND = [sys.executable, "-m", "drivelab"]


@dataclass(frozen=True)
class Place:
    """The page, the library that it shows, and two devices: one that it was told of, and one that it finds."""

    page: Page
    library: str
    device: Device
    found: str
    environment: dict[str, str]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A short path: that of a socket is not long."""
    with tempfile.TemporaryDirectory(prefix="dl-") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def place(folder: Path) -> Iterator[Place]:
    """One page for all tests."""
    try:
        site.folder()
    except InputError as error:
        pytest.skip(str(error))
    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn")):
        pytest.skip("the extra drivelab[page] is not installed")
    place = str(folder / "lab.sqlite")
    with library(place) as records:
        for drive, tag in (("wd-wd740gd-00fla0", "old"), ("wd-4tb-7200", "new"), ("hgst-c15k600", "new")):
            ran = drivelab.simulate(drive=drive, rw="randread", bs="4k", iodepth=[1, 4], number_ios=600)
            records.add(ran, tags=[tag])
    # Sessions of other tests are in another folder for temporary files.
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONWARNINGS": "error"}
    with ExitStack() as stack:
        own = folder / "own"
        own.mkdir()
        device = stack.enter_context(served(COMMAND, environment, own, RAID5, "--drive-size", "64MiB"))
        other = subprocess.Popen(
            [*COMMAND, "emulate", "--drive", "wd-4tb-7200", "--drive-size", "64MiB", "-q"],
            cwd=folder,
            env=environment,
            encoding="utf-8",
            stdout=subprocess.PIPE,
        )
        stack.callback(other.communicate, timeout=60)
        stack.callback(other.terminate)
        assert other.stdout is not None
        found = other.stdout.readline().strip().partition("socket=")[2] + ".control"
        options = ("--library", place, "--session", str(device.socket))
        one = stack.enter_context(served_page(COMMAND, environment, folder, *options))
        yield Place(one, place, device, found, environment)


def test_the_address_is_of_this_machine_and_has_a_token(place):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#machine\?token=[\w-]{43}", place.page.address)


def test_the_page_needs_no_token_and_is_the_built_one(place):
    first = place.page.ask("/", headers={})
    assert (first.status, first.body) == (200, (site.folder() / "index.html").read_bytes())
    core = place.page.ask("/core.wasm", headers={})
    assert core.headers["Content-Type"] == "application/wasm"
    assert core.body == (site.folder() / "core.wasm").read_bytes()


@pytest.mark.parametrize("path", ["/", "/page.js", "/here/state", "/here/none", "/none"])
def test_every_answer_has_the_strict_headers(place, path):
    found = place.page.ask(path)
    policy = found.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert found.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert found.headers["Referrer-Policy"] == "no-referrer"
    assert not [
        name for name in found.headers if name.lower().startswith(("access-control", "set-cookie", "server"))
    ]


HERE = ("/here/state", "/here/library", "/here/library/1", "/here/sessions", "/here/none")


@pytest.mark.parametrize("path", HERE)
def test_without_the_token_nothing_is_told(place, path):
    for headers in (
        {},
        {"X-Drivelab-Token": ""},
        {"X-Drivelab-Token": "x" * 43},
        {"Cookie": place.page.token},
    ):
        found = place.page.ask(path, headers=headers)
        assert (found.status, "token" in found.error) == (403, True), headers
    assert place.page.ask(f"{path}?token={place.page.token}", headers={}).status == 403


def test_without_the_token_nothing_is_done(place):
    body = {"record": 1, "tags": ["mine"]}
    assert place.page.ask("/here/library/tag", body, {"X-Drivelab-Token": "wrong"}).status == 403
    session = place.page.session(str(place.device.socket))
    assert place.page.ask(f"/here/sessions/{session}/fault", {"action": "fail"}, {}).status == 403
    with library(place.library) as records:
        assert records.search(tags=["mine"]) == []


@pytest.mark.parametrize("path", ["/", "/core.wasm", "/here/state"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "", "127.0.0.1.:PORT"]
)
def test_a_name_that_leads_here_is_refused(place, path, host):
    given = {**place.page.own, "Host": host.replace("PORT", str(place.page.port))}
    found = place.page.ask(path, headers=given)
    assert (found.status, "address of the page" in found.error) == (403, True)


def test_the_names_of_this_machine_lead_here(place):
    for host in ("127.0.0.1", "localhost", "[::1]"):
        given = {"X-Drivelab-Token": place.page.token, "Host": f"{host}:{place.page.port}"}
        assert place.page.ask("/here/state", headers=given).status == 200


@pytest.mark.parametrize(
    "header",
    [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://127.0.0.1:1"),
        ("Origin", "http://localhost:PORT"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ],
)
def test_another_page_is_refused_even_with_the_token(place, header):
    name, value = header
    given = {**place.page.own, name: value.replace("PORT", str(place.page.port))}
    found = place.page.ask("/here/library/tag", {"record": 1, "tags": ["mine"]}, given)
    assert (found.status, "another page" in found.error) == (403, True)
    preflight = place.page.ask("/here/library/tag", headers=given, method="OPTIONS")
    assert preflight.status == 403


def test_a_body_has_a_limit(place):
    body = json.dumps({"record": 1, "tags": ["mine"]}).encode()
    longest = body + b" " * (door.BODY_MAX_BYTES - len(body))
    assert place.page.ask("/here/library/tag", longest.replace(b"mine", b"most")).status == 200
    found = place.page.ask("/here/library/tag", longest + b" ")
    assert (found.status, "longer than 65536 bytes" in found.error) == (413, True)
    connection = place.page.connect()
    pieces = iter([longest, b" "])
    given = {**place.page.own, "Content-Type": "application/json"}
    connection.request("POST", "/here/library/tag", pieces, given, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    with library(place.library) as records:
        records.untag("1", "most")
        assert records.search(tags=["mine"]) == []


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/..%2fapp.py",
        "/sub/index.html",
        "/app.py",
        "/.",
        "/%00",
    ],
)
def test_no_other_file_is_served(place, path):
    assert place.page.ask(path).status == 404


TOO_MUCH = {
    "/here/library/tag": [
        {"record": 1, "tags": []},
        {"record": 1, "tags": ["x"] * 21},
        {"record": 1, "tags": ["x" * 201]},
        {"record": "1", "tags": ["x"]},
        {"record": "/etc/passwd", "tags": ["x"]},
        {"record": 1, "tags": ["x"], "place": "y"},
        [],
        "x",
    ],
    "/here/library/compare": [
        {"records": [1]},
        {"records": [1] * 27},
        {"records": [1, "a.json"]},
        {"records": [1, -1]},
        {"records": [1, 2], "threshold": -1},
        {"records": [1, 2], "threshold": 1e300},
    ],
}


@pytest.mark.parametrize(
    ("path", "body"), [(path, body) for path, bodies in TOO_MUCH.items() for body in bodies]
)
def test_what_is_asked_has_limits(place, path, body):
    found = place.page.ask(path, body)
    assert found.status == 422
    assert found.error


def test_questions_have_limits(place):
    assert place.page.ask("/here/library?" + "&".join(["term=a"] * 21)).status == 422
    assert place.page.ask(f"/here/library?term={'a' * 201}").status == 422
    assert place.page.ask("/here/library/x").status == 422
    assert place.page.ask("/here/library/tag", b'{"record": 1,').status == 422
    assert place.page.ask("/here/library/tag", method="DELETE").status == 405
    # Of a head that comes in parts, so much is not waited for.
    assert place.page.ask("/", headers={"X": "y" * 20_000}).status in {400, 431}


def printed(run, place: Place, *words: str) -> str:
    done = run("library", *words, "--library", place.library)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_the_library_is_listed_and_searched_as_by_the_command_line(place, run):
    assert place.page.ask("/here/library").body.decode() == printed(run, place, "list", "--json")
    found = place.page.ask("/here/library?term=iodepth%3D4&term=7200")
    assert found.body.decode() == printed(run, place, "search", "iodepth=4", "7200", "--json")
    assert [one["number"] for one in found.json["records"]] == [2]
    tagged = place.page.ask("/here/library?tag=new&kind=simulated")
    assert tagged.body.decode() == printed(
        run, place, "list", "--tag", "new", "--kind", "simulated", "--json"
    )
    wrong = place.page.ask("/here/library?kind=none")
    assert (wrong.status, "there is simulated, measured" in wrong.error) == (400, True)


def test_a_record_is_what_the_command_line_shows(place, run):
    assert place.page.ask("/here/library/2").body.decode() == printed(run, place, "show", "2")
    gone = place.page.ask("/here/library/99")
    assert (gone.status, "the library has no record 99" in gone.error) == (400, True)


def test_a_tag_is_put_on_and_taken_off(place, run):
    found = place.page.ask("/here/library/tag", {"record": 3, "tags": ["kept", "two words"]})
    assert found.json["tags"] == ["kept", "new", "two words"]
    assert found.json == json.loads(printed(run, place, "search", "tag=kept", "--json"))["records"][0]
    again = place.page.ask("/here/library/tag", {"record": 3, "tags": ["kept", "two words"], "remove": True})
    assert again.json["tags"] == ["new"]
    wrong = place.page.ask("/here/library/tag", {"record": 3, "tags": ["a,b"]})
    assert (wrong.status, "no comma" in wrong.error) == (400, True)


@pytest.mark.parametrize("threshold", [None, 0.5, 500])
def test_records_are_compared_with_the_verdict_of_the_command_line(place, run, threshold):
    found = place.page.ask("/here/library/compare", {"records": [1, 2, 3], "threshold": threshold})
    words = [] if threshold is None else ["--threshold", str(threshold)]
    done = run("library", "compare", "1", "2", "3", "--json", "--library", place.library, *words)
    assert found.body.decode() == done.stdout
    assert found.json["verdict"]["holds"] == (done.returncode == 0) == (threshold != 0.5)


def test_a_library_that_is_not_there_is_said(place, run, folder):
    with served_page(COMMAND, place.environment, folder, "--library", str(folder / "none.sqlite")) as other:
        found = other.ask("/here/library")
        assert (found.status, "`drivelab library add RECORD` makes one" in found.error) == (400, True)
        # A token is of one run.
        assert (
            other.ask("/here/library", headers=place.page.own | {"Origin": other.own["Origin"]}).status == 403
        )
        assert other.end(signal.SIGTERM)[0] == 143


def test_sessions_are_those_that_were_named_and_those_that_are_found(place, folder):
    # What a session that was killed has left.
    left = folder / "drivelab-device-left"
    left.mkdir()
    facts = {"uri": "nbd://127.0.0.1:1", "control": str(left / "nbd.control")}
    (left / "control.json").write_text(json.dumps(facts))
    found = place.page.ask("/here/sessions").json["sessions"]
    assert [one["named"] for one in found] == [str(place.device.socket), place.found]
    assert [(one["name"], one["clock"]) for one in found] == [("device", "skip"), ("command line", "real")]
    assert place.page.ask("/here/state").json["sessions"] == found


def test_a_session_tells_what_it_does_and_takes_faults(place, run):
    session = place.page.session(str(place.device.socket))
    with place.page.stream(session) as events:
        name, first = next(events)
        assert (name, first["commands"], first["in_force"]) == ("moment", 0, ["the array is healthy"])
        client = place.device.client()
        for at in range(5):
            client.read(at << 16, 4096)
        busy = next(one for _, one in events if one["commands"] == 5)
        assert busy["depth"] == 0
        assert busy["iops"] > 0
        assert busy["bytes_per_s"] == pytest.approx(4096 * busy["iops"])
        assert 0 < busy["latency_ns"]["mean"] <= busy["latency_ns"]["max"]
        assert 0 <= busy["lateness_ns"]["mean"] <= busy["lateness_ns"]["max"]
        body = {"action": "slow", "member": 2, "details": {"by": "20ms"}}
        told = place.page.ask(f"/here/sessions/{session}/fault", body)
        assert (told.status, told.json) == (200, {"told": "done"})
        slow = next(one for _, one in events if len(one["in_force"]) > 1)
        assert slow["in_force"][1:] == ["member 2 is slow by 20ms"]
    status = run("fault", place.device.socket, "status").stdout.strip()
    assert status.split("; ")[1:] == slow["in_force"]
    assert run("fault", place.device.socket, "slow", "--member", "2", "--by", "0s").returncode == 0
    with place.page.stream(session) as events:
        assert next(events)[1]["in_force"] == ["the array is healthy"]


def test_each_action_is_offered_and_its_refusal_is_that_of_the_command_line(place, run):
    session = place.page.session(str(place.device.socket))
    offered = {one["name"] for one in place.page.ask("/here/state").json["actions"]}
    for action in (*offered & {"start", "rebuild"}, "explode"):
        found = place.page.ask(f"/here/sessions/{session}/fault", {"action": action})
        done = run("fault", place.device.socket, action)
        assert (found.status, done.returncode) == (400, 2), action
        assert done.stderr == f"error: {found.error}\n"
    wrong = place.page.ask(f"/here/sessions/{session}/fault", {"action": "slow", "details": {"by": "much"}})
    assert (wrong.status, "by = " in wrong.error) == (400, True)
    for body in (
        {"action": "slow", "details": {"none": 1}},
        {"action": "slow", "member": 70_000},
        {"action": "x" * 201},
    ):
        assert place.page.ask(f"/here/sessions/{session}/fault", body).status == 422
    for named in ("none", "0" * 16):
        assert place.page.ask(f"/here/sessions/{named}/fault", {"action": "status"}).status == 404


def test_streams_have_a_limit_and_end_with_their_reader(place):
    session = place.page.session(place.found)
    path = f"/here/sessions/{session}/events"
    with ExitStack() as stack:
        for _ in range(16):
            next(stack.enter_context(place.page.stream(session)))
        connection = place.page.connect()
        connection.request("GET", path, headers=place.page.own)
        refused = connection.getresponse()
        assert refused.status == 503
        assert b"16 streams are open" in refused.read()
        connection.close()
    # The page hears of each reader that has gone; a stream is had as soon as it has heard of one.
    for _ in range(1_000):
        connection = place.page.connect()
        connection.request("GET", path, headers=place.page.own)
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            return
    pytest.fail("the streams are still counted")


def test_a_session_that_ends_is_said_and_ctrl_c_ends_all(place, folder):
    own = folder / "brief"
    own.mkdir()
    with ExitStack() as stack:
        device = stack.enter_context(served(COMMAND, place.environment, own, RAID5, "--drive-size", "64MiB"))
        other = stack.enter_context(
            served_page(COMMAND, place.environment, folder, "--session", str(device.socket))
        )
        named = other.session(str(device.socket))
        with other.stream(named) as events, other.stream(other.session(place.found)) as going:
            assert next(events)[0] == "moment"
            assert next(going)[0] == "moment"
            device.end()
            name, said = next(one for one in events if one[0] != "moment")
            assert (name, "no device is served there" in said["error"]) == ("ended", True)
            assert list(events) == []
            # It was named, so it stays in the list, with what is wrong.
            (row,) = [one for one in other.ask("/here/sessions").json["sessions"] if one["id"] == named]
            assert "no device is served there" in row["error"]
            code, heard = other.end(signal.SIGINT)
            assert (code, heard) == (130, "serving the page to this machine; Ctrl-C ends it\n")
            assert all(name == "moment" for name, _ in going)


def test_what_a_session_does_follows_from_two_answers():
    def answer(model_ns: int, reads: int, late: tuple[int, int]) -> Answer:
        served_ = {"commands": reads, "bytes": reads * 4096, "errors": 0}
        none = {"commands": 0, "bytes": 0, "errors": 0}
        took = {"n": reads, "sum": reads * 5_000, "p50": None, "p99": None, "max": 9_000}
        lateness = {"n": late[0], "sum": late[1], "p50": 7, "p99": 8, "max": 9}
        kinds = {"reads": served_, "writes": none, "flushes": none}
        times = {"latency_ns": took, "lateness_ns": lateness}
        return Answer("at 1s; a; b", {"model_ns": model_ns, "under_way": 3, **kinds, **times})

    before, now = answer(2_000_000_000, 100, (100, 500)), answer(4_000_000_000, 400, (100, 500))
    first, second = sessions.moment(before), sessions.moment(now, before)
    assert (first["iops"], second["iops"], second["bytes_per_s"]) == (50, 150, 150 * 4096)
    assert (second["depth"], second["seconds"], second["commands"]) == (3, 2, 400)
    assert second["latency_ns"] == {"mean": 5_000, "p50": None, "p99": None, "max": 9_000}
    # No answer was sent in between.
    assert second["lateness_ns"] == {"mean": None, "p50": 7, "p99": 8, "max": 9}
    assert second["in_force"] == ["a", "b"]
    assert sessions.moment(now, now)["iops"] is None
    # A device of an older drivelab has a text alone.
    assert sessions.moment(Answer("at 1s; a"), before) == {"told": "at 1s; a", "in_force": ["a"]}


@pytest.mark.parametrize(
    ("port", "why"),
    [
        ("0.0.0.0:0", "the page is served to this machine alone"),
        ("[::]:0", "the page is served to this machine alone"),
        ("192.0.2.1:8000", "ssh -L 8000:127.0.0.1:8000"),
        ("disk.example:8000", "the page is served to this machine alone"),
        ("70000", "give a number up to 65535"),
        ("-1", "give a number up to 65535"),
        # The page would answer no browser there: its checks know the names of the loopback address.
        ("127.0.0.2:9", "this machine alone"),
        ("http", "give a number up to 65535"),
        ("", "give a number up to 65535"),
    ],
)
def test_no_other_address_is_served(run, port, why):
    done = run("page", f"--port={port}")
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert "--port" in done.stderr


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0", ("127.0.0.1", 0)),
        ("localhost:80", ("127.0.0.1", 80)),
        ("[::1]:9", ("::1", 9)),
    ],
)
def test_addresses_of_this_machine(text, address):
    assert serving.address_of(text) == address


def test_at_the_port_of_http_no_browser_names_it():
    assert door.Keys.new(80).refuses("/", [(b"host", b"127.0.0.1")]) is None
    assert door.Keys.new(8417).refuses("/", [(b"host", b"127.0.0.1")]) is not None


def test_a_port_that_is_taken_is_said_with_the_remedy(place, run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("page", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "address already in use; --port 0 takes any free port" in done.stderr


def test_without_the_extra_the_remedy_is_named(run, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", _without({"fastapi"}, importlib.util.find_spec))
    done = run("page", "--port", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "serving the page needs fastapi, not installed here: pip install 'drivelab[page]'" in done.stderr


def _without(names, find):  # noqa: ANN202
    return lambda name, *more: None if name in names else find(name, *more)


@pytest.fixture
def built(monkeypatch, tmp_path) -> Path:
    """A page that is built, as far as its files matter."""
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "index.html").write_text(
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    )
    (packed / "core.wasm").write_bytes(b"\0asm")
    monkeypatch.setattr(site, "PACKED", packed)
    return packed


def test_the_page_is_exported_without_the_extra(run, built, tmp_path, monkeypatch):
    monkeypatch.setattr(
        importlib.util, "find_spec", _without({"fastapi", "uvicorn"}, importlib.util.find_spec)
    )
    done = run("page", "--export", "out")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "wrote out: 2 files; any static host serves them\n"
    for path in built.iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()
    again = run("page", "--export", "out")
    assert (again.returncode, "name a folder that is new, or empty" in again.stderr) == (2, True)
    beside = run("page", "--export", "new", "--open")
    assert (beside.returncode, "leave out --port, --open" in beside.stderr) == (2, True)
    nowhere = run("page", "--export", "out/core.wasm/new")
    assert (nowhere.returncode, "cannot write" in nowhere.stderr) == (1, True)


def test_without_the_built_page_the_remedy_is_named(run, monkeypatch, tmp_path):
    monkeypatch.setattr(site, "PACKED", tmp_path / "none")
    monkeypatch.setattr(site, "_CHECKOUT", tmp_path)
    for options in (["--export", "out"], ["--port", "0"]):
        done = run("page", *options)
        assert done.returncode == 2
        assert "the page is not built: run `make page`" in done.stderr


def test_the_page_in_the_package_comes_first(built, monkeypatch, tmp_path):
    assert site.folder() == built
    (tmp_path / "build/page").mkdir(parents=True)
    shutil.move(built / "index.html", tmp_path / "build/page/index.html")
    monkeypatch.setattr(site, "_CHECKOUT", tmp_path)
    assert site.folder() == tmp_path / "build/page"


def test_make_page_fills_the_folder_of_the_package():
    assert page.PACKED == site.PACKED


def test_a_page_without_a_policy_is_not_served(built):
    assert site.policy((built / "index.html").read_bytes()) == "default-src 'none'; frame-ancestors 'none'"
    with pytest.raises(InputError, match="build it anew with `make page`"):
        site.policy(b"<html>")


def test_the_browser_gets_a_file_that_only_the_user_reads(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(serving.webbrowser, "open", opened.append)
    serving.open_browser("http://127.0.0.1:1/#machine?token=a&b", tmp_path).join()
    (address,) = opened
    assert "token" not in address
    path = Path(address.removeprefix("file://"))
    assert "url=http://127.0.0.1:1/#machine?token=a&amp;b" in path.read_text()


CHECKS = (
    "the token leaves the address, and the library is searched, tagged, compared and opened",
    "a session is watched, and takes a fault",
    "without a token nothing is asked",
    "a wrong token is said",
    "axe finds nothing serious, and no width is too small",
    "nothing is said on the console, and no request leaves the origin",
)


@pytest.fixture(scope="module")
def seen(place: Place) -> dict[str, str | None]:
    """One run of the checks in a browser: what each has found wrong."""
    browser = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    if browser is None or not (page.WEB / "node_modules").is_dir():
        pytest.skip("the page's checks need chromium, and the packages of web/")
    words = ["node", "tests/browser/machine.mjs", place.page.address, browser, str(place.device.socket)]
    done = subprocess.run(words, cwd=page.WEB, check=True, capture_output=True, text=True, encoding="utf-8")
    found: dict[str, str | None] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("check", CHECKS)
def test_in_a_browser(seen, check):
    assert sorted(seen) == sorted(CHECKS)
    assert seen[check] is None, seen[check]
