"""Writing a chart: PNG, SVG, PDF, one HTML file that needs nothing else, or its specification as JSON.

Each carries the identity of its run.

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
from pathlib import Path
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError, ChartOutputError
from drivelab.charts.fit import drawn_width, fit, with_footer
from drivelab.charts.renderer import vl_convert
from drivelab.charts.scripts import VEGA_LITE, packed
from drivelab.charts.theme import FONT, INK, SOFT
from drivelab.report.pictures import SUFFIXES

# Pixels per inch of a PNG, and pixels per point.
DPI = 192
_POINTS_PER_INCH = 96
# A page has its picture in these widths, for narrow windows, beside the original; its margins take the rest.
PAGE_WIDTHS = (380, 640)
_PAGE_MARGIN = 24

# The identity of a run, in the order in which it is shown. Other keys follow under their own names.
_IDENTITY = {
    "version": "drivelab",
    "model_version": "model",
    "scenario_hash": "scenario",
    "seed": "seed",
    "digest": "digest",
}

# The policy forbids the page any network access. Vega compiles a chart's expressions to functions, hence
# eval. The scripts are deflated, which makes a page less than half as long; browsers inflate since 2023.
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
#chart {{ overflow-x: auto; }}
#chart svg {{ max-width: 100%; height: auto; }}
</style>
<script>var packed = "{bundle}";</script>
</head>
<body>
<main id="chart"></main>
<footer>{footer}</footer>
<script>
var data = {data}, specs = {specs}, shown = -1;
function draw() {{
  var room = document.documentElement.clientWidth - {margin}, chosen = 0;
  specs.forEach(function (one, at) {{ if (one.width <= room) chosen = at; }});
  if (chosen === shown) return;
  shown = chosen;
  vegaEmbed("#chart", Object.assign({{datasets: data}}, specs[chosen].spec), {options}).catch(failed);
}}
function failed(error) {{
  document.getElementById("chart").textContent = "The chart cannot be drawn: " + error.message;
}}
function unpacked() {{
  if (!window.DecompressionStream) throw new Error("it takes a browser of 2023 or later");
  var bytes = Uint8Array.from(atob(packed), function (letter) {{ return letter.charCodeAt(0); }});
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}}
Promise.resolve().then(unpacked).then(function (scripts) {{
  (0, eval)(scripts);
  window.addEventListener("resize", draw);
  draw();
}}).catch(failed);
</script>
</body>
</html>
"""


def save(
    chart: alt.TopLevelMixin,
    path: str | os.PathLike[str],
    provenance: Mapping[str, Any] | None = None,
    *,
    title: str | None = None,
    width: float | None = None,
    dpi: float | None = None,
    provenance_shown: bool = False,
) -> None:
    """Write `chart` to `path`: .png (two pixels to the point), .svg, .pdf, .html (one file, no network), or .json.

    `title` replaces the chart's own. `width` is that of the whole picture in points, `dpi` the pixels per inch of a
    PNG; at 96, a pixel is a point. A page shows its picture as wide as its window allows. `provenance_shown` puts the
    identity into the picture.

    `provenance` identifies the run: `version`, `model_version`, `scenario_hash`, `seed`, `digest`, and any other key.
    It is the footer of the HTML, the `<desc>` of the SVG, a text chunk of the PNG, the comment that ends the PDF, and
    `usermeta` of the JSON, which is the Vega-Lite specification with its data.
    Raises ChartError where the suffix is unknown, the chart cannot be drawn, or the file cannot be written.
    """
    check_suffix(path)
    target = Path(path)
    suffix = target.suffix.lower()
    identity = _identity(provenance or {})
    spec = spec_of(chart)
    if title is not None:
        spec["title"] = _retitled(spec.get("title"), title)
    footer = _line(identity) if provenance_shown else ""
    try:
        if suffix == ".html":
            content = _html(spec, identity, target.stem, width, footer).encode()
        elif suffix == ".png":
            content = _png(_fitted(spec, width, footer), identity, dpi or DPI)
        elif suffix == ".pdf":
            content = _pdf(_fitted(spec, width, footer), identity)
        elif suffix == ".json":
            content = _json(_fitted(spec, width, footer), identity).encode()
        else:
            content = _svg(_fitted(spec, width, footer), identity).encode()
    except ValueError as error:
        raise ChartInputError(f"the chart for {target.name!r} cannot be drawn: {error}") from error
    _write(target, content)


def svg_of(spec: dict[str, Any], width: float | None = None) -> str:
    """The specification drawn as SVG, fitted to a width if there is one. Raises ValueError."""
    fitted = _fitted(spec, width, "")
    return vl_convert.vegalite_to_svg(fitted, vl_version=VEGA_LITE, allowed_base_urls=[])


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Refuse a name that is of no kind of picture. Raises ChartInputError."""
    if Path(path).suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise ChartInputError(
            f"cannot save a chart as {Path(path).name!r}: the name must end in one of {known}"
        )


def _identity(provenance: Mapping[str, Any]) -> dict[str, str]:
    """The identity as shown: known keys first, under their short names; keys without a value left out."""
    names = [*_IDENTITY, *(key for key in provenance if key not in _IDENTITY)]
    found = {_IDENTITY.get(name, name.replace("_", " ")): provenance.get(name) for name in names}
    return {name: str(value) for name, value in found.items() if value is not None}


def spec_of(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart as a Vega-Lite specification. Raises ChartInputError."""
    try:
        # The schema's check of a chart with thousands of rows takes longer than to draw it; tests make it.
        spec: dict[str, Any] = chart.to_dict(validate=False)
    except (alt.MaxRowsError, ValueError, TypeError) as error:
        raise ChartInputError(f"the chart is not valid: {error}") from error
    return spec


def _retitled(own: Any, text: str) -> dict[str, Any]:  # noqa: ANN401 - a text, or an object with one
    """A title with this text, and the chart's notes below it."""
    return {**(own if isinstance(own, Mapping) else {}), "text": text}


def _fitted(spec: dict[str, Any], width: float | None, footer: str) -> dict[str, Any]:
    """The specification fitted to the width, with the footer below it."""
    fitted = spec if width is None else fit(spec, width, _measure)
    return with_footer(fitted, footer, width or _measure(fitted)) if footer else fitted


def _measure(spec: dict[str, Any]) -> float:
    """The drawn width of a specification, in points."""
    # Descriptions for screen readers have no width.
    mute = {**spec, "config": {**spec.get("config", {}), "aria": False}}
    return drawn_width(vl_convert.vegalite_to_svg(mute, vl_version=VEGA_LITE, allowed_base_urls=[]))


def _png(spec: dict[str, Any], identity: dict[str, str], dpi: float) -> bytes:
    """The picture, with the identity in a text chunk after the header."""
    scale = dpi / _POINTS_PER_INCH
    image = vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=scale, allowed_base_urls=[])
    after_header = 8 + 4 + 4 + 13 + 4
    per_metre = round(dpi / 0.0254)
    chunks = _chunk(b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1))
    if identity:
        chunks += _chunk(b"iTXtDescription\0\0\0\0\0" + _line(identity).encode())
    return image[:after_header] + chunks + _without_size(image[after_header:])


def _chunk(body: bytes) -> bytes:
    """A chunk of a PNG: its length, its name and contents, its checksum."""
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def _without_size(chunks: bytes) -> bytes:
    """The chunks of a PNG except the one with its physical size."""
    kept, at = b"", 0
    while at < len(chunks):
        end = at + 12 + int(struct.unpack(">I", chunks[at : at + 4])[0])
        if chunks[at + 4 : at + 8] != b"pHYs":
            kept += chunks[at:end]
        at = end
    return kept


def _svg(spec: dict[str, Any], identity: dict[str, str]) -> str:
    """The drawing, with its title and identity where screen readers and editors look for them."""
    drawing = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    start = drawing.index(">", drawing.index("<svg")) + 1
    title = f"<title>{html.escape(title_of(spec) or 'drivelab')}</title>"
    description = f"<desc>{html.escape(_line(identity))}</desc>" if identity else ""
    return drawing[:start] + title + description + drawing[start:]


def _pdf(spec: dict[str, Any], identity: dict[str, str]) -> bytes:
    """The drawing with its text as text, and the identity as a comment at its end, which moves no offset."""
    drawing = bytes(vl_convert.vegalite_to_pdf(spec, vl_version=VEGA_LITE, allowed_base_urls=[]))
    return drawing.rstrip(b"\n") + f"\n% {_line(identity)}\n".encode() if identity else drawing


def _json(spec: dict[str, Any], identity: dict[str, str]) -> str:
    """The specification, as any renderer of Vega-Lite reads it."""
    whole = {**spec, "usermeta": {"provenance": identity}} if identity else spec
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"


def _html(
    spec: dict[str, Any], identity: dict[str, str], stem: str, width: float | None, in_picture: str
) -> str:
    """The page, self-contained: the picture for several widths of the window, its data once."""
    whole = _fitted(spec, width, in_picture)
    widest = width or _measure(whole)
    found = [(at, _fitted(spec, at, in_picture)) for at in PAGE_WIDTHS if at < widest]
    specs = [
        {"width": at, "spec": {key: value for key, value in one.items() if key != "datasets"}}
        for at, one in [*found, (widest, whole)]
    ]
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
        title=html.escape(title_of(spec) or "drivelab"),
        ink=INK,
        soft=SOFT,
        font=FONT,
        bundle=packed(),
        data=_inside_script(json.dumps(spec.get("datasets", {}), allow_nan=False)),
        specs=_inside_script(json.dumps(specs, allow_nan=False)),
        margin=_PAGE_MARGIN,
        options=_inside_script(json.dumps(options)),
        footer=footer,
    )


def _inside_script(text: str) -> str:
    """Script text that cannot end its own element: tags occur in strings only, where they may be escaped."""
    return re.sub(r"<(?=/script|script|!--)", r"\\u003c", text, flags=re.IGNORECASE)


def _line(identity: dict[str, str]) -> str:
    """The identity on one line."""
    return "; ".join(f"{name} {value}" for name, value in identity.items())


def title_of(spec: Mapping[str, Any]) -> str:
    """The text of a chart's title, empty where it has none."""
    # With a footer below it the picture is the first of two views.
    views = spec.get("vconcat") or [spec]
    title = spec.get("title") or views[0].get("title") or ""
    text = title.get("text", "") if isinstance(title, Mapping) else title
    return " ".join(text) if isinstance(text, list) else str(text)


def _write(target: Path, content: bytes) -> None:
    """Write `content` to `target` atomically."""
    passing = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        passing.write_bytes(content)
        passing.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            passing.unlink(missing_ok=True)
        raise ChartOutputError(f"cannot write {target}: {error.strerror or error}") from error
