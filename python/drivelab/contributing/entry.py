"""The entry that a candidate makes: what its drive file predicts, and the texts of drive file, sweep and next steps."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from drivelab import _core
from drivelab.contributing.checks import MEAN_ERROR_MOST, RATE_ERROR_MOST, Candidate
from drivelab.errors import InputError
from drivelab.record_library.anonymous import anonymous
from drivelab.report import toml_text

SWEEP = "SWEEP"
"""The name of the sweep among the sources of the drive file."""
_RUN = {"duration": "60s", "warmup": "2s", "ios": 200_000, "seed": 1}
"""A drive answers some hundred requests a second; the count bounds a file that claims millions."""
_PRIVATE = (
    ".corp",
    ".home",
    ".home.arpa",
    ".internal",
    ".intranet",
    ".lan",
    ".local",
    ".localdomain",
    ".private",
)
"""Ends of the names of hosts that only their own network knows."""
_URL = re.compile(r"https?://[^\s'\"<>]+")


def simulate(one: Candidate, place: Path) -> None:
    """Run the drive file under the sweep, and replay the chain on it; the errors go to the candidate."""
    from drivelab.runs.simulation import simulate as run  # noqa: PLC0415 - both load much

    found = one.measurement
    points = run(
        {
            "target": {"drive": str(place)},
            "workload": {"rw": "randread", "bs": found.bs, "iodepth": [rate.depth for rate in found.sweep]},
            "run": _RUN,
        }
    ).points
    one.rates = [
        {
            "depth": rate.depth,
            "measured": rate.iops,
            "simulated": point["iops"],
            "error": point["iops"] / rate.iops - 1,
        }
        for rate, point in zip(found.sweep, points, strict=True)
    ]
    one.held_out = _held_out(one, place)


def _held_out(one: Candidate, place: Path) -> float | None:
    """The error of the mean time of the chain's second half, which `fit` holds out."""
    from drivelab.fit.draft import start_of  # noqa: PLC0415 - scipy takes a second to load
    from drivelab.fit.inputs import read_chain  # noqa: PLC0415
    from drivelab.fit.replaying import Replays, held_out, scored  # noqa: PLC0415

    lines = [
        f"{at},{offset},{size},{kind},{took:.6f}"
        for at, (offset, size, kind, took) in enumerate(one.measurement.chain)
    ]
    file = place.with_name("chain.csv")
    file.write_text("\n".join(["i,byte_offset,bytes,rw,time_ms", *lines, ""]), encoding="utf-8")
    requests = read_chain(file)
    with Replays(requests, held_out(requests, 0.5)) as replays:
        _, figures, _ = scored(replays, start_of(str(place)))
    return figures["mean_error"]


def texts(one: Candidate, drive: dict[str, Any]) -> dict[str, str]:
    """The files of the entry, by name."""
    files = {f"{one.name}.toml": _drive_file(one, drive), f"{one.name}.sweep.csv": _sweep_file(one)}
    if one.measurement.surface:
        files[f"{one.name}.surface.csv"] = _surface_file(one)
    return files | {"NEXT.md": _next(one, list(files))}


def without_names(text: str) -> str:
    """A text without names of persons and machines; public addresses of sources stay, without user and query."""
    parts, end = [], 0
    for found in _URL.finditer(text):
        parts += [_anonymous(text[end : found.start()]), _public(found[0])]
        end = found.end()
    return "".join([*parts, _anonymous(text[end:])])


def _anonymous(text: str) -> str:
    return str(anonymous([{"text": text}])[0]["text"])


def _public(address: str) -> str:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "address-1"
    if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}", host) or host.endswith(_PRIVATE):
        return "address-1"
    place = host if port is None else f"{host}:{port}"
    return urlunsplit((parts.scheme, place, parts.path, "", ""))


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - whatever TOML has
    match value:
        case str():
            return without_names(value)
        case dict():
            return {key: _cleaned(inner) for key, inner in value.items()}
        case list():
            return [_cleaned(inner) for inner in value]
    return value


def _drive_file(one: Candidate, drive: dict[str, Any]) -> str:
    from drivelab.fit.output import facts_text  # noqa: PLC0415 - scipy takes a second to load

    facts = {}
    for fact in drive["facts"]:
        # What has no mark was no figure of the drive's own, such as the edge of a search.
        mark, source = (
            fact["mark"] or "inferred",
            fact["source"] or "the contributor's drive file, without a source",
        )
        facts[fact["key"]] = {"value": _cleaned(fact["value"]), "mark": mark, "source": without_names(source)}
    sources = {
        key: text for base in reversed(drive["bases"]) for key, text in base["sources"].items()
    } | drive["sources"]
    found = {without_names(str(key)): without_names(str(text)) for key, text in sources.items()}
    worst = max(abs(rate["error"]) for rate in one.rates)
    found[SWEEP] = (
        f"{one.name}.sweep.csv: {len(one.rates)} depths measured with drivelab measure; this file predicts each within "
        f"{100 * worst:.1f} %"
    )
    # One line, whatever a stranger has written: no part of it ends the comment, and TOML has no control characters.
    named = " ".join(without_names(str(one.facts["identity.model"])).split())
    model = "".join(letter for letter in named if letter.isprintable())
    head = (
        f"# {model}, contributed by who measured one, and checked by `drivelab catalogue contribute`.\n"
        f"# The mean time of requests that its fit has not seen is {100 * (one.held_out or 0.0):+.1f} % off.\n"
    )
    text = head + facts_text(facts, found)
    try:
        toml_text.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"the entry of {model!r:.80} would be no TOML: {error}: correct drive.toml"
        ) from error
    return text


def _sweep_file(one: Candidate) -> str:
    lines = [
        f"# randread of {one.measurement.bs} over the whole drive, measured with drivelab measure",
        "iodepth,iops,p99_ms",
    ]
    lines += [
        f"{rate.depth},{rate.iops:.6g},{'' if rate.p99_ms is None else f'{rate.p99_ms:.6g}'}"
        for rate in one.measurement.sweep
    ]
    return "\n".join([*lines, ""])


def _surface_file(one: Candidate) -> str:
    lines = [
        "# sequential reads at places of the surface, measured with drivelab measure",
        "byte_offset,mb_per_s",
    ]
    size = max(one.measurement.sizes)
    lines += [f"{share * size:.0f},{rate / 1e6:.6g}" for share, rate in one.measurement.surface]
    return "\n".join([*lines, ""])


def _next(one: Candidate, files: list[str]) -> str:
    rows = [
        f"| {rate['depth']:.0f} | {rate['measured']:.1f} | {rate['simulated']:.1f} | {100 * rate['error']:+.1f} % |"
        for rate in one.rates
    ]
    others = ", ".join(f"`{file}`" for file in files[1:])
    return "\n".join(
        [
            f"# {one.name}: an entry of the catalogue",
            "",
            f"Checked with drivelab {_core.VERSION}, model {_core.MODEL_VERSION}: the drive file predicts every depth "
            f"of the sweep within {100 * RATE_ERROR_MOST:.0f} %, and the mean time of requests that the fit has not "
            f"seen within {100 * MEAN_ERROR_MOST:.0f} % ({100 * (one.held_out or 0.0):+.1f} %).",
            "",
            "| depth | measured IOPS | predicted | error |",
            "|---|---|---|---|",
            *rows,
            "",
            "What to do with it:",
            "",
            "1. Read all of it: a name may have stayed that no program can know to be one.",
            f"2. Try it: `drivelab simulate --drive ./{files[0]} --rw randread --bs {one.measurement.bs} "
            "--iodepth 1,4,16`.",
            f"3. Put `{files[0]}` into `catalogue/drives` of a checkout, and {others} into `catalogue/sweeps`.",
            "4. Build and test the checkout (`make test`), and propose the change. By that you publish it under the "
            "licence of the repository.",
            "",
        ]
    )
