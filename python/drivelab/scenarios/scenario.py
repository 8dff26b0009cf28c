"""From what the caller has in hand (a file, text, a dictionary, a few words) to a checked plan."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from drivelab import _core
from drivelab.errors import InputError, OptionError
from drivelab.errors.keys import WORDS, name_of
from drivelab.host.files import read_text
from drivelab.report import toml_text
from drivelab.scenarios.ranges import listed

if TYPE_CHECKING:
    from drivelab.scenarios.repeating import Recorded

Scenario = str | Path | Mapping[str, object]


@dataclass(frozen=True)
class Override:
    """A value that replaces one of the scenario's; `origin` is what an error message calls it."""

    key: str
    value: str
    origin: str

    def refused(self, what: str, *, with_value: bool = False) -> InputError:
        """The error that this value is wrong: of its option, if it has one of its own."""
        name, given = name_of(self.origin), self.value if with_value else None
        if name is not None:
            return OptionError(name, given, what)
        return InputError(f"{self.origin}{'' if given is None else f' {given}'}: {what}")


@dataclass(frozen=True)
class Source:
    """Scenario text, what error messages call it, and the folder that its relative paths start from."""

    text: str
    origin: str
    base_dir: Path = Path()
    notes: tuple[str, ...] = ()
    """What a reader should know of how the text came about."""
    held: frozenset[str] = frozenset()
    """Keys of overrides that the text has taken over already."""
    record: Recorded | None = None
    """The record that the scenario is taken from."""


def read_source(scenario: object, overrides: Iterable[Override] = ()) -> Source:
    """The text of a scenario: a string of one line without `=` and a Path name a file, which may be a record.

    A job file of fio takes over what it can of the overrides, since its options depend on each other.

    Notebooks pass anything, whatever the types say: what is no `Scenario` raises InputError as well.
    """
    if isinstance(scenario, Mapping):
        try:
            return Source(toml_text.dumps(scenario), "scenario")
        except (TypeError, RecursionError) as error:
            raise InputError(f"the scenario dictionary: {error}") from error
    if isinstance(scenario, str):
        if not scenario.strip():
            return Source("", "arguments")
        if "\n" in scenario or "=" in scenario:
            return Source(scenario, "scenario")
        scenario = Path(scenario)
    if not isinstance(scenario, Path):
        kind = "None" if scenario is None else f"a {type(scenario).__name__}"
        raise InputError(f"{kind} is no scenario: give a path, TOML text or a dictionary")
    from drivelab.scenarios import repeating  # noqa: PLC0415 - records have scenarios, and their readers read scenarios

    if repeating.is_record(scenario):
        return repeating.source_of(scenario)
    text = read_text(scenario)
    if text.lstrip().startswith("{"):
        # No TOML begins so.
        return repeating.source_in(text, scenario)
    if not text.strip():
        raise InputError(
            f"{scenario}: the file is empty; fill it (docs/reference/scenario.md), or leave it out where the options "
            "say it all"
        )
    if scenario.suffix == ".fio" or _is_of_fio(text):
        from drivelab.fio import scenario_of  # noqa: PLC0415 - few need it

        found = scenario_of(text, str(scenario), {item.key: item.value for item in overrides})
        origin = f"{scenario} as a scenario"
        return Source(found.text, origin, scenario.parent, tuple(found.notes), found.held)
    return _of_others(text, scenario, overrides) or Source(text, str(scenario), scenario.parent)


def _of_others(text: str, path: Path, overrides: Iterable[Override]) -> Source | None:
    """The job of another tool as a scenario; None where it is of none that is known. Raises InputError."""
    from drivelab import diskspd, elbencho, iometer, vdbench  # noqa: PLC0415 - few need them

    given = {item.key: item.value for item in overrides}
    if diskspd.is_job(text):
        found = diskspd.scenario_of(text, str(path), given)
    elif elbencho.is_command(text):
        found = elbencho.scenario_of(text, str(path), given)
    elif iometer.is_configuration(text):
        found = iometer.scenario_of(text, str(path), given)
    elif vdbench.is_parameter_file(text):
        found = vdbench.scenario_of(text, str(path), given)
    else:
        return None
    return Source(found.text, f"{path} as a scenario", path.parent, tuple(found.notes))


def _is_of_fio(text: str) -> bool:
    """Whether this is a job file of fio, which nothing is that is TOML."""
    try:
        toml_text.loads(text)
    except tomllib.TOMLDecodeError:
        from drivelab.fio import is_job_file  # noqa: PLC0415

        return is_job_file(text)
    return False


def overrides_from(values: Mapping[str, object]) -> list[Override]:
    """Overrides for keyword arguments: `iodepth=[1, 4]` or `**{"workload.iodepth": [1, 4]}`. Raises InputError."""
    found = []
    for key, value in values.items():
        try:
            text = value if isinstance(value, str) else toml_text.value_text(value, key)
        except TypeError as error:
            raise InputError(str(error)) from error
        path = WORDS.get(key, key)
        found.append(Override(path, listed(path, text) if isinstance(value, str) else text, key))
    check_once(found)
    return found


def check_once(overrides: Iterable[Override]) -> None:
    """Refuse a key that is set twice: one of the two would be lost in silence. Raises InputError."""
    seen: dict[str, Override] = {}
    for override in overrides:
        first = seen.setdefault(override.key, override)
        if first is not override:
            named = " and ".join(f"{one.origin} ({one.value})" for one in (first, override))
            raise InputError(f"{named} both set {override.key}: keep one of the two")


def plan(source: Source, overrides: Iterable[Override] = (), *, served: bool = False) -> _core.Plan:
    """Check a scenario and lay out its sweep. Raises ScenarioError with all that is wrong, or InputError.

    A target that is `served` has no end, and faults come at run time: keys have an effect there that have none in a
    run.
    """
    given = list(overrides)
    recorded = () if source.record is None else source.record.overrides
    kept = [item for item in recorded if item.key not in {one.key for one in given}]
    triples = [(item.key, item.value, item.origin) for item in (*kept, *given) if item.key not in source.held]
    for text in (source.text, *(part for triple in triples for part in triple)):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{text!r} is not UTF-8 text") from error
    files = {} if source.record is None else source.record.files
    checked = _core.Plan(source.text, source.origin, str(source.base_dir), triples, files, served=served)
    if source.record is not None:
        source.record.check_traces(checked)
    return checked
