"""What the package can explain: every key of a scenario and of a drive file, and topics such as the glossary.

The keys come from the reader's own declarations, as Markdown; the topics lie beside the package's code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

from drivelab import _core

DRIVE = "target.drive."
ROW = re.compile(r"^\| (.*) \|$")
NAME = re.compile(r"^- `(.+?)`: (.*)$")


@dataclass(frozen=True)
class Key:
    """A key of a section, in words."""

    path: str
    value: str
    default: str
    meaning: str
    names: tuple[tuple[str, str], ...] = ()


@dataclass
class Section:
    """A table of keys."""

    path: str
    meaning: str = ""
    keys: dict[str, Key] = field(default_factory=dict)


def _cells(line: str) -> list[str]:
    match = ROW.match(line)
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", match[1])] if match else []


def sections(markdown: str, prefix: str = "") -> dict[str, Section]:
    """The sections of a reference by their path; the keys outside of all sections have the path ''."""
    found = {"": Section(prefix.rstrip("."))}
    here, listed = found[""], ""
    for line in markdown.splitlines():
        if match := re.match(r"^## `\[(.+)\]`$", line):
            here = found.setdefault(prefix + match[1], Section(prefix + match[1]))
        elif match := re.match(r"^`(\w+)`:$", line):
            listed = match[1]
        elif (match := NAME.match(line)) and listed in here.keys:
            key = here.keys[listed]
            here.keys[listed] = Key(
                key.path, key.value, key.default, key.meaning, (*key.names, (match[1], match[2]))
            )
        elif len(cells := _cells(line)) == 4 and cells[0].startswith("`"):
            name = cells[0].strip("`")
            path = f"{here.path}.{name}".lstrip(".")
            here.keys[name] = Key(path, value=cells[1], default=cells[2], meaning=cells[3])
        elif line and not line.startswith(("|", "#")) and not here.meaning:
            here.meaning = line
    return found


def all_sections() -> dict[str, Section]:
    """Every section of a scenario, and every section of a drive file as `target.drive..` has it."""
    found = sections(_core.reference("scenario"))
    of_drive = sections(_core.reference("drive"), DRIVE)
    found[DRIVE.rstrip(".")] = of_drive.pop("")
    return found | of_drive


def topics() -> dict[str, str]:
    """The texts that belong to no key, by name, as Markdown."""
    folder = resources.files("drivelab") / "topics"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {
        file.name.removesuffix(".md"): file.read_text(encoding="utf-8")
        for file in files
        if file.name.endswith(".md")
    }


def plain(term: str) -> str:
    """A term as it is looked up: in lower case, words with blanks between them."""
    return " ".join(re.split(r"[\s_-]+", term.lower().strip()))


_UNIT = re.compile(r"[ ,]+(?:ns|us|ms|s|h|%|kb|gb|tb|years)$")
_OF_FIGURE = re.compile(r"^(?:[a-z]|threshold(?: worse by)?|iops|ms|within)(?: [\d.]+ ?%?)$|^[a-z]$")
_NUMBER = re.compile(r"^[\d.]+ ?(?=% )")


def found_term(term: str, known: Mapping[str, str]) -> str | None:
    """The known term that a column's title means: without its unit, and without the number of an option in it."""
    name = plain(term)
    without = _UNIT.sub("", name)
    forms = [name, without, _NUMBER.sub("", name), name.partition(",")[0]]
    if match := _OF_FIGURE.match(without):
        forms += ["a" if len(match[0]) == 1 else match[0].split()[0]]
    return next((form for form in forms if form in known), None)


def terms() -> dict[str, str]:
    """The glossary, and the columns and keys of results: each term as `plain` has it, with what it means."""
    found: dict[str, str] = {}
    texts = topics()
    for line in [*texts["glossary"].splitlines(), *texts["results"].splitlines()]:
        cells = _cells(line)
        if len(cells) == 2 and cells[0] not in {"term", "---"}:
            for term in cells[0].replace("`", "").split(", "):
                found.setdefault(plain(term), cells[1])
    return found
