"""Writing a chart: PNG, SVG, or one HTML file that needs nothing else, each carrying the identity of its run.

A file appears complete or not at all: it is written beside its place under another name, then renamed.
Nothing is fetched, neither while writing nor while viewing; the HTML says so in a content policy that
browsers enforce.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import struct
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from drivelab.charts.errors import ChartInputError, ChartOutputError
from drivelab.charts.theme import FONT, INK, SOFT

PNG_SCALE = 2.0
SUFFIXES = (".png", ".svg", ".html")

_VEGA_LITE = "_".join(alt.SCHEMA_VERSION.split(".")[:2])

# The identity of a run, in the order in which it is shown. Other keys follow under their own names.
_IDENTITY = {
    "version": "drivelab",
    "model_version": "model",
    "scenario_hash": "scenario",
    "seed": "seed",
    "digest": "digest",
}

# The policy leaves the page no way to the network. Vega makes functions of a chart's expressions, hence eval.
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<style>
body {{ margin: 0; padding: 12px; background: white; color: {ink}; font-family: {font}; }}
footer {{ padding: 8px 14px; color: {soft}; font-size: 12px; overflow-wrap: anywhere; }}
footer span {{ margin-right: 1.5em; white-space: nowrap; }}
footer code {{ color: {ink}; white-space: normal; }}
</style>
<script>{bundle}</script>
</head>
<body>
<main id="chart"></main>
<footer>{footer}</footer>
<script>
vegaEmbed("#chart", {spec}, {options}).catch(function (error) {{
  document.getElementById("chart").textContent = "The chart cannot be drawn: " + error.message;
}});
</script>
</body>
</html>
"""


def save(
    chart: alt.TopLevelMixin, path: str | os.PathLike[str], provenance: Mapping[str, Any] | None = None
) -> None:
    """Write `chart` to `path`: .png (two pixels to the point), .svg, or .html (one file, no network).

    `provenance` identifies the run: `version`, `model_version`, `scenario_hash`, `seed`, `digest`, and what
    else is worth keeping. It is the footer of the HTML, the `<desc>` of the SVG, a text chunk of the PNG.
    Raises ChartError where the suffix is unknown, the chart cannot be drawn, or the file cannot be written.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise ChartInputError(f"cannot save a chart as {target.name!r}: the name must end in one of {known}")
    identity = _identity(provenance or {})
    spec = _spec(chart)
    try:
        if suffix == ".png":
            content = _png(spec, identity)
        elif suffix == ".svg":
            content = _svg(spec, identity).encode()
        else:
            content = _html(spec, identity, target.stem).encode()
    except ValueError as error:
        raise ChartInputError(f"the chart for {target.name!r} cannot be drawn: {error}") from error
    _write(target, content)


def _identity(provenance: Mapping[str, Any]) -> dict[str, str]:
    """The identity as shown: known keys first, under their short names; keys without a value left out."""
    names = [*_IDENTITY, *(key for key in provenance if key not in _IDENTITY)]
    found = {_IDENTITY.get(name, name.replace("_", " ")): provenance.get(name) for name in names}
    return {name: str(value) for name, value in found.items() if value is not None}


def _spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart as a Vega-Lite specification."""
    try:
        spec: dict[str, Any] = chart.to_dict()
    except (alt.MaxRowsError, ValueError, TypeError) as error:
        raise ChartInputError(f"the chart is not valid: {error}") from error
    return spec


def _png(spec: dict[str, Any], identity: dict[str, str]) -> bytes:
    """The picture, with the identity in a text chunk after the header."""
    image = vl_convert.vegalite_to_png(spec, vl_version=_VEGA_LITE, scale=PNG_SCALE, allowed_base_urls=[])
    if not identity:
        return image
    body = b"iTXtDescription\0\0\0\0\0" + _line(identity).encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    after_header = 8 + 4 + 4 + 13 + 4
    return image[:after_header] + chunk + image[after_header:]


def _svg(spec: dict[str, Any], identity: dict[str, str]) -> str:
    """The drawing, with its title and identity where screen readers and editors look for them."""
    drawing = vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE, allowed_base_urls=[])
    start = drawing.index(">", drawing.index("<svg")) + 1
    title = f"<title>{html.escape(_title(spec) or 'drivelab')}</title>"
    description = f"<desc>{html.escape(_line(identity))}</desc>" if identity else ""
    return drawing[:start] + title + description + drawing[start:]


def _html(spec: dict[str, Any], identity: dict[str, str], stem: str) -> str:
    """The page, with everything that it needs inside."""
    options = {
        "mode": "vega-lite",
        "renderer": "svg",
        "downloadFileName": stem,
        "actions": {"export": True, "source": False, "compiled": False, "editor": False},
    }
    footer = "".join(
        f"<span>{html.escape(name)} <code>{html.escape(value)}</code></span>"
        for name, value in identity.items()
    )
    return _PAGE.format(
        title=html.escape(_title(spec) or "drivelab"),
        ink=INK,
        soft=SOFT,
        font=FONT,
        bundle=_bundle(),
        spec=_inside_script(json.dumps(spec, allow_nan=False)),
        options=_inside_script(json.dumps(options)),
        footer=footer,
    )


@cache
def _bundle() -> str:
    """Vega and its kin: the same in every page, and seconds in the making."""
    return _inside_script(
        vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_VEGA_LITE)
    )


def _inside_script(text: str) -> str:
    """Script text that cannot end its own element: tags occur in strings only, where they may be escaped."""
    return re.sub(r"<(?=/script|script|!--)", r"\\u003c", text, flags=re.IGNORECASE)


def _line(identity: dict[str, str]) -> str:
    """The identity on one line."""
    return "; ".join(f"{name} {value}" for name, value in identity.items())


def _title(spec: Mapping[str, Any]) -> str:
    """The text of a chart's title, empty where it has none."""
    title = spec.get("title", "")
    text = title.get("text", "") if isinstance(title, Mapping) else title
    return " ".join(text) if isinstance(text, list) else str(text)


def _write(target: Path, content: bytes) -> None:
    """Put `content` at `target`, whole or not at all."""
    passing = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        passing.write_bytes(content)
        passing.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            passing.unlink(missing_ok=True)
        raise ChartOutputError(f"cannot write {target}: {error.strerror or error}") from error
