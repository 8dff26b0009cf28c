"""Running the measurements on one target: `scan` for surface, access and burst, `scan_sizes` for request sizes."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import _core
from drivelab.errors import InputError, RunError, ref
from drivelab.report import toml_text
from drivelab.report.pictures import drawn
from drivelab.report.plural import counted
from drivelab.report.table import Table
from drivelab.runs.provenance import line, provenance
from drivelab.runs.result import Result, combined_digest
from drivelab.runs.simulation import Progress, run_plans
from drivelab.scanning import access, burst, sizes, surface
from drivelab.scanning.access import Access
from drivelab.scanning.at_once import failure_text
from drivelab.scanning.burst import Burst
from drivelab.scanning.sizes import Sizes
from drivelab.scanning.surface import Surface
from drivelab.scenarios.names import names_checked
from drivelab.scenarios.scenario import Override, Source, check_once, overrides_from, plan

if TYPE_CHECKING:
    import altair

# What a caller may set besides the target: the rest is the measurement's own.
_FREE = ("run.seed", "workload.submit", "workload.max_transfer")
# The order in which the digests of the measurements are combined.
_IN_DIGEST = ("surface", "access", "burst")


@dataclass(frozen=True)
class Run:
    """What was scanned, how, and what is needed to repeat and recognise it."""

    name: str
    capacity_bytes: int
    seed: int
    scenario_hash: str
    digest: str
    method: Mapping[str, Any]
    """The workloads, as in scenarios."""
    settings: Mapping[str, str]
    """The target, and other overrides of the workloads, by the keys of a scenario."""

    def provenance(self) -> dict[str, Any]:
        """What is needed to repeat and recognise the scan."""
        return provenance(self.scenario_hash, self.seed, self.digest)

    def identity(self) -> str:
        """The same in one line."""
        return line(self.provenance())

    def to_dict(self) -> dict[str, Any]:
        """The identity as `scan --json` prints it."""
        return {
            "name": self.name,
            **self.provenance(),
            "capacity_bytes": self.capacity_bytes,
            "settings": self.settings,
            "method": self.method,
        }


@dataclass(frozen=True, repr=False)
class Scan:
    """The two pictures of a drive and its burst rate."""

    run: Run
    rw: str
    surface: Surface
    access: Access
    burst: Burst | None
    """None if writes were scanned: a burst is a read."""
    link_share: float | None
    """The minimum over all places of the link's share of the response time; None if unknown."""

    def __repr__(self) -> str:
        """A line, however many places there are."""
        return f"<Scan {self.run.name!r}: {counted(len(self.surface.places), 'place')}, digest {self.run.digest}>"

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab scan --json` prints."""
        return {
            **self.run.to_dict(),
            "rw": self.rw,
            "surface": {
                **self.surface.to_dict(),
                "whole_s": self.surface.seconds_for(self.run.capacity_bytes),
                "link_share_min": self.link_share,
            },
            "access": self.access.to_dict(),
            "burst": self.burst and self.burst.to_dict(),
        }

    def table(self) -> Table:
        """The figures that a reviewer prints."""
        from drivelab.scanning.tables import scan_table  # noqa: PLC0415 - it reads this class

        return scan_table(self)

    def rows(self) -> list[dict[str, Any]]:
        """What `scan --csv` prints: each place, each access and the burst, a row each."""
        found = self.to_dict()
        rows = [{"of": "surface", **place} for place in found["surface"]["places"]]
        rows += [{"of": "access", **access} for access in found["access"]["accesses"]]
        return rows + ([{"of": "burst", **found["burst"]}] if found["burst"] else [])

    def _repr_html_(self) -> str:
        return f"{self.table()._repr_html_()}<p><small>{self.run.identity()}</small></p>"

    def chart(self, path: str | Path | None = None, *, title: str | None = None) -> altair.TopLevelMixin:
        """Rate and access time over the surface; written to `path` if there is one. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415 - altair takes long to load

        return drawn(lambda: charts.surface(self.to_dict(), title), path, self.run.provenance)


@dataclass(frozen=True, repr=False)
class SizeScan:
    """Time per request over its size, reads and writes, and the first-order model of each."""

    run: Run
    directions: list[Sizes]

    def __repr__(self) -> str:
        """A line, however many sizes there are."""
        return f"<SizeScan {self.run.name!r}: digest {self.run.digest}>"

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab scan --sizes --json` prints."""
        return {**self.run.to_dict(), "directions": [found.to_dict() for found in self.directions]}

    def table(self) -> Table:
        """Each size with its time, the model's, and the residual."""
        from drivelab.scanning.tables import sizes_table  # noqa: PLC0415 - it reads this class

        return sizes_table(self)

    def rows(self) -> list[dict[str, Any]]:
        """What `scan --sizes --csv` prints: each size of each direction, a row each."""
        return [
            {"direction": one["direction"], **size}
            for one in self.to_dict()["directions"]
            for size in one["sizes"]
        ]

    def _repr_html_(self) -> str:
        return f"{self.table()._repr_html_()}<p><small>{self.run.identity()}</small></p>"

    def chart(self, path: str | Path | None = None, *, title: str | None = None) -> altair.TopLevelMixin:
        """Time over size, and the residuals of the model; written to `path` if there is one. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415

        return drawn(lambda: charts.sizes(self.to_dict(), title), path, self.run.provenance)


@names_checked
def scan(
    drive: str | Path,
    *,
    controller: str | Mapping[str, object] | None = None,
    rw: str = "read",
    places: int = surface.PLACES,
    accesses: int = access.REQUESTS,
    access_size: str = access.BLOCK,
    workers: int | None = None,
    progress: Progress | None = None,
    **overrides: object,
) -> Scan:
    """Scan a drive (a name of the catalogue, or a path): rate over the surface, access times, burst rate.

    `overrides` change the target, such as `**{"target.drive.rpm": "5400rpm"}`, and `run.seed`,
    `workload.submit`, `workload.max_transfer`; the rest of the workload is the measurement. Raises InputError,
    ScenarioError, RunError, and KeyboardInterrupt.
    """
    target = _target(drive, controller, overrides)
    return scan_target(target, rw, places, (accesses, access_size), workers, progress)


@names_checked
def scan_sizes(
    drive: str | Path,
    *,
    controller: str | Mapping[str, object] | None = None,
    requests: int = sizes.REQUESTS,
    workers: int | None = None,
    progress: Progress | None = None,
    **overrides: object,
) -> SizeScan:
    """Random reads and writes of growing size, and the first-order model of each direction.

    Parameters and errors are those of `scan`.
    """
    return scan_target_sizes(_target(drive, controller, overrides), requests, workers, progress)


@dataclass(frozen=True)
class Target:
    """What is to be scanned: its name for people, and the overrides that describe it."""

    name: str
    overrides: Sequence[Override]


def target_of(drive: str, controller: str | None, others: Iterable[Override]) -> Target:
    """A target from its names and from overrides that do not change the measurement. Raises InputError."""
    found = [Override("target.drive", drive, ref("drive"))]
    if controller is not None:
        found.append(Override("target.controller", controller, ref("controller")))
    for override in others:
        if not override.key.startswith(("target.", *_FREE)):
            raise InputError(
                f"{override.origin}: a scan sets {override.key} itself; "
                f"free are the keys under target, and {', '.join(_FREE)}"
            )
        found.append(override)
    check_once(found)
    name = Path(drive).stem if drive.endswith(".toml") else drive
    return Target(name if controller is None else f"{name} on {controller}", found)


def _target(
    drive: str | Path, controller: str | Mapping[str, object] | None, overrides: Mapping[str, object]
) -> Target:
    check_one(drive)
    text = toml_text.value_text(controller) if isinstance(controller, Mapping) else controller
    return target_of(str(drive), text, overrides_from(overrides))


def check_one(drive: object) -> None:
    """Refuse several drives where only one is scanned. Raises InputError."""
    is_list = not isinstance(drive, str | Path)
    if is_list or ("," in str(drive) and not Path(str(drive)).is_file()):
        raise InputError(f"drive is {drive!r}: a scan takes one; scan_drives([..]) sets several side by side")


def scan_target(
    target: Target,
    rw: str,
    places: int,
    accesses: tuple[int, str],
    workers: int | None = None,
    progress: Progress | None = None,
) -> Scan:
    """The three measurements, one after the other: each logs as many commands as its figures need."""
    count, size = accesses
    documents = {
        "surface": surface.document(rw, places),
        "access": access.document(rw, size, count),
    }
    logged = {"surface": surface.LOGGED, "access": count}
    if rw == "read":
        documents["burst"], logged["burst"] = burst.document(), burst.REQUESTS
    plans = {name: _plan(name, document, target) for name, document in documents.items()}
    results: dict[str, Result] = {}
    done = 0
    for name, checked in plans.items():
        step = progress and partial(further, progress, done)
        results[name] = _run([checked], workers, step, logged[name])[0]
        done += len(checked)
    return Scan(
        run=_identity(
            target, documents, list(plans.values()), [results[name] for name in _IN_DIGEST if name in results]
        ),
        rw=rw,
        surface=Surface.of(results["surface"].points),
        access=Access.of(results["access"].points[0]),
        burst=Burst.of(results["burst"].points[0]) if rw == "read" else None,
        link_share=surface.link_share(results["surface"].points),
    )


def scan_target_sizes(
    target: Target, requests: int, workers: int | None = None, progress: Progress | None = None
) -> SizeScan:
    """The grid of directions and sizes."""
    documents = {"sizes": sizes.document(requests=requests)}
    grid = _plan("sizes", documents["sizes"], target)
    found = _run([grid], workers, progress, 0)
    directions = [
        Sizes.of(
            direction,
            [point for point in found[0].points if point["axes"]["workload.rw"] == f"rand{direction}"],
        )
        for direction in sizes.DIRECTIONS
    ]
    return SizeScan(_identity(target, documents, [grid], found), directions)


def further(progress: Progress, done: int, part: float) -> None:
    """Report the progress of one part as that of the whole."""
    progress(done + part)


def _plan(name: str, document: Mapping[str, Any], target: Target) -> _core.Plan:
    """The plan of a measurement. Raises InputError if the target is a sweep, ScenarioError."""
    source = Source(toml_text.dumps({"name": target.name, **document}), f"scan: {name}")
    checked = plan(source, target.overrides)
    # The sweep over places or sizes is the measurement's own; further axes come from the target.
    own = math.prod(len(value) for value in document["workload"].values() if isinstance(value, list))
    found = len(checked) + len(checked.skipped)
    if found != own:
        raise InputError(
            f"a sweep of {found // own} points cannot be scanned, only one target; "
            "give each key one value, and scan once for each"
        )
    return checked


def _run(
    plans: Sequence[_core.Plan], workers: int | None, progress: Progress | None, log: int
) -> list[Result]:
    """The results of some plans, all of them. Raises RunError and KeyboardInterrupt."""
    results = run_plans(plans, workers, progress, log)
    for result in results:
        if result.failures:
            raise RunError(failure_text(result.failures[0]))
        if result.interrupted:
            raise KeyboardInterrupt
    return results


def _identity(
    target: Target, documents: Mapping[str, Any], plans: Sequence[_core.Plan], results: Sequence[Result]
) -> Run:
    hashes = "".join(found.scenario_hash for found in plans)
    return Run(
        name=target.name,
        capacity_bytes=plans[0].capacity_bytes(0),
        seed=plans[0].seed,
        scenario_hash=hashlib.sha256(hashes.encode()).hexdigest()[:32],
        digest=combined_digest([point["digest"] for result in results for point in result.points]),
        method=documents,
        settings={override.key: override.value for override in target.overrides},
    )
