"""The JSON Schema as an editor uses it: right files conform, wrong ones are told at their key, and keys complete."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from drivelab import _core

ROOT = Path(__file__).resolve().parents[2]
DRIVE = _core.drive_schema()
SCENARIO = _core.schema()
FENCE = re.compile(r"```toml\n(.*?)```", re.DOTALL)


def faults(schema: dict[str, Any], text: str) -> list[str]:
    """Each fault as an editor shows it: the key's path, and what is wrong."""
    errors = Draft202012Validator(schema).iter_errors(tomllib.loads(text))
    found = [best_match([error]) for error in errors]
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in found if error]


@pytest.mark.parametrize("schema", [DRIVE, SCENARIO], ids=["drive", "scenario"])
def test_it_is_a_schema_of_a_size_that_an_editor_takes(schema):
    jsonschema.validators.validator_for(schema).check_schema(schema)
    assert len(json.dumps(schema, indent=2)) < 600_000


def test_what_is_printed_is_small_too(run):
    for words in ((), ("--drive",)):
        assert len(run("schema", *words).stdout) < 600_000


@pytest.mark.parametrize(
    "path", sorted((ROOT / "catalogue" / "drives").glob("*.toml")), ids=lambda path: path.stem
)
def test_the_drives_of_the_catalogue_conform(path):
    assert faults(DRIVE, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", ["scenario.md", "drives.md", "path.md", "arrays.md"])
def test_the_examples_of_the_docs_conform(page):
    examples = FENCE.findall((ROOT / "docs" / "reference" / page).read_text(encoding="utf-8"))
    assert examples
    for text in examples:
        assert faults(SCENARIO, text) == [], text


def test_the_drives_of_the_guide_conform():
    examples = FENCE.findall((ROOT / "docs" / "how-to" / "own-drive.md").read_text(encoding="utf-8"))
    for text in examples:
        assert faults(SCENARIO if "# scenario.toml" in text else DRIVE, text) == [], text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "workload.iodpeth = 4",
            "workload: Additional properties are not allowed ('iodpeth' was unexpected)",
        ),
        ("workload.iodepth = 0", "workload.iodepth: 0 is less than the minimum of 1"),
        ('workload.iodepth = "4"', "workload.iodepth: '4' is not of type 'integer', 'array'"),
        ("workload.iodepth = [1, 0]", "workload.iodepth.1: 0 is less than the minimum of 1"),
        ("workload.iodepth = []", "workload.iodepth: [] should be non-empty"),
        ("workload.bs = 4096", "workload.bs: 4096 is not of type 'string', 'array'"),
        ('run.seed = "x"', "run.seed: 'x' is not of type 'integer', 'array'"),
        ("target = 4", "target: 4 is not of type 'object', 'array'"),
        (
            "[target.queue]\nordr = 1",
            "target.queue: Additional properties are not allowed ('ordr' was unexpected)",
        ),
        (
            "[target.drive.seek]\nsingl = 1",
            "target.drive.seek: Additional properties are not allowed ('singl' was unexpected)",
        ),
        ("target.cache.segments = 0", "target.cache.segments: 0 is less than the minimum of 1"),
    ],
)
def test_a_scenario_with_a_mistake_is_told_at_its_key(text, expected):
    assert faults(SCENARIO, text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rpm = 7200", "rpm: 7200 is not of type 'string', 'object'"),
        ('rpm = { source = "x" }', "rpm: 'value' is a required property"),
        ("rpm = { value = 7200 }", "rpm.value: 7200 is not of type 'string'"),
        ("geometry.heads = 0", "geometry.heads: 0 is less than the minimum of 1"),
        (
            "geometry.zones = [{ cylinders = 0 }]",
            "geometry.zones.0.cylinders: 0 is less than the minimum of 1",
        ),
        ("[geometry]\nhead = 2", "geometry: Additional properties are not allowed ('head' was unexpected)"),
        ("seek.table = 4", "seek.table: 4 is not of type 'object', 'array'"),
    ],
)
def test_a_drive_file_with_a_mistake_is_told_at_its_key(text, expected):
    assert faults(DRIVE, text) == [expected]


@pytest.mark.parametrize(
    ("text", "key", "names"),
    [
        ('queue.order = "spft"', "queue.order", ("'sptf'", "'fcfs'")),
        ('link.standard = "sata-3"', "link.standard", ("'sata-300'",)),
        ('rpm = { value = "7200rpm", mark = "guess" }', "rpm.mark", ("'datasheet'", "'fitted'")),
    ],
)
def test_a_wrong_name_is_told_with_the_right_ones(text, key, names):
    (fault,) = faults(DRIVE, text)
    assert fault.startswith(f"{key}: ")
    assert all(name in fault for name in names), fault


def resolved(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """A node with what it refers to."""
    if reference := node.get("$ref"):
        return {**schema["$defs"][reference.removeprefix("#/$defs/")], **node}
    return node


@pytest.mark.parametrize("schema", [DRIVE, SCENARIO], ids=["drive", "scenario"])
def test_every_key_can_be_completed_and_is_explained(schema):
    seen = []

    def walk(node: dict[str, Any], path: str) -> None:
        for name, inner in resolved(schema, node).get("properties", {}).items():
            found = resolved(schema, inner)
            seen.append(f"{path}{name}")
            assert found.get("description") or ("." in path and name == "value"), f"{path}{name}"
            assert {"type", "anyOf", "enum"} & found.keys(), f"{path}{name}"
            if "object" in found.get("type", ()) and name not in ("value", "source", "mark"):
                walk(found, f"{path}{name}.")

    walk(schema, "")
    wanted = "geometry.heads" if schema is DRIVE else "target.drive.geometry.heads"
    assert wanted in seen
    assert len(seen) > 100


def test_names_and_examples_are_offered():
    order = DRIVE["$defs"]["queue"]["properties"]["order"]
    (offered,) = (form["enum"] for form in order["anyOf"] if "enum" in form)
    assert "aged-sptf" in offered
    assert "`aged-sptf`: " in order["description"]
    assert DRIVE["properties"]["rpm"]["examples"] == ["7200rpm"]
    assert "units: rpm" in DRIVE["properties"]["rpm"]["description"]
