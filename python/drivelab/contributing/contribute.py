"""`drivelab catalogue contribute`: the candidate of a bundle, its checks, and what is written of it."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.contributing import entry as written
from drivelab.contributing.bundle import DRIVE, Bundle, read_bundle
from drivelab.contributing.checks import Candidate, after_simulating, before_simulating
from drivelab.contributing.measured import measurement
from drivelab.errors import InputError, ScenarioError, TraceError, ref
from drivelab.host.files import make_folder, write_text
from drivelab.scenarios.catalogue import own_entry

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{2,60}")
_MAKERS = {"western digital": "wd", "western digital corporation": "wd"}


@dataclass(frozen=True)
class Contribution:
    """What became of a bundle."""

    name: str
    refused: list[str]
    """Why it is no entry; empty if it is one."""
    held_out: float | None = None
    """The error of the mean time of the requests that the fit has not seen."""
    rates: list[dict[str, float]] = field(default_factory=list)
    """Of each depth: `depth`, `measured`, `simulated`, `error`."""
    files: list[str] = field(default_factory=list)
    """What was written."""

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "kind": "contribution",
            "name": self.name,
            "accepted": not self.refused,
            "refused": self.refused,
            "held_out_error": self.held_out,
            "sweep": self.rates,
            "files": self.files,
        }


def contribute(
    bundle: str | PathLike[str], output: str | PathLike[str] = ".", name: str | None = None
) -> Contribution:
    """Check a bundle, and write the entry of the catalogue that it makes into a folder below `output`.

    Nothing is written of what is refused. Raises InputError, ScenarioError for a bundle that cannot be read.
    """
    given = read_bundle(Path(bundle))
    found = measurement(given)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, DRIVE)
        drive = _checked_drive(given, place)
        facts = {fact["key"]: fact["value"] for fact in drive["facts"]}
        called = _name(name, facts)
        one = Candidate(called, facts, found, _capacity(place))
        refused = before_simulating(one)
        if not refused:
            refused = _simulated(one, place)
    if refused:
        return Contribution(called, refused, one.held_out, one.rates)
    target = Path(output) / called
    if target.exists():
        raise InputError(f"{target} is there already: remove it, or name another folder by {ref('output')}")
    texts = written.texts(one, drive)
    make_folder(target)
    for file, text in texts.items():
        write_text(target / file, text)
    return Contribution(called, [], one.held_out, one.rates, [str(target / file) for file in texts])


def _simulated(one: Candidate, place: Path) -> list[str]:
    """Why it is refused by what the drive file predicts, once it is simulated."""
    try:
        written.simulate(one, place)
    except TraceError as error:
        return [f"the drive file cannot serve the chain: {error}"]
    return after_simulating(one)


def _checked_drive(given: Bundle, place: Path) -> dict[str, Any]:
    """The facts of the drive file, once it can be used. Raises InputError, ScenarioError."""
    base = given.keys().get("base")
    known = {one["name"] for one in _core.entries("drives")}
    if base is not None and (not isinstance(base, str) or base not in known):
        raise InputError(
            f"{given.place}: {DRIVE}: base is {base!r:.80}: a bundle may be based on a drive of the catalogue only, "
            "and on no file"
        )
    write_text(place, given.drive)
    try:
        return own_entry(place)
    except ScenarioError as error:
        # The copy no longer exists when the message is read.
        error.render(lambda text: text.replace(str(place), f"{given.place}: {DRIVE}"))
        raise


def _capacity(place: Path) -> int:
    from drivelab.fit.draft import start_of  # noqa: PLC0415 - scipy takes a second to load

    return start_of(str(place)).plan().capacity_bytes(0)


def _name(name: str | None, facts: dict[str, Any]) -> str:
    if name is not None:
        if not _NAME.fullmatch(name):
            raise InputError(
                f"{ref('name', name[:80])}: write small letters, digits and -, as in wd-wd740gd-00fla0"
            )
        return name
    maker, model = (str(facts.get(f"identity.{key}", "")).lower() for key in ("maker", "model"))
    text = re.sub(r"[^a-z0-9]+", "-", f"{_MAKERS.get(maker, maker)} {model}").strip("-")[:60]
    return text if _NAME.fullmatch(text) else "unnamed"
