"""The scripts of a page: Vega and its libraries, deflated.

They are the same in every page, and putting them together takes longer than many a simulation. So they are kept where
Python keeps the compiled modules of this folder, under its rules: not with PYTHONDONTWRITEBYTECODE, below
PYTHONPYCACHEPREFIX if that is set, and nowhere if the folder cannot be written.
"""

from __future__ import annotations

import base64
import contextlib
import sys
import zlib
from functools import cache
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

import altair as alt

from drivelab.charts.renderer import vl_convert
from drivelab.errors import OutputError
from drivelab.host.files import write_bytes

VEGA_LITE = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
"""The version of Vega-Lite that altair writes, as vl_convert names it."""

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def packed() -> str:
    """The scripts, deflated, in base64."""
    place = _place()
    kept = _kept(place)
    if kept is None:
        kept = zlib.compress(vl_convert.javascript_bundle(_SNIPPET, vl_version=VEGA_LITE).encode(), 9)
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OutputError, OSError):
                place.parent.mkdir(exist_ok=True)
                write_bytes(place, kept)
    return base64.b64encode(kept).decode()


def _place() -> Path:
    """Where the scripts are kept: the name tells all that decides what they are."""
    decides = zlib.crc32(_SNIPPET.encode())
    name = f"vega-{version('vl-convert-python')}-{VEGA_LITE}-{decides:08x}.z"
    return Path(cache_from_source(__file__)).with_name(name)


def _kept(place: Path) -> bytes | None:
    """What is kept there, None where there is nothing, or not all of it."""
    try:
        found = place.read_bytes()
        zlib.decompress(found)
    except (OSError, zlib.error):
        return None
    return found
