"""Checks on the tree that no compiler makes: which room may use which, how a file opens, how long it grows.

Run `python tools/tidy.py` (or `make tidy`). Each finding is one line, `file:line: what: remedy`, and any
finding fails the run. What the core may link is checked by the compiler, in no_std.py.

A check is a function from the tree to findings; CHECKS lists them. The tests plant each fault once.
"""

from __future__ import annotations

import ast
import itertools
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

# A room may use rooms of a lower layer only, so rooms of the same layer never use each other.
LAYERS = {
    "units": 0,
    "core": 1,
    "data": 2,
    "scenario": 2,
    "trace": 2,
    "record": 2,
    "ring": 2,
    "nbd": 2,
    "simulate": 3,
    "emulate": 3,
    "measure": 3,
    "durability": 3,
    "py": 4,
    "web": 4,
    "bench": 4,
    "fuzz": 4,
}

# The rooms without std, and everything that each may use outside its tests.
NO_STD_ROOMS: dict[str, frozenset[str]] = {
    "units": frozenset(),
    "core": frozenset({"drivelab-units", "libm", "rand_core", "rand_xoshiro"}),
    "data": frozenset({"drivelab-core", "drivelab-units"}),
}

SOURCE_SUFFIXES = {".rs", ".py", ".ts", ".tsx"}
LINES_MAX_SOURCE = 450
LINES_MAX_TEST = 800
# For the core: limits on the size of a function and of a struct, above which they should be split. Parameters
# may be larger.
CORE = "crates/core/src/"
FUNCTION_LINES_MAX = 50
STRUCT_FIELDS_MAX = 15
PARAMETERS = ("Params", "Model")

CHANGELOG_SECTIONS = ("Added", "Changed", "Fixed", "Model")
SKIPPED_FOLDERS = {".git", ".venv", "target", "node_modules", "out", "__pycache__"}

MACHINE_PATH = re.compile(r"(?:^|[^\w.$)}~-])(/(?:work|root|tmp|home/\w+|Users/\w+)/)")
# In two parts each: this file names no host either.
_REGISTRIES = (
    ("pypi", "org"), ("pypi", "com"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"),
    ("static.crates", "io"), ("index.crates", "io"), ("proxy.golang", ""), ("deb.debian", ""), ("repo.maven", ""),
    ("repo1.maven", ""),
)  # fmt: skip
REGISTRY_HOST = re.compile(r"\b(?:" + "|".join(re.escape(".".join(parts)) for parts in _REGISTRIES) + ")")
MERGE_LEFT = re.compile(r"^(?:<{7}|>{7}) ")
INVISIBLE = re.compile("[\u00a0\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True, order=True)
class Finding:
    """One fault: where it is, what it is, and what to do about it."""

    path: str
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        """The line that a person, and an editor, reads."""
        return f"{self.path}:{self.line}: {self.what}: {self.remedy}"


class Tree:
    """The files of one checkout: those that git tracks or would track, or all of them without git."""

    def __init__(self, root: Path) -> None:
        """Take the files below `root`."""
        self.root = root

    @cached_property
    def files(self) -> list[str]:
        """Every file's path from the root, in order."""
        if (self.root / ".git").exists() and shutil.which("git"):
            command = ["git", "-C", str(self.root), "ls-files", "-z", "-co", "--exclude-standard"]
            listed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
            return sorted({name for name in listed if name and (self.root / name).is_file()})
        found = (path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file())
        return sorted(str(path) for path in found if not SKIPPED_FOLDERS.intersection(path.parts))

    def text(self, name: str) -> str | None:
        """A file's text, or None if it is not text."""
        try:
            text = (self.root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text

    def lines(self, name: str) -> list[str]:
        """A file's lines; empty if it is not text."""
        return (self.text(name) or "").splitlines()

    def line_of(self, name: str, pattern: str) -> int:
        """The first line that contains `pattern`; 1 if there is none."""
        return next((n for n, line in enumerate(self.lines(name), 1) if re.search(pattern, line)), 1)

    @cached_property
    def rooms(self) -> dict[str, str]:
        """Every room's name and the path of its manifest."""
        found = {}
        for name in self.files:
            if match := re.fullmatch(r"(?:crates/)?([\w-]+)/Cargo\.toml", name):
                found[match[1]] = name
        return found


def is_test(name: str) -> bool:
    """Whether a file contains only tests."""
    path = Path(name)
    folders = {"tests", "benches", "fuzz"}
    return bool(folders.intersection(path.parts)) or path.name.endswith("tests.rs")


def dependencies(manifest: dict[str, Any]) -> dict[str, str]:
    """The dependencies of a crate, except those of tests: each package and the key under which it is listed."""
    tables = [manifest, *manifest.get("target", {}).values()]
    found = {}
    for table in tables:
        for section in ("dependencies", "build-dependencies"):
            for key, value in table.get(section, {}).items():
                found[value.get("package", key) if isinstance(value, dict) else key] = key
    return found


def read_manifest(tree: Tree, name: str) -> dict[str, Any]:
    """A Cargo.toml. cargo reports one that does not parse, and this program stops."""
    return tomllib.loads(tree.text(name) or "")


def check_no_std(tree: Tree) -> Iterator[Finding]:
    """units and core have no std, and use nothing that could bring it back."""
    for room, allowed in NO_STD_ROOMS.items():
        manifest = tree.rooms.get(room)
        if manifest is None:
            yield Finding(f"crates/{room}", 1, f"no room {room}", "the others stand on it; restore it")
            continue
        library = f"crates/{room}/src/lib.rs"
        if "#![no_std]" not in tree.lines(library):
            yield Finding(library, 1, "no #![no_std]", "put the line back, after the `//!` lines")
        for package, key in dependencies(read_manifest(tree, manifest)).items():
            if package not in allowed:
                listed = ", ".join(sorted(allowed)) or "nothing"
                line = tree.line_of(manifest, rf"^\s*(?:\[.*\.)?[\"']?{re.escape(key)}\b")
                what = f"{room} depends on {package}"
                yield Finding(manifest, line, what, f"it may use {listed}; move the code to a room above")
        for name in tree.files:
            if name.startswith(f"crates/{room}/") and name.endswith(".rs") and not is_test(name):
                yield from extern_std(tree, name)


def extern_std(tree: Tree, name: str) -> Iterator[Finding]:
    """`extern crate std` in one file, unless it is for tests: under cfg(test), or in a module that is."""
    lines = tree.lines(name)
    for number, line in enumerate(lines, 1):
        under_test = number > 1 and lines[number - 2].strip() == "#[cfg(test)]"
        if under_test and re.match(r"(?:pub )?mod \w+ \{", line):
            return
        if re.match(r"\s*(?:pub )?extern crate std\b", line) and not under_test:
            remedy = "use core or alloc, or move the code to a room above"
            yield Finding(name, number, "extern crate std outside tests", remedy)


def check_arrows(tree: Tree) -> Iterator[Finding]:
    """Rooms use lower rooms only."""
    for room, manifest in tree.rooms.items():
        if room not in LAYERS:
            yield Finding(manifest, 1, f"unknown room {room}", "give it a layer in LAYERS of tools/tidy.py")
            continue
        for package, key in dependencies(read_manifest(tree, manifest)).items():
            below = package.removeprefix("drivelab-")
            if below == package or below not in LAYERS or LAYERS[below] < LAYERS[room]:
                continue
            line = tree.line_of(manifest, rf"^\s*(?:\[.*\.)?[\"']?{re.escape(key)}\b")
            what = f"arrow up or sideways, {room} -> {below}"
            yield Finding(manifest, line, what, f"move what both need into a room below {room}")


def check_opening(tree: Tree) -> Iterator[Finding]:
    """A file states its purpose before anything else."""
    for name in tree.files:
        if name.endswith(".rs"):
            if not (tree.lines(name) or [""])[0].startswith("//!"):
                yield Finding(name, 1, "does not open with //!", "say what lives here, and what never does")
        elif name.endswith(".py"):
            try:
                documented = ast.get_docstring(ast.parse(tree.text(name) or ""))
            except SyntaxError as error:
                yield Finding(name, error.lineno or 1, "is not Python", str(error.msg))
                continue
            if not documented:
                yield Finding(name, 1, "does not open with a docstring", "say what the file is for")


def check_length(tree: Tree) -> Iterator[Finding]:
    """No file grows so large that it cannot be split any more."""
    for name in tree.files:
        if Path(name).suffix not in SOURCE_SUFFIXES:
            continue
        limit = LINES_MAX_TEST if is_test(name) else LINES_MAX_SOURCE
        count = len(tree.lines(name))
        if count > limit:
            remedy = "split it by concern, each part with its own state"
            yield Finding(name, limit + 1, f"{count} lines, {limit} allowed", remedy)


def check_core_size(tree: Tree) -> Iterator[Finding]:
    """In the core every function, and every struct except parameters, is short enough to be read at a glance."""
    for name in tree.files:
        if not name.startswith(CORE) or not name.endswith(".rs") or is_test(name):
            continue
        lines = tree.lines(name)
        for number, line in enumerate(lines, 1):
            opening = re.match(r"( *)(?:pub(?:\([a-z: ]+\))? )?(?:const |unsafe )*(fn|struct) (\w+)", line)
            if not opening or line.endswith((";", "}")):
                continue
            indent, kind, item = opening.groups()
            body = itertools.takewhile(f"{indent}}}".__ne__, lines[number:])
            if kind == "fn":
                count = sum(1 for _ in body) + 2
                if count > FUNCTION_LINES_MAX:
                    what = f"{item} has {count} lines, {FUNCTION_LINES_MAX} allowed"
                    yield Finding(name, number, what, "name its parts")
            elif not item.endswith(PARAMETERS):
                field = re.compile(indent + r"    (?:pub(?:\([a-z: ]+\))? )?\w+: ")
                count = sum(1 for line in body if field.match(line))
                if count > STRUCT_FIELDS_MAX:
                    what = f"{item} has {count} fields, {STRUCT_FIELDS_MAX} allowed"
                    yield Finding(name, number, what, "split its state: two things are one here")


def check_text(tree: Tree) -> Iterator[Finding]:
    """Nothing in the tree names the machine on which it was written, or contains invisible characters."""
    rules = (
        (
            MACHINE_PATH,
            "a path of one machine",
            "use a path from the root of the repository, or a temporary folder",
        ),
        (REGISTRY_HOST, "a package registry's host", "name the package, not the place it is fetched from"),
        (MERGE_LEFT, "a merge that is not ended", "keep one of the two texts, and take the marks out"),
        (INVISIBLE, "an invisible character", "delete it, or write it as an escape"),
    )
    for name in tree.files:
        for number, line in enumerate(tree.lines(name), 1):
            for pattern, what, remedy in rules:
                if pattern.search(line):
                    yield Finding(name, number, what, remedy)


def check_changelog(tree: Tree) -> Iterator[Finding]:
    """The changelog has its four sections, and its Model section has the model version of the core."""
    name = "CHANGELOG.md"
    text = tree.text(name) if name in tree.files else None
    if text is None:
        yield Finding(name, 1, "no changelog", "restore it")
        return
    unreleased = re.search(r"^## \[?Unreleased\]?.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if unreleased is None:
        yield Finding(name, 1, "no section Unreleased", "open it with `## [Unreleased]`")
        return
    line = text[: unreleased.start()].count("\n") + 1
    for section in CHANGELOG_SECTIONS:
        if not re.search(rf"^### {section}\s*$", unreleased[0], re.MULTILINE):
            what = f"Unreleased has no section {section}"
            yield Finding(name, line, what, f"add `### {section}`, empty or not")
    version = model_version(tree)
    if version is not None and not re.search(rf"\bMODEL_VERSION {version}\b", text):
        what = f"nothing about MODEL_VERSION {version}"
        yield Finding(name, line, what, "say under Model, with that number, what changed and why")


def model_version(tree: Tree) -> str | None:
    """The core's model version; None if there is no such constant yet."""
    for name in tree.files:
        if name.startswith("crates/core/src/") and name.endswith(".rs"):
            match = re.search(r"\bconst MODEL_VERSION: \w+ = (\d+);", tree.text(name) or "")
            if match:
                return match[1]
    return None


DRIVER_LOCK = "fuzz/driver/Cargo.lock"


def check_driver_lock(tree: Tree) -> Iterator[Finding]:
    """The driver of the fuzzers is a workspace of its own, built with --locked: its lock knows what rooms use."""
    if DRIVER_LOCK not in tree.files:
        return
    locked = {one["name"]: one for one in read_manifest(tree, DRIVER_LOCK).get("package", [])}
    for room, manifest in tree.rooms.items():
        if (found := locked.get(f"drivelab-{room}")) is None:
            continue
        known = {text.split()[0] for text in found.get("dependencies", [])}
        for package in sorted(dependencies(read_manifest(tree, manifest)).keys() - known):
            line = tree.line_of(DRIVER_LOCK, rf'^name = "drivelab-{room}"')
            what = f"does not know that {room} depends on {package}"
            yield Finding(DRIVER_LOCK, line, what, "run `cargo update --workspace` in fuzz/driver")


# Options of other programs: in the remedies for mounting, a command in the comment of a job file of fio, and what is
# wrong in a command line of elbencho.
OTHER_OPTIONS = {
    "crates/emulate/src/fuse/mod.rs",
    "crates/scenario/src/fio_trace.rs",
    "python/drivelab/elbencho/command.py",
}
OPTION = re.compile(r"(?<![\w-])--[a-z]{2}")
RUST_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"?')


def check_messages(tree: Tree) -> Iterator[Finding]:
    """No message below the command line names an option: it refers to a key, which the reader sees in its own form."""
    what, remedy = "a message names an option", 'refer to the key: key!("bs") in Rust, ref("bs") in Python'
    for name in tree.files:
        if (
            name.startswith("crates/")
            and name.endswith(".rs")
            and not is_test(name)
            and name not in OTHER_OPTIONS
        ):
            for number, line in enumerate(tree.lines(name), 1):
                if line.strip().startswith("#[cfg(test)]"):
                    break
                if any(OPTION.search(text) for text in RUST_TEXT.findall(line.partition("//")[0])):
                    yield Finding(name, number, what, remedy)
        if (
            name.startswith("python/drivelab/")
            and name.endswith(".py")
            and "/cli/" not in name
            and name not in OTHER_OPTIONS
        ):
            for number in _options_in_errors(tree.text(name) or ""):
                yield Finding(name, number, what, remedy)


def _options_in_errors(text: str) -> Iterator[int]:
    """The lines of a module in which an error is created whose text names an option, outside a quoted command."""
    try:
        module = ast.parse(text)
    except SyntaxError:
        return
    for call in ast.walk(module):
        called = call.func if isinstance(call, ast.Call) else None
        if not getattr(called, "id", getattr(called, "attr", "")).endswith("Error"):
            continue
        for part in ast.walk(call):
            if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
                continue
            if OPTION.search(re.sub(r"`[^`]*`", "", part.value)):
                yield part.lineno


CHECKS: tuple[Callable[[Tree], Iterator[Finding]], ...] = (
    check_no_std,
    check_arrows,
    check_opening,
    check_length,
    check_core_size,
    check_text,
    check_changelog,
    check_driver_lock,
    check_messages,
)


def findings(root: Path) -> list[Finding]:
    """Everything that is wrong with the tree at `root`, in order of place."""
    tree = Tree(root)
    return sorted({finding for check in CHECKS for finding in check(tree)})


def main(arguments: list[str]) -> int:
    """Check the tree given, or the one that this file is in. Return the exit code."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = findings(root)
    for finding in found:
        print(finding)
    print(f"tidy: {len(found)} findings" if found else "tidy: ok", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
