"""Plants faults in a copy of the tree, one at a time, and says which of them the tests let live.

Each table in tools/faults/ holds the faults of one room. A fault is an exact piece of a source file, which occurs there
once, what stands there instead, and the test programs that must notice: arguments of `cargo test`, or `pytest` and its
arguments. The checkout is never touched: build/plant has the copy and its target folder. The tests must pass without a
fault before the first is planted.

    make plant                              all faults
    tools/plant.py --room cache             those of the tables named cache
    tools/plant.py --only NAME,NUMBER       some faults
    tools/plant.py --resume                 go on where an interrupted run of the same tree stopped
    tools/plant.py --list                   number, room, name and description, without building anything
    tools/plant.py --check                  whether each fault still applies, without building anything

Exit code 0: all are caught. 1: the tests fail without a fault. 2: the tables are wrong. 3: a fault survives, does not
apply, does not build, or makes a test run on until its time is over.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = Path("tools/faults")
WORK = Path("build/plant")
# Time limit of one test program with a fault in it. Programs have their own limits of steps, which are
# reached first.
TIME_MAX_S = 120
# Building may wait for a busy machine.
BUILD_MAX_S = 1_800

CAUGHT, SURVIVED, STALE, UNBUILT, HANGS = "caught", "SURVIVED", "does not apply", "does not build", "HANGS"
REMEDIES = {
    SURVIVED: "write a property that fails with it, in the tests of its room",
    UNBUILT: "mend its new text, or take it out of the table",
    HANGS: "give the test a limit of steps",
}
FAILED_TEST = re.compile(
    r"^(?:test (\S+)(?: - should panic)? \.\.\. FAILED$|FAILED \S+::(\S+))", re.MULTILINE
)
PYTEST = "pytest "
# What the package needs besides its sources, if it has been built.
EXTENSION = "python/drivelab/_core*.so"


class TableError(Exception):
    """A table of faults that cannot be used."""


@dataclass(frozen=True)
class Fault:
    """A mistake that a developer could make."""

    room: str
    name: str
    says: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def key(self) -> str:
        """The identity of the fault."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a fault in a word, with the test or the reason."""

    word: str
    detail: str = ""


@dataclass(frozen=True)
class Ended:
    """How a command ended. `code` is None if it timed out."""

    code: int | None
    output: str


Runner = Callable[[list[str], Path, float], Ended]


def read_tables(folder: Path) -> list[Fault]:
    """All faults of all tables, in the order of their rooms. Raise TableError if a table is wrong."""
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
            shared = {"file": table.get("file"), "tests": table.get("tests")}
            faults.extend(read_fault(path.stem, {**shared, **row}) for row in table["fault"])
        except (tomllib.TOMLDecodeError, KeyError, TableError) as error:
            reason = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise TableError(f"{path.name}: {reason}") from error
    names = [fault.name for fault in faults]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{', '.join(twice)}: give each fault a name of its own")
    return faults


def read_fault(room: str, row: dict[str, object]) -> Fault:
    """One row of a table."""
    keys = {"name", "says", "file", "old", "new", "tests"}
    name = row.get("name", "a fault without a name")
    if set(row) - keys:
        raise TableError(f"{name}: unknown key {', '.join(sorted(set(row) - keys))}")
    tests = row.get("tests")
    if not (isinstance(tests, list) and tests and all(isinstance(test, str) for test in tests)):
        raise TableError(
            f"{name}: `tests` is a list of arguments of `cargo test` or of `pytest ..`, one text for each program"
        )
    texts: dict[str, str] = {}
    for key in sorted(keys - {"tests"}):
        text = row.get(key)
        if not isinstance(text, str) or (not text and key != "new"):
            raise TableError(f"{name}: `{key}` is missing")
        texts[key] = text
    if texts["old"] == texts["new"]:
        raise TableError(f"{name}: `old` and `new` are the same")
    return Fault(room=room, tests=tuple(tests), **texts)


def planted(source: str, fault: Fault) -> str | Verdict:
    """The source with the fault in it, or why it does not apply."""
    count = source.count(fault.old)
    if count == 1:
        return source.replace(fault.old, fault.new)
    found = "is not there" if count == 0 else f"occurs {count} times"
    remedy = "write it as the file has it now, with as much around it as makes it the only one"
    return Verdict(STALE, f"its old text {found} in {fault.file}: {remedy}")


def apply(root: Path, fault: Fault) -> str | Verdict:
    """The same for the file below `root`."""
    path = root / fault.file
    if not path.is_file():
        return Verdict(STALE, f"there is no {fault.file}: name the file where that code is now")
    return planted(path.read_text(encoding="utf-8"), fault)


def tracked(root: Path) -> list[str]:
    """The files of a checkout that git tracks or would track."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return sorted(name for name in set(done.stdout.split("\0")) if name and (root / name).is_file())


def copy_tree(root: Path, copy: Path, names: Iterable[str]) -> str:
    """Bring a copy in line with the tree, writing only what differs. Return a digest of its content."""
    wanted = set(names)
    for path in copy.rglob("*"):
        if path.is_file() and path.relative_to(copy).as_posix() not in wanted:
            path.unlink()
    digest = hashlib.sha256()
    for name in sorted(wanted):
        content, there = (root / name).read_bytes(), copy / name
        if not there.is_file() or there.read_bytes() != content:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(content)
        if not name.startswith(TABLES.as_posix()):
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def run(command: list[str], folder: Path, limit: float) -> Ended:
    """Run a command, with its children, for at most this many seconds."""
    fixed = {
        "CARGO_TARGET_DIR": str(folder.parent / "target"),
        "CARGO_PROFILE_DEV_DEBUG": "0",
        # The copy's package, not the installed one.
        "PYTHONPATH": str(folder / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        # The same random cases for each fault, without saving regressions.
        "PROPTEST_RNG_SEED": "1",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
        "INSTA_UPDATE": "no",
    }
    pipe, merged = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **fixed},
        stdout=pipe,
        stderr=merged,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return Ended(None, output)
        return Ended(process.returncode, output)


def cargo(test: str, *flags: str) -> list[str]:
    """The command that builds or runs one test program."""
    return [os.environ.get("CARGO", "cargo"), "test", "--locked", "--quiet", *shlex.split(test), *flags]


def pytest(test: str) -> list[str]:
    """The command that runs tests of the Python package, the same examples for each fault."""
    fixed = ["-p", "no:cacheprovider", "--hypothesis-seed=1", "--exitfirst", "--quiet", "-rf"]
    return [sys.executable, "-m", *shlex.split(test), *fixed]


def judge(tests: Iterable[str], copy: Path, runner: Runner) -> Verdict:
    """The verdict of the tests on the tree in the copy. The first failure is enough."""
    for test in tests:
        name = test if test.startswith(PYTEST) else f"cargo test {test}"
        if test.startswith(PYTEST):
            command = pytest(test)
        else:
            built = runner(cargo(test, "--no-run"), copy, BUILD_MAX_S)
            if built.code != 0:
                return Verdict(UNBUILT, last_error(built.output))
            # Without --quiet: its lines name the tests that fail.
            command = [part for part in cargo(test) if part != "--quiet"]
        ended = runner(command, copy, TIME_MAX_S)
        if ended.code is None:
            return Verdict(HANGS, f"{name}: not over after {TIME_MAX_S} s")
        if test.startswith(PYTEST) and ended.code not in {0, 1}:
            # No test has failed: the tests could not be built or run.
            return Verdict(UNBUILT, last_error(ended.output))
        if ended.code != 0:
            failed = [rust or python for rust, python in FAILED_TEST.findall(ended.output)]
            more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
            return Verdict(CAUGHT, f"{failed[0]}{more}" if failed else f"{name}: {ended.code}")
    return Verdict(SURVIVED, ", ".join(tests))


def last_error(output: str) -> str:
    """The line of a build's output with the error."""
    errors = [line for line in output.splitlines() if line.lower().startswith(("error", "e   "))]
    return errors[0] if errors else (output.strip().splitlines() or ["no output"])[-1]


def choose(faults: list[Fault], rooms: str | None, only: str | None) -> list[tuple[int, Fault]]:
    """The requested faults, with their numbers. Raise TableError for one that does not exist."""
    numbered = list(enumerate(faults, 1))
    for asked, of in ((rooms, rooms_of), (only, names_of)):
        if asked is None:
            continue
        wanted = {word.strip() for word in asked.split(",")}
        known = set().union(*(of(number, fault) for number, fault in numbered))
        if wanted - known:
            raise TableError(f"there is no {', '.join(sorted(wanted - known))}: see --list")
        numbered = [(number, fault) for number, fault in numbered if of(number, fault) & wanted]
    return numbered


def rooms_of(_: int, fault: Fault) -> set[str]:
    """The table of a fault."""
    return {fault.room}


def names_of(number: int, fault: Fault) -> set[str]:
    """The names by which a fault may be requested."""
    return {str(number), fault.name}


class Results:
    """The verdicts on one tree, stored so that an interrupted run can be resumed."""

    def __init__(self, path: Path, tree: str, resume: bool) -> None:
        """Read the known verdicts on this tree, if they are to be used."""
        self.path, self.tree = path, tree
        self.known: dict[str, list[str]] = {}
        if resume and path.is_file():
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.known = kept["verdicts"] if kept["tree"] == tree else {}

    def get(self, key: str) -> Verdict | None:
        """The known verdict on this fault."""
        return Verdict(*self.known[key]) if key in self.known else None

    def put(self, key: str, verdict: Verdict) -> None:
        """Store it."""
        self.known[key] = [verdict.word, verdict.detail]
        kept = {"tree": self.tree, "verdicts": self.known}
        self.path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def plant(chosen: list[tuple[int, Fault]], copy: Path, results: Results, runner: Runner) -> int:
    """Plant each fault in the copy by itself. Return the exit code."""
    started, count = time.monotonic(), dict.fromkeys((CAUGHT, SURVIVED, STALE, UNBUILT, HANGS), 0)
    todo = {test: None for _, fault in chosen if results.get(fault.key()) is None for test in fault.tests}
    for test in todo:
        sound = judge([test], copy, runner)
        if sound.word != SURVIVED:
            print(f"plant: fails without a fault: {sound.detail}: mend that first", file=sys.stderr)
            return 1
    for number, fault in chosen:
        begun, verdict = time.monotonic(), results.get(fault.key())
        if verdict is None:
            verdict = plant_one(fault, copy, runner)
            results.put(fault.key(), verdict)
        count[verdict.word] += 1
        detail = "; ".join(part for part in (verdict.detail, REMEDIES.get(verdict.word, "")) if part)
        taken = time.monotonic() - begun
        print(
            f"{number:3} {fault.room:14} {fault.name}: {verdict.word} ({taken:.0f} s): {detail}", flush=True
        )
    total = ", ".join(f"{number} {word}" for word, number in count.items() if number or word == CAUGHT)
    print(f"plant: {total} of {len(chosen)} faults, {time.monotonic() - started:.0f} s")
    return 0 if count[CAUGHT] == len(chosen) else 3


def plant_one(fault: Fault, copy: Path, runner: Runner) -> Verdict:
    """Plant one fault, judge it, and remove it again."""
    source = apply(copy, fault)
    if isinstance(source, Verdict):
        return source
    path = copy / fault.file
    sound = path.read_text(encoding="utf-8")
    try:
        path.write_text(source, encoding="utf-8")
        return judge(fault.tests, copy, runner)
    finally:
        path.write_text(sound, encoding="utf-8")


def check(chosen: list[tuple[int, Fault]], root: Path) -> int:
    """Say which faults do not apply. Return the exit code."""
    verdicts = [(number, fault, apply(root, fault)) for number, fault in chosen]
    stale = [(number, fault, verdict) for number, fault, verdict in verdicts if isinstance(verdict, Verdict)]
    for number, fault, verdict in stale:
        print(f"{number:3} {fault.room:14} {fault.name}: {verdict.word}: {verdict.detail}")
    print(f"plant: {len(chosen) - len(stale)} of {len(chosen)} faults apply")
    return 3 if stale else 0


def main(arguments: list[str] | None = None, root: Path = ROOT, runner: Runner = run) -> int:
    """Run the command line. Return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--room", help="tables, separated by commas")
    parser.add_argument("--only", help="names or numbers, separated by commas")
    parser.add_argument("--resume", action="store_true", help="keep the verdicts on this very tree")
    parser.add_argument("--list", action="store_true", help="only say which faults there are")
    parser.add_argument("--check", action="store_true", help="only say whether they still apply")
    asked = parser.parse_args(arguments)
    try:
        chosen = choose(read_tables(root / TABLES), asked.room, asked.only)
    except TableError as error:
        print(f"plant: {error}", file=sys.stderr)
        return 2
    if asked.list:
        for number, fault in chosen:
            print(f"{number:3} {fault.room:14} {fault.name}: {fault.says}")
        return 0
    if asked.check:
        return check(chosen, root)
    copy = root / WORK / "tree"
    copy.mkdir(parents=True, exist_ok=True)
    built = [path.relative_to(root).as_posix() for path in root.glob(EXTENSION)]
    tree = copy_tree(root, copy, [*tracked(root), *built])
    return plant(chosen, copy, Results(root / WORK / "results.json", tree, asked.resume), runner)


if __name__ == "__main__":
    sys.exit(main())
