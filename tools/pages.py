"""Check that README and docs show what their commands print, or write them again.

A fenced block without a language whose first line begins with `$ ` is a command and its standard output. All blocks
of a page run in one empty folder, in their order, with the TOML blocks of the page that open with `# NAME.toml`, and
the blocks of language `text` below a line that is a name between backticks and a colon. A line `...` stands for
omitted lines. `python tools/pages.py [PAGE ...]` rewrites each block with the current output of its command
(`make docs`); if lines are omitted, each part that is shown keeps its length and begins at the line with the same
first words. With `> NAME` after a command, its output is the file NAME.

A picture `../pictures/NAME` of a page is the file NAME drawn by one of its commands; `make docs` draws it again. The
digest of the run in it is checked, not the drawing, which depends on the fonts of a machine.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OMITTED = "..."
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"\]\(((?:\.\./|docs/)pictures/[\w.-]+)\)")
DIGEST = re.compile(r"digest:? ?([0-9a-f]{16})")
NAMED = re.compile(r"^# ([\w-]+\.toml)\n")
# A file that cannot contain its own name: the line above its block has it.
TITLED = re.compile(r"^`([\w.-]+)`:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands that other words on a page stand for.
ALIASES = {"make run": "drivelab reproduce lkml-2007 --out out/lkml-2007"}


@dataclass(frozen=True)
class Block:
    """A command of a page with the lines that the page shows of its output."""

    page: Path
    start: int
    end: int
    command: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command on one line."""
        return " ".join(part.removesuffix("\\").strip() for part in self.command).removeprefix("$ ")


def pages() -> list[Path]:
    """All pages."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, text: str) -> Iterator[Block]:
    """The commands of a page, in their order."""
    for found in FENCE.finditer(text):
        lines = found[2].splitlines()
        if found[1] or not lines or not lines[0].startswith("$ "):
            continue
        length = 1
        while lines[length - 1].endswith("\\") and length < len(lines):
            length += 1
        yield Block(page, found.start(2), found.end(2), tuple(lines[:length]), tuple(lines[length:]))


def write_files(text: str, folder: Path) -> None:
    """Write the files that a page contains completely."""
    for found in FENCE.finditer(text):
        if found[1] == "toml" and (named := NAMED.match(found[2])):
            (folder / named[1]).write_text(found[2], encoding="utf-8")
    for found in TITLED.finditer(text):
        (folder / found[1]).write_text(found[2], encoding="utf-8")


def run(arguments: Sequence[str], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A command of drivelab in its own process. The tests replace this function."""
    return subprocess.run(
        [sys.executable, "-m", "drivelab", *arguments],
        cwd=cwd,
        env=env,
        encoding="utf-8",
        capture_output=True,
        check=False,
    )


def printed(command: str, folder: Path) -> list[str]:
    """The standard output of a command; an error if it fails."""
    words = shlex.split(ALIASES.get(command, command), comments=True)
    target = folder / words[-1] if words[-2:-1] == [">"] else None
    words = words if target is None else words[:-2]
    if words[0] != "drivelab":
        raise ValueError(f"only `drivelab ..` and {', '.join(ALIASES)} can be held: {command}")
    kept = {name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "COLUMNS"}}
    done = run(words[1:], folder, kept)
    # 3 is the exit code of a comparison that failed: its output counts.
    if done.returncode not in {0, 3}:
        raise RuntimeError(f"`{command}` ended with {done.returncode}:\n{done.stderr}")
    if target is not None:
        target.write_text(done.stdout, encoding="utf-8")
        return []
    return done.stdout.rstrip("\n").splitlines()


def parts(lines: Sequence[str]) -> list[list[str]]:
    """The groups of lines between omission marks."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line == OMITTED:
            found.append([])
        else:
            found[-1].append(line)
    return found


def matches(shown: Sequence[str], output: Sequence[str]) -> bool:
    """Whether the shown lines are those of the output, where `...` matches any."""
    first, *others = parts(shown)
    if not others:
        return list(shown) == list(output)
    if list(output[: len(first)]) != first:
        return False
    at = len(first)
    *middle, last = others
    for part in middle:
        starts = (
            n for n in range(at, len(output) - len(part) + 1) if list(output[n : n + len(part)]) == part
        )
        found = next(starts, None)
        if found is None:
            return False
        at = found + len(part)
    return not last or (len(output) - len(last) >= at and list(output[-len(last) :]) == last)


def label(line: str) -> str:
    """The text that identifies a line when its figures change: up to two blanks, with all numbers made equal."""
    return re.sub(r"[\d.,]+", "0", re.split(r"\s{2,}", line.strip())[0])


def renewed(shown: Sequence[str], output: Sequence[str]) -> list[str]:
    """The lines of a new output to show."""
    first, *others = parts(shown)
    if not others:
        return list(output)
    lines = list(output[: len(first)])
    at = len(first)
    for number, part in enumerate(others):
        lines.append(OMITTED)
        if not part:
            continue
        is_last = number == len(others) - 1
        begins = len(output) - len(part)
        if not is_last:
            alike = (n for n in range(at, len(output)) if label(output[n]) == label(part[0]))
            begins = next(alike, begins)
        lines += output[begins : begins + len(part)]
        at = begins + len(part)
    return lines


def played(page: Path, folder: Path) -> Iterator[tuple[Block, list[str]]]:
    """Every command of a page with its current output, run in an empty folder."""
    text = page.read_text(encoding="utf-8")
    write_files(text, folder)
    for block in blocks(page, text):
        yield block, printed(block.line, folder)


def drawn(page: Path, folder: Path) -> Iterator[tuple[Path, Path]]:
    """The pictures of a page drawn by its commands, each with its path in the page's folder."""
    for path in PICTURE.findall(page.read_text(encoding="utf-8")):
        name = Path(path).name
        if (folder / name).exists():
            yield folder / name, page.parent / path


def digest(picture: Path) -> str | None:
    """The identity of the run that a picture carries."""
    found = DIGEST.search(picture.read_text(encoding="utf-8")) if picture.exists() else None
    return found[1] if found else None


def differences(page: Path) -> list[str]:
    """Differences between a page and its commands' output, a text for each command."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        for block, output in played(page, Path(name)):
            if not matches(block.shown, output):
                now = "\n".join(renewed(block.shown, output))
                shown = "\n".join(block.shown)
                found.append(
                    f"{page.name}: $ {block.line}\nshown:\n{shown}\nprinted:\n{now}\nrun `make docs`"
                )
        for new, old in drawn(page, Path(name)):
            if digest(new) is None or digest(new) != digest(old):
                found.append(f"{page.name}: {old.name} is of another run: run `make docs`")
    return found


def write(page: Path) -> bool:
    """Rewrites a page's blocks; returns whether anything has changed."""
    text = page.read_text(encoding="utf-8")
    parts_of_page, at = [], 0
    with tempfile.TemporaryDirectory() as name:
        for block, output in played(page, Path(name)):
            lines = [*block.command, *renewed(block.shown, output)]
            parts_of_page += [text[at : block.start], "\n".join(lines) + "\n"]
            at = block.end
        for new, old in drawn(page, Path(name)):
            if digest(new) != digest(old):
                shutil.copyfile(new, old)
    written = "".join([*parts_of_page, text[at:]])
    page.write_text(written, encoding="utf-8")
    return written != text


def main() -> int:
    """Writes all pages, or the named ones."""
    known = {str(page.relative_to(ROOT)): page for page in pages()}
    parser = argparse.ArgumentParser(description="Write what the pages print as their commands print it now.")
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="docs/NAME.md or README.md; all of them by default"
    )
    wanted = parser.parse_args().pages
    if unknown := [name for name in wanted if name not in known]:
        parser.error(f"there is no page {unknown[0]}")
    for page in (known[name] for name in wanted or known):
        if write(page):
            print(f"wrote {page.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
