"""The runs of an answer: scenarios with what was typed laid over them, all in parallel, and where they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from drivelab import _core
from drivelab.errors import InputError, RunError, ref
from drivelab.errors.keys import WORDS
from drivelab.report import toml_text
from drivelab.runs.provenance import provenance
from drivelab.runs.result import Point, combined_digest
from drivelab.runs.simulation import run_plans
from drivelab.scenarios.firmware import range_note
from drivelab.scenarios.scenario import Override, Source, plan

FREE = ("target.", "run.seed", "workload.submit", "workload.max_transfer")
"""What a caller may set beside the options: the rest is the answer's own."""


@dataclass(frozen=True)
class Ran:
    """One run: the scenario as `simulate` takes it, and its only point."""

    scenario: str
    point: Point
    notes: Sequence[str]
    capacity_bytes: int


@dataclass
class Lab:
    """Where an answer has its runs from."""

    name: str
    settings: Sequence[Override] = ()
    """Keys of the target that were set beside the options."""
    workers: int | None = None
    digests: list[str] = field(default_factory=list)
    hashes: list[str] = field(default_factory=list)
    seed: int = 1

    def planned(
        self, documents: Sequence[Mapping[str, Any]], typed: Mapping[str, object]
    ) -> list[_core.Plan]:
        """A plan for each scenario; `typed` are options by fio's words, None for those that were not given.

        Raises ScenarioError, and InputError for a list of values and for a key that the answer sets itself.
        """
        words = [
            Override(WORDS.get(key, key), str(value), ref(key))
            for key, value in typed.items()
            if value is not None
        ]
        own = {key for document in documents for key, _ in _flat(document)} | {word.key for word in words}
        self.check(own)
        found = []
        for number, document in enumerate(documents):
            source = Source(toml_text.dumps(document), f"answer {self.name}: run {number + 1}")
            checked = plan(source, [*words, *self.settings])
            if len(checked) != 1:
                raise self._several(checked, [*words, *self.settings])
            found.append(checked)
        return found

    def run(self, documents: Sequence[Mapping[str, Any]], typed: Mapping[str, object]) -> list[Ran]:
        """Run each scenario. Raises as `planned` does, RunError, and KeyboardInterrupt after Ctrl-C."""
        plans = self.planned(documents, typed)
        results = run_plans(plans, self.workers)
        found = []
        for checked, result in zip(plans, results, strict=True):
            if result.interrupted:
                raise KeyboardInterrupt
            if result.failures:
                raise RunError(result.failures[0].why)
            self.digests.append(result.points[0]["digest"])
            self.hashes.append(result.scenario_hash)
            self.seed = result.seed
            found.append(Ran(checked.scenario, result.points[0], checked.notes, checked.capacity_bytes(0)))
        return found

    def check(self, own: set[str]) -> None:
        """Refuse settings that the answer makes itself, or that are none of the target. Raises InputError."""
        for setting in self.settings:
            if not setting.key.startswith(FREE):
                free = f"free are the keys under target, and {', '.join(FREE[1:])}"
                raise setting.refused(f"{setting.key} is not free here; {free}")
            for key in own:
                if key == setting.key or key.startswith(f"{setting.key}."):
                    raise setting.refused(f"{setting.key} is what this answer sets itself: leave it out")

    def provenance(self) -> dict[str, Any]:
        """What is needed to repeat and recognise all runs."""
        hashed = hashlib.sha256("".join(self.hashes).encode()).hexdigest()[:32]
        return provenance(hashed, self.seed, combined_digest(self.digests))

    def _several(self, checked: _core.Plan, given: Sequence[Override]) -> InputError:
        """Which value was a list."""
        axes = next(iter([*checked.axes, *(axes for axes, _ in checked.skipped)]), {})
        what = "an answer is about one value; ask once for each"
        for override in given:
            if any(axis == override.key or axis.startswith(f"{override.key}.") for axis in axes):
                return override.refused(what, with_value=True)
        return InputError(f"{', '.join(axes)}: {what}")


def notes_of(runs: Sequence[Ran]) -> list[str]:
    """What the figures of these runs have to be read with: what their ranges are, and notes of their scenarios."""
    found = (range_note([cast("dict[str, Any]", ran.point) for ran in runs]) or "").splitlines()
    if any("iops_low" not in ran.point for ran in runs):
        others = "other ranges are" if found else "ranges are"
        found.append(f"{others} of chance alone, at 95 %: no spread of drives is known for these figures")
    return list(dict.fromkeys([*found, *(note for ran in runs for note in ran.notes)]))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
