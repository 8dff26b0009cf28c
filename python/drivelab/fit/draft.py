"""The drive that is being fitted: the facts of its start, values that replace some of them, and plans that run it."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, ScenarioError, ref
from drivelab.fit.seek_curve import LEE, ROOT_LINE
from drivelab.report import toml_text
from drivelab.scenarios.catalogue import catalogue_entry
from drivelab.scenarios.scenario import Source, plan

SEEK_FORMS = ("table", "single", "average", "full", "form", "longer_settle", "a", "b", "limit", "c", "e")
_THREE = frozenset(f"seek.{key}" for key in ("single", "average", "full", "form", "longer_settle"))
"""The keys of a curve through three times; those of them that are not replaced remain."""
_SKIPPED = ("sources.",)


@dataclass(frozen=True)
class Draft:
    """A drive as a flat list of keys, as `drivelab catalogue` shows them."""

    name: str
    facts: Mapping[str, Mapping[str, Any]]
    """The value, mark and source of each key of the start, including inherited ones."""
    sources: Mapping[str, str]
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values that replace those of the facts; None removes the key."""

    def get(self, key: str, default: object = None) -> Any:  # noqa: ANN401 - as the file has it
        """The current value of a key; for a table of overheads also one of its entries."""
        if key in self.values:
            return default if self.values[key] is None else self.values[key]
        if key in self.facts:
            return self.facts[key]["value"]
        parts = {
            name.removeprefix(f"{key}."): self.get(name)
            for name in {*self.facts, *self.values}
            if name.startswith(f"{key}.")
        }
        if parts:
            return parts
        above, _, last = key.rpartition(".")
        table = self.values.get(above, self.facts.get(above, {}).get("value")) if above else None
        return table[last] if isinstance(table, Mapping) and last in table else default

    def having(self, values: Mapping[str, Any]) -> Draft:
        """The same drive with these values; of the forms of the seek curve only the new one remains."""
        found = dict(self.values)
        given = {key for key in values if key.removeprefix("seek.") in SEEK_FORMS and key.startswith("seek.")}
        if given:
            kept = _THREE if given <= _THREE else frozenset()
            found |= {
                key: self.get(key) if key in kept else None
                for key in (f"seek.{form}" for form in SEEK_FORMS)
                if key not in values
            }
            if found.get("seek.longer_settle") is not None and values.get("seek.form") == LEE:
                found["seek.longer_settle"] = None
        return replace(self, values={**found, **values})

    def keys(self) -> dict[str, Any]:
        """The drive as nested tables, without marks."""
        found: dict[str, Any] = {}
        for key in [*self.facts, *(key for key in self.values if key not in self.facts)]:
            if (value := self.get(key)) is not None and not key.startswith(_SKIPPED):
                _put(found, key.split("."), value)
        return found

    def keys_of(self, *prefixes: str) -> list[str]:
        """The keys that begin with one of these prefixes."""
        return sorted(key for key in {*self.facts, *self.values} if key.startswith(prefixes))

    def plan(
        self, workload: Mapping[str, Any] | None = None, run: Mapping[str, Any] | None = None
    ) -> _core.Plan:
        """A plan that runs it; without a workload a plan for replays and positions. Raises ScenarioError."""
        # From a file, because an inline drive of a scenario may have no keys without effect.
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, f"{self.name}.toml")
            place.write_text(toml_text.dumps(self.keys()), encoding="utf-8", newline="\n")
            scenario = {
                "target": {"drive": str(place)},
                "workload": dict(workload or {"bs": "512B"}),
                "run": dict(run or {"seed": 1}),
            }
            try:
                return plan(Source(toml_text.dumps(scenario), "the fitted drive"))
            except ScenarioError as error:
                # The file no longer exists when the message is read.
                error.render(
                    lambda text: text.replace(str(place), f"{self.name} with the values that are known")
                )
                raise

    def writes_cached(self) -> bool:
        """Whether writes complete in the cache, according to the file or the default of its interface. Raises
        ScenarioError.
        """
        stated = self.get("write_cache")
        if stated is not None:
            return bool(stated)
        in_force = self.plan().in_force[0] or {}
        return any(fact["key"] == "write_cache" and fact["value"] for fact in in_force.get("assumed", []))

    @property
    def capacity(self) -> int:
        """The capacity in sectors."""
        return self.plan().capacity_bytes(0) // 512


def start_of(name: str) -> Draft:
    """The start of a fit: a drive of the catalogue or a drive file. Raises InputError, ScenarioError."""
    path = Path(name)
    is_file = path.suffix == ".toml" or path.exists()
    entry = catalogue_entry(str(path.absolute()) if is_file else name, "drives")
    facts = {
        fact["key"]: {part: fact[part] for part in ("value", "mark", "source")} for fact in entry["facts"]
    }
    if "rpm" not in facts and "flash.dies" not in facts:
        raise InputError(f"{name} is no drive: a fit starts from a drive of the catalogue or a drive file")
    sources: dict[str, str] = {}
    for below in reversed(entry["bases"]):
        sources |= below["sources"]
    return _with_times_of_class(Draft(Path(entry["name"]).stem, facts, sources | entry["sources"]))


def _with_times_of_class(draft: Draft) -> Draft:
    """The draft with the times that the start leaves out and its class supplies: a fit changes them from there."""
    try:
        assumed = (draft.plan().in_force[0] or {}).get("assumed", ())
    except ScenarioError:
        # The fit may be given what the start lacks, and tells what is wrong with it where it is not.
        return _with_form(draft)
    of = {
        one["key"]: {"value": one["value"], "mark": "inferred", "source": one["because"]}
        for one in assumed
        # The skews follow from these times, unless the fit determines them.
        if one["key"].startswith(("firmware.", "settle.")) and one["key"] != "firmware.class"
    }
    return _with_form(replace(draft, facts={**draft.facts, **of}))


def _with_form(draft: Draft) -> Draft:
    """The draft with the form of its three seek times: Lee's where it says none.

    On the chain of a measured 2.5-inch drive the form of its class tells the held-out half worse: the first decile is
    1.2 ms too long, three of its errors; with Lee's form it is within two.
    """
    if draft.get("seek.single") is None or draft.get("seek.form") is not None:
        return draft
    form = LEE if draft.get("seek.longer_settle") is None else ROOT_LINE
    fact = {
        "value": form,
        "mark": "inferred",
        "source": "the form in which a fit determines three seek times",
    }
    return replace(draft, facts={**draft.facts, "seek.form": fact})


def given(text: str) -> tuple[str, Any]:
    """Parse a KEY=VALUE of the command line. Raises InputError."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise InputError(f"{ref('known', text)}: write it as KEY=VALUE, such as rpm=7200rpm")
    try:
        found = toml_text.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        found = value.strip()
    return key.strip(), found


def _put(table: dict[str, Any], path: list[str], value: object) -> None:
    for name in path[:-1]:
        below = table.setdefault(name, {})
        if not isinstance(below, dict):
            return
        table = below
    table[path[-1]] = value
