"""The catalogue: its drives, controllers and workloads with their facts, and files of the user's own."""

from __future__ import annotations

import html
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast, overload

from drivelab import _core
from drivelab.errors import InputError
from drivelab.host.files import read_text
from drivelab.report import toml_text
from drivelab.scenarios.catalogue_tables import facts_table, heading, source_lines
from drivelab.scenarios.scenario import plan, read_source

NAME_SHOWN = 80
"""Of a name in a message, so many characters are shown."""


class Facts(dict[str, Any]):
    """An entry of the catalogue, which prints as the table of its facts.

    It has the keys `name`, `path`, `facts` (each with `key`, `value`, `mark`, `source`, and of an inherited one the
    `base`), `sources` and `bases`.
    """

    def __repr__(self) -> str:
        """What `drivelab catalogue NAME` prints."""
        sources = source_lines(self)
        parts = [heading(self), str(facts_table(self)), *(["\n".join(sources)] if sources else [])]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        sources = "<br>".join(map(html.escape, source_lines(self)))
        return f"<p>{html.escape(heading(self))}</p>{facts_table(self)._repr_html_()}<p><small>{sources}</small></p>"


@overload
def catalogue(  # type: ignore[overload-overlap]
    name: Literal["drives", "controllers", "workloads"] = "drives",
) -> list[dict[str, Any]]: ...
@overload
def catalogue(name: str) -> Facts: ...
def catalogue(name: str = "drives") -> list[dict[str, Any]] | Facts:
    """One drive, controller or workload by its name, `catalogue("wd-4tb-7200")`, or the file of one at a path.

    "drives", "controllers" or "workloads" is the list of all of that kind, of each a dictionary with its name, its
    facts with mark and source, and the sources in full. What it takes over from the files that it is based on is among
    the facts, with the name of that file as `base`. Raises InputError for a name that is not there, with the nearest
    that are, and ScenarioError for a bad file.
    """
    return entries(name) if name in _core.kinds() else Facts(catalogue_entry(name))


def entries(kind: str) -> list[dict[str, Any]]:
    """All of a kind that the catalogue has facts of."""
    return [
        {
            "name": entry["name"],
            "path": f"catalogue/{entry['path']}",
            **_stated(kind, entry["text"]),
        }
        for entry in _core.entries(kind)
    ]


def _stated(kind: str, text: str) -> dict[str, Any]:
    """The facts of a file with those of its bases, its sources, and the bases with theirs."""
    bases = _bases(kind, text)
    return {
        "facts": _core.facts(kind, text, bases),
        "sources": _sources(text),
        "bases": [{"name": name, "sources": _sources(below)} for name, below in bases],
    }


def _bases(kind: str, text: str) -> list[tuple[str, str]]:
    """The files that a file is based on, the nearest first, each by its name and its text. Raises InputError."""
    known = {entry["name"]: entry["text"] for entry in _core.entries(kind)}
    found: list[tuple[str, str]] = []
    name = _core.base(text)
    # A chain without an end is refused where the drive is made.
    while name is not None and name not in dict(found):
        text = known[name] if name in known else read_text(Path(name))
        found.append((name, text))
        name = _core.base(text)
    return found


def _sources(text: str) -> dict[str, str]:
    """The sources of a file; none where it cannot be read, which is reported elsewhere."""
    try:
        found: dict[str, str] = toml_text.loads(text).get("sources", {})
    except tomllib.TOMLDecodeError:
        return {}
    return found


def catalogue_kinds() -> list[str]:
    """The kinds of things that the catalogue has facts of."""
    return list(_core.kinds())


def catalogue_entry(name: str, wanted: str | None = None) -> dict[str, Any]:
    """What is called `name`, of any kind, or the user's own file at a path (see `own_entry`).

    Raises InputError for a name that is not there, with the nearest that are, of the kind that is `wanted` if there is
    one, and ScenarioError for a bad file.
    """
    if not isinstance(cast("object", name), str):
        raise InputError(
            f"a name of the catalogue is text, not {type(name).__name__}: write one such as wd-4tb-7200"
        )
    if name.endswith(".toml") or name.startswith(("./", "../", "/")):
        return own_entry(Path(name))
    known = {kind: entries(kind) for kind in catalogue_kinds()}
    for entry in (entry for kind in known.values() for entry in kind):
        if entry["name"] == name:
            return entry
    names = [entry["name"] for kind in known if wanted in (None, kind) for entry in known[kind]]
    close = get_close_matches(name[:NAME_SHOWN], names, cutoff=0.4)
    remedy = f"did you mean {' or '.join(close)}?" if close else f"there is {', '.join(names)}"
    raise InputError(f"nothing in the catalogue is called {name[:NAME_SHOWN]}: {remedy}")


def catalogue_text(name: str) -> str:
    """The file of what is called `name`, to be edited. Raises InputError as `catalogue_entry` does."""
    entry = catalogue_entry(name)
    texts = {found["name"]: found["text"] for kind in catalogue_kinds() for found in _core.entries(kind)}
    return str(texts[name]) if name in texts else read_text(Path(entry["path"]))


# Keys by which a file tells what it describes; without any of them it is a drive.
_OF_KIND = {
    "controllers": {
        "interface",
        "issue",
        "completion",
        "ports",
        "raid",
        "bus",
        "retries",
        "recovery",
        "timeout",
    },
    "workloads": {"title", "pattern", "rw", "bs", "bssplit", "rwmixread", "percentage_random", "iodepth"},
}


def own_entry(path: Path) -> dict[str, Any]:
    """A drive, controller or workload file of the user's own, described as the catalogue's are, once it can be used.

    `assumed` lists what a drive file leaves out and drivelab assumes. Raises InputError, ScenarioError.
    """
    text = read_text(path)
    try:
        keys = toml_text.loads(text)
    except tomllib.TOMLDecodeError:
        keys = {}  # reported below, with line and remedy
    kind = next((kind for kind, known in _OF_KIND.items() if known & keys.keys()), "drives")
    # A name is a path if it has this ending, or a slash.
    place = str(path if path.suffix == ".toml" else path.absolute())
    target: dict[str, object] = {"drive": place if kind == "drives" else "wd-4tb-7200"}
    workload: dict[str, object] = {"bs": "512B"}
    if kind == "controllers":
        target["controller"] = place
    elif kind == "workloads":
        workload = {"pattern": place}
    checked = plan(read_source({"target": target, "workload": workload}))
    assumed = (checked.in_force[0] or {}).get("assumed", []) if kind == "drives" else []
    return {
        "name": path.stem,
        "path": str(path),
        **_stated(kind, text),
        "assumed": assumed,
    }
