"""A record as a scenario: what ran, to be run once more."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, ref
from drivelab.host.files import read_text
from drivelab.report import toml_text
from drivelab.report.document.embedded import SUFFIXES, is_page, unwrapped
from drivelab.scenarios.scenario import Override, Source

SIMULATED, MEASURED, EMULATED = "simulated", "measured", "emulated"
_KINDS = {None: SIMULATED, "emulate": EMULATED}
_IN_FOLDER = "record.json"
_SIZE_MAX_BYTES = 512 * 2**20
_STEP = re.compile(r"([^\[\]]+)|\[(\d+)\]")


@dataclass(frozen=True)
class Recorded:
    """What a record says of its run."""

    origin: str
    kind: str
    version: str
    model_version: str
    scenario_hash: str
    digests: Mapping[str, str]
    """Of each point, by its place in the sweep as `place_of` writes it."""
    overrides: tuple[Override, ...] = ()
    """The values that were given as options, which may contradict the file that they change."""
    files: Mapping[str, str] = field(default_factory=dict)
    traces: Mapping[str, str] = field(default_factory=dict)

    def check_traces(self, checked: _core.Plan) -> None:
        """Refuse a trace of the same name that is another one. Raises InputError."""
        for name, fingerprint in checked.traces.items():
            if self.traces.get(name, fingerprint) != fingerprint:
                raise InputError(
                    f"{name}: this is not the trace that {self.origin} replayed: its content is another; name the one "
                    f"that was replayed, with {ref('workload.trace.file')}"
                )


def place_of(axes: Mapping[str, Any]) -> str:
    """Where in the sweep a point is, as a text."""
    return ", ".join(
        f"{key}={json.dumps(value, sort_keys=True, default=list)}" for key, value in axes.items()
    )


def is_record(path: Path) -> bool:
    """Whether a path is of JSON or of a report, by its name, or of a folder that `--out` has written."""
    return path.suffix.lower() in {".json", *SUFFIXES} or (path.is_dir() and (path / _IN_FOLDER).is_file())


def source_of(path: Path) -> Source:
    """The scenario of a record in a file, or in the folder that `--out` has written. Raises InputError."""
    path = path / _IN_FOLDER if path.is_dir() else path
    return source_in(read_text(path, _SIZE_MAX_BYTES, "record"), path)


def source_in(json_text: str, path: Path) -> Source:
    """The scenario of a record that was read from a path. Raises InputError."""
    document = _document(unwrapped(json_text, str(path)), path)
    text = document.get("scenario")
    if not isinstance(text, str):
        raise InputError(f"{path}: {_without_scenario(document)}")
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: scenario is no TOML: {error}") from error
    overrides = tuple(_overrides(document, text, tree, str(path)))
    recorded = Recorded(
        origin=str(path),
        kind=_kind(document),
        version=str(document.get("version", "")),
        model_version=str(document.get("model_version", "")),
        scenario_hash=str(document.get("scenario_hash", "")),
        digests=_digests(document),
        overrides=overrides,
        files=_texts(document, "files", path),
        traces=_texts(document, "traces", path),
    )
    return Source(text, f"{path}: scenario", _folder(path, recorded.traces), record=recorded)


def _document(text: str, path: Path) -> dict[str, Any]:
    if is_page(text):
        raise InputError(
            f"{path}: this is a web page without a record, as charts are; `simulate --report` writes one that has it"
        )
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: this is no JSON, and so no record: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: this is no record: it is no JSON object")
    from drivelab.records.own import check_version  # noqa: PLC0415 - it imports what reads scenarios

    if "record_version" in found:
        check_version(found, str(path))
    return found


def _without_scenario(document: Mapping[str, Any]) -> str:
    """Why a document cannot be run."""
    if "fio version" in document:
        return "this is a result of fio, which does not hold its job file: run the job file itself"
    if "experiment" in document and "cells" in document:
        return f"this is what `drivelab reproduce {document['experiment']}` prints: run that again"
    if "record_version" in document or document.get("kind") == "emulate":
        version = f"drivelab {document['version']}" if document.get("version") else "an older drivelab"
        return (
            f"the record holds no scenario (it is of {version}, which did not keep it): it can be compared, "
            "but not repeated"
        )
    return "this is no record: it has no scenario; records come from simulate, measure and emulate"


def _kind(document: Mapping[str, Any]) -> str:
    kind = document.get("kind")
    return _KINDS.get(kind, MEASURED) if kind is None or isinstance(kind, str) else MEASURED


def _digests(document: Mapping[str, Any]) -> dict[str, str]:
    points = document.get("points")
    return {
        place_of(point["axes"]): point["digest"]
        for point in (points if isinstance(points, list) else ())
        if isinstance(point, Mapping)
        and isinstance(point.get("axes"), Mapping)
        and isinstance(point.get("digest"), str)
    }


def _texts(document: Mapping[str, Any], key: str, path: Path) -> dict[str, str]:
    found = document.get(key) or {}
    if not isinstance(found, Mapping) or not all(isinstance(text, str) for text in found.values()):
        raise InputError(f"{path}: {key} is no object of texts")
    return dict(found)


def _folder(path: Path, traces: Mapping[str, str]) -> Path:
    """Where relative paths start: at the record, unless its traces are seen from here alone."""
    if traces and all(Path(name).exists() and not (path.parent / name).exists() for name in traces):
        return Path()
    return path.parent


def _overrides(
    document: Mapping[str, Any], text: str, tree: Mapping[str, Any], origin: str
) -> Sequence[Override]:
    """The values that were given as options, as the scenario has them."""
    keys = document.get("overrides") or []
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise InputError(f"{origin}: overrides is no list of keys")
    lines = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    found = []
    for key in keys:
        value = lines.get(key)
        if value is None:
            # Another option may have replaced it.
            with suppress(KeyError, IndexError, TypeError):
                value = toml_text.value_text(_at(tree, key))
        if value is not None:
            found.append(Override(key, value, f"{origin}: {key}"))
    return found


def _at(tree: Any, key: str) -> Any:  # noqa: ANN401 - whatever TOML has
    for name, number in _STEP.findall(key.replace(".", "][")):
        tree = tree[int(number)] if number else tree[name]
    return tree
