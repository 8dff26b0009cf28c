"""The built page: where it is, its files, and a copy of it for any static host."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from drivelab.errors import InputError, OutputError

PACKED = Path(__file__).parent / "site"
"""Where `make page` puts a copy, which a wheel takes along."""
_CHECKOUT = Path(__file__).resolve().parents[3]
_FIRST = "index.html"
_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
"""What the files of the page are, by their suffixes."""


def folder() -> Path:
    """The folder of the built page: in the package, else in the checkout that it is in. Raises InputError."""
    for place in (PACKED, _CHECKOUT / "build/page"):
        if (place / _FIRST).is_file():
            return place
    raise InputError(
        "the page is not built: run `make page` in a checkout of drivelab (it needs Node.js and Rust)"
    )


def files(place: Path) -> dict[str, bytes]:
    """The files of the built page by their names; the first one is what the address without a name means too."""
    found = {path.name: path.read_bytes() for path in sorted(place.iterdir()) if path.suffix in TYPES}
    return {"": found[_FIRST], **found}


def policy(first: bytes) -> str:
    """The content security policy of the page, and that no other page may show it in a frame. Raises InputError."""
    found = _POLICY.search(first.decode("utf-8", "replace"))
    if found is None:
        raise InputError(
            "index.html of the built page has no Content-Security-Policy: build it anew with `make page`"
        )
    return f"{found[1]}; frame-ancestors 'none'"


def export(target: Path) -> int:
    """Copy the built page into a folder that is new or empty; how many files. Raises InputError, OutputError."""
    source = folder()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target}: it is there already: name a folder that is new, or empty")
    try:
        shutil.copytree(source, target, dirs_exist_ok=True)
    except OSError as error:
        raise OutputError(f"{target}: cannot write: {(error.strerror or str(error)).lower()}") from error
    return len(list(target.iterdir()))
