"""The parts list of a release (SBOM): what is compiled into the extension, and what an installation fetches.

It is CycloneDX JSON. The crates are those that cargo links into `drivelab-py` for Linux, with the checksums of
Cargo.lock; the Python packages are those of requirements/run.txt that pyproject.toml needs, at the versions that are
tested. The library that writes it holds it to the schema too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parent.parent
# What is linked differs between processors by nothing.
PLATFORM = "x86_64-unknown-linux-gnu"
EXTENSION = "drivelab-py"
# Of requirements/run.txt, but used to build only.
BUILD_TOOLS = {"maturin"}
PIN = re.compile(r"^([\w.-]+)==(\S+) \\\n((?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE)


def metadata() -> dict[str, Any]:
    """What cargo knows of the packages of the workspace."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", PLATFORM]
    found: dict[str, Any] = json.loads(
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    )
    return found


def linked(found: dict[str, Any]) -> set[str]:
    """The ids of the packages that the extension is made of: no tests, no build scripts, no macros."""
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    macros = {
        package["id"]
        for package in found["packages"]
        if any("proc-macro" in target["kind"] for target in package["targets"])
    }
    waiting = [package["id"] for package in found["packages"] if package["name"] == EXTENSION]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in seen | macros:
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    return seen


def crates() -> Iterator[Component]:
    """The crates of others in the extension."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
    found = metadata()
    ids = linked(found)
    for package in found["packages"]:
        checksum = checksums[package["name"], package["version"]]
        if package["id"] in ids and checksum is not None:
            yield component("cargo", package["name"], package["version"], [checksum], package["license"])


def python_packages() -> Iterator[Component]:
    """The packages that an installation fetches, as they are tested. A package has a hash for each of its files."""
    text = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    for name, version, hashes in PIN.findall(text):
        if name not in BUILD_TOOLS:
            yield component("pypi", name, version, re.findall(r"sha256:([0-9a-f]+)", hashes), None)


def component(kind: str, name: str, version: str, hashes: list[str], licence: str | None) -> Component:
    """A part."""
    where = PackageURL(type=kind, name=name, version=version)
    # The older way to write a choice.
    terms = None if licence is None else licence.replace("/", " OR ")
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=where.to_string(),
        purl=where,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=one) for one in hashes],
        licenses=[] if terms is None else [LicenseExpression(terms)],
    )


def bom() -> Bom:
    """The parts of this version."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = manifest["workspace"]["package"]["version"]
    whole = component("pypi", "drivelab", version, [], manifest["workspace"]["package"]["license"])
    whole.type = ComponentType.APPLICATION
    parts = sorted([*crates(), *python_packages()], key=lambda part: str(part.purl))
    # The same parts at the same commit give the same file.
    identity = uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(str(part.purl) for part in (whole, *parts)))
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    when = datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)
    found = Bom(
        components=parts, serial_number=identity, metadata=BomMetaData(component=whole, timestamp=when)
    )
    found.register_dependency(whole, parts)
    return found


def checked(text: str) -> str:
    """The text. Raises ValueError where it does not hold to the schema."""
    if (error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)) is not None:
        raise ValueError(f"the parts list breaks the schema of CycloneDX 1.6: {error}")
    return text


def text() -> str:
    """The parts list, held to its schema."""
    return checked(JsonV1Dot6(bom()).output_as_string(indent=2) + "\n")


def main(arguments: list[str]) -> int:
    """Write the parts list into the file that is named. Return the exit code."""
    if len(arguments) != 1:
        print("usage: sbom.py FILE", file=sys.stderr)
        return 2
    Path(arguments[0]).write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
