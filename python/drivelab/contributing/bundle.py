"""A bundle: a folder or a .zip with `drive.toml` and `records.json`, read with limits.

From an archive, its members are read by their names, and nothing is unpacked; they may lie in one folder of it. In a
folder, links are not followed. Of what is in there beside the two files, nothing is read.
"""

from __future__ import annotations

import json
import re
import struct
import tomllib
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.errors import InputError
from drivelab.host.files import read_text
from drivelab.record_library.entry import Entry
from drivelab.record_library.exchange import checked
from drivelab.report import toml_text

DRIVE, RECORDS = "drive.toml", "records.json"
MOST_BYTES = {DRIVE: 2**20, RECORDS: 16 * 2**20}
_REMEDY = {
    DRIVE: "write it by `drivelab fit .. -o drive.toml`",
    RECORDS: "write it by `drivelab library export --anonymous -o records.json`",
}
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


@dataclass(frozen=True)
class Bundle:
    """The two files."""

    place: str
    drive: str
    """The drive file, as text."""
    records: str
    """The export of a library, as text."""

    def keys(self) -> dict[str, Any]:
        """The drive file as tables. Raises InputError."""
        try:
            return dict(toml_text.loads(self.drive))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{self.place}: {DRIVE}: {error}") from error

    def export(self) -> list[tuple[Entry, str]]:
        """The records of the export with their contents, once they are checked. Raises InputError."""
        origin = f"{self.place}: {RECORDS}"
        try:
            document = json.loads(self.records, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{origin}: this is no JSON: {error}") from error
        if not isinstance(document, dict):
            raise InputError(f"{origin}: this is no export of a library: {_REMEDY[RECORDS]}")
        return checked(document, origin)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def read_bundle(path: Path) -> Bundle:
    """Read a bundle. Raises InputError with what is missing or too large."""
    texts = _of_folder(path) if path.is_dir() else _of_archive(path)
    return Bundle(str(path), texts[DRIVE], texts[RECORDS])


def _missing(path: Path, name: str) -> InputError:
    return InputError(f"{path}: {name} is missing: {_REMEDY[name]}")


def _of_folder(path: Path) -> dict[str, str]:
    found = {}
    for name, most in MOST_BYTES.items():
        file = path / name
        if file.is_symlink():
            raise InputError(f"{file}: a symbolic link, which is not followed: put the file itself there")
        if not file.exists():
            raise _missing(path, name)
        found[name] = read_text(file, most, f"{name} of a bundle")
    return found


def _of_archive(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise InputError(f"cannot read {path}: a bundle is a folder or a .zip with {DRIVE} and {RECORDS}")
    most = sum(MOST_BYTES.values())
    if path.stat().st_size > most:
        raise InputError(f"cannot read {path}: larger than {most // 2**20} MiB, so it is no bundle")
    try:
        with zipfile.ZipFile(path) as archive:
            folder = _folder_within(path, archive)
            return {name: _member(path, archive, folder, name) for name in MOST_BYTES}
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {path}: no sound .zip: the name of a member is not UTF-8") from error
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError) as error:
        raise InputError(f"cannot read {path}: no sound .zip: {error}") from error


def _folder_within(path: Path, archive: zipfile.ZipFile) -> str:
    """The folder of the archive that has the two files, with its slash; empty if they are in none."""
    names = archive.namelist()
    if any(name in MOST_BYTES for name in names):
        return ""
    parts = [re.fullmatch(r"([^/]+/)([^/]+)", name) for name in names]
    folders = sorted({part[1] for part in parts if part and part[2] in MOST_BYTES})
    if len(folders) > 1:
        raise InputError(
            f"{path}: {len(folders)} folders have {DRIVE} or {RECORDS}, {folders[0]!r:.80} and {folders[1]!r:.80}: "
            "pack one drive"
        )
    return folders[0] if folders else ""


def _member(path: Path, archive: zipfile.ZipFile, folder: str, name: str) -> str:
    infos = [info for info in archive.infolist() if info.filename == folder + name]
    if not infos:
        raise _missing(path, name)
    info = infos[0]
    if len(infos) > 1:
        raise InputError(f"{path}: {name} is in it {len(infos)} times: pack it once")
    if info.flag_bits & 1 or info.compress_type not in _METHODS:
        raise InputError(f"{path}: {name} is encrypted, or packed by an unusual method: pack it by deflate")
    most = MOST_BYTES[name]
    with archive.open(info) as file:
        # What the archive says of the size need not be true.
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"{path}: {name} is larger than {most // 2**20} MiB, so it is no {name} of a bundle")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: {name}: line {line} is not UTF-8 text") from error
