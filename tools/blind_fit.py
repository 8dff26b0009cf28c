"""Blind recovery: drives drawn here, measured by simulation, and fitted by `drivelab fit` without knowing them.

Run `python tools/blind_fit.py COUNT [FIRST]`: drives FIRST .. FIRST + COUNT - 1, each from its own seed. One in three
has a property that the fit's model lacks: a seek curve of two parts, times that scatter by Laplace's law, or one time
in a hundred that is far too long. The input of the fit: a data sheet (rounded, off by up to 15 %; the overheads of a
drive of the class, not its own), a chain of 1 000 reads and 500 writes, a sweep over six depths, twenty rates. A guard
is a time, up to half a revolution, or a share of the seek. Printed: the error on loads that were not used for the fit,
whether intervals contain the truth, and how wide they are, and whether the rules are right.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from drivelab import _core, cli, simulate
from drivelab.fit.policy_numbers import SHARE
from drivelab.report import toml_text
from drivelab.scenarios.scenario import Source, plan

DEPTHS = [1, 2, 4, 8, 16, 32]
LACKING = ("another seek curve", "another scatter", "outliers")
RULES = ("wrong", "among those as good", "right")
LOADS: dict[str, dict[str, Any]] = {
    "64k reads": {"rw": "randread", "bs": "64KiB", "iodepth": 1},
    "reads, depth 6": {"rw": "randread", "bs": "4KiB", "iodepth": 6},
    "reads, depth 24": {"rw": "randread", "bs": "4KiB", "iodepth": 24},
    "reads, outer tenth": {"rw": "randread", "bs": "4KiB", "iodepth": 1, "size": "10%"},
    "16k writes": {"rw": "randwrite", "bs": "16KiB", "iodepth": 1},
    "mixed": {"rw": "randrw", "bs": "4KiB", "iodepth": 1},
}


def drawn(seed: int) -> tuple[dict[str, Any], dict[str, Any], str]:
    """A drive, its data sheet, and the property that the fit's model lacks (none: "")."""
    draw = np.random.default_rng([20_260, seed])
    lacks = LACKING[seed // 3 % 3] if seed % 3 == 2 else ""
    nominal = float(draw.choice([5400, 7200, 10_000, 15_000]))
    slow = 7200 / nominal
    average = slow**0.7 * draw.uniform(6.5, 10.0)
    single, full = average * draw.uniform(0.07, 0.16), average * draw.uniform(1.8, 2.3)
    heads, capacity = int(draw.integers(1, 9)), int(draw.integers(60, 500)) * 2_000_000
    outer, ratio = draw.uniform(60, 200), draw.uniform(0.45, 0.7)
    ms = {key: draw.uniform(*span) for key, span in {"read_miss": (0.1, 0.7), "write": (0.1, 0.7)}.items()}
    order = str(draw.choice(["sptf", "aged-sptf", "share-aged-sptf"]))
    queue: dict[str, Any] = {
        "protocol": "ncq",
        "depth": 32,
        "order": order,
        **_guard(seed, nominal, draw.uniform(0, 0.6)),
    }
    if order == "aged-sptf":
        queue["age_weight"] = round(float(np.exp(draw.uniform(np.log(0.004), np.log(0.3)))), 5)
    if order == "share-aged-sptf":
        queue["age_share"] = round(float(draw.uniform(0.5, 4)), 3)
    geometry = {
        "heads": heads,
        "capacity": f"{capacity} sectors",
        "outer_rate": f"{outer:.3f}MB/s",
        "inner_to_outer": f"{100 * ratio:.2f}%",
    }
    seek: dict[str, Any] = {"single": _ms(single), "average": _ms(average), "full": _ms(full)}
    settle = {
        "head_switch": _ms(single * 0.8),
        "write_settle": _ms(draw.uniform(0.2, 0.9)),
        "scatter": _ms(draw.uniform(0.02, 0.12)),
    }
    truth = {
        "rpm": f"{nominal * (1 + 0.001 * draw.standard_normal()):.3f}rpm",
        "write_cache": False,
        "geometry": geometry,
        "seek": seek,
        "settle": settle,
        "firmware": {key: _ms(value) for key, value in ms.items()} | {"read_hit": "0.1ms"},
        "link": {"rate": "300MB/s"},
        "queue": queue,
        "cache": {"size": "16MiB", "segments": 16},
    }
    off = draw.uniform(0.85, 1.15, 3)
    sheet = {
        "rpm": f"{nominal:g}rpm",
        "geometry": geometry
        | {
            "outer_rate": f"{outer * draw.uniform(0.93, 1.07):.0f}MB/s",
            "inner_to_outer": f"{100 * ratio * draw.uniform(0.9, 1.1):.0f}%",
        },
        "seek": {
            "single": _ms(single * off[0]),
            "average": f"{average * off[1]:.1f}ms",
            "full": f"{full * off[2]:.1f}ms",
        },
        "settle": {"head_switch": _ms(single * off[0] * 0.8), "write_settle": "0.5ms"},
        "firmware": {"read_miss": "0.3ms", "write": "0.3ms", "read_hit": "0.1ms"},
        "link": {"rate": "300MB/s"},
        "queue": {"protocol": "ncq", "depth": 32},
        "cache": {"size": "16MiB", "segments": 16},
        "write_cache": False,
    }
    if lacks == "another seek curve":
        truth["seek"] = _two_parts(truth, average)
    return truth, sheet, lacks


def _guard(seed: int, rpm: float, short: float) -> dict[str, Any]:
    """The guard: `short`, or of every fourth drive up to 4 ms or half a revolution, of every fourth a share."""
    draw = np.random.default_rng([20_262, seed])
    if seed % 4 == 1:
        return {"read_margin": _ms(draw.uniform(0.6, min(4.0, 30_000 / rpm)))}
    if seed % 4 == 3:
        return {"seek_margin": round(float(draw.uniform(0.05, 0.9)), 3)}
    return {"read_margin": _ms(short)}


def _two_parts(truth: dict[str, Any], average: float) -> dict[str, Any]:
    """A square root up to a fourth of the stroke, then a line, with about the same average."""
    checked = _plan(truth)
    last = checked.capacity_bytes(0) // 512 - 1
    cylinders = 1 + max(
        place[0] for place in _core.places(checked, np.linspace(0, last, 33).astype(int).tolist())
    )
    short, limit = 0.12 * average, cylinders // 4
    slope = 0.95 * average / np.sqrt(limit)
    rise = 1.1 * average / cylinders
    edge = short + slope * np.sqrt(limit)
    return {
        "a": _ms(short),
        "b": f"{slope * 1e6:.0f}ns",
        "limit": limit,
        "c": _ms(edge - rise * limit),
        "e": _ms(1000 * rise),
    }


def _ms(value: float) -> str:
    return f"{value:.5f}ms"


def _plan(drive: dict[str, Any]) -> _core.Plan:
    return plan(Source(toml_text.dumps({"target": {"drive": drive}, "workload": {"bs": "512B"}}), "drawn"))


def measured(truth: dict[str, Any], lacks: str, seed: int, folder: Path) -> None:
    """Write the input files of the fit."""
    draw = np.random.default_rng([20_261, seed])
    last = _plan(truth).capacity_bytes(0) // 4096 - 32
    requests = _chain(draw, truth, last)
    trace = folder / "chain.trace"
    trace.write_text(
        "".join(f"{'R' if read else 'W'} Hit {8 * page} {size} 1 0\n" for read, page, size in requests)
    )
    times = np.array(_core.replay(_plan(truth), str(trace))["simulated_ns"]) / 1e6
    if lacks == "another scatter":
        times = times + np.abs(draw.laplace(0, 0.1, len(times)))
    if lacks == "outliers":
        times = times + np.where(draw.random(len(times)) < 0.01, draw.uniform(10, 200, len(times)), 0)
    lines = [
        f"{i},{page * 4096},{size * 512},{'r' if read else 'w'},{took:.4f}"
        for i, ((read, page, size), took) in enumerate(zip(requests, times, strict=True))
    ]
    (folder / "chain.csv").write_text("i,byte_offset,bytes,rw,time_ms\n" + "\n".join(lines) + "\n")
    points = simulate(_scenario(truth, {"rw": "randread", "bs": "4KiB", "iodepth": DEPTHS}, 77 + seed)).points
    lines = [
        f"{depth},{point['iops']:.2f},{(point['latency_ns']['p99'] or 0) / 1e6:.2f}"
        for depth, point in zip(DEPTHS, points, strict=True)
    ]
    (folder / "sweep.csv").write_text("iodepth,iops,p99_ms\n" + "\n".join(lines) + "\n")
    rates = []
    for k in range(20):
        load = {"rw": "read", "bs": "256KiB", "iodepth": 1, "offset": f"{2.5 + 5 * k}%"}
        run = {"warmup": "1s", "ios": 1500, "seed": 5}
        point = simulate({"target": {"drive": truth}, "workload": load, "run": run}).points[0]
        rate = (point["read"]["bytes_per_s"]) / 1e6
        rates.append(f"{int((0.025 + 0.05 * k) * (last + 32) * 4096)},{rate * draw.normal(1, 0.005):.3f}")
    (folder / "surface.csv").write_text("byte_offset,mb_per_s\n" + "\n".join(rates) + "\n")


def _chain(draw: np.random.Generator, truth: dict[str, Any], last: int) -> list[tuple[bool, int, int]]:
    """Reads or writes with page and sectors: 1 000 reads and 500 writes, most at random, some in pairs on a track.

    The second of a pair is a little after a write, where nothing has been read ahead (150 reads, 75 writes), or
    before a read (150 reads).
    """
    turn = 1e6 * _number(truth["geometry"]["outer_rate"]) * 60 / _number(truth["rpm"]) / 4096
    inner = turn * _number(truth["geometry"]["inner_to_outer"]) / 100
    kinds = ["r"] * 700 + ["w"] * 200 + ["wr"] * 150 + ["ww"] * 75 + ["b"] * 150
    found: list[tuple[bool, int, int]] = []
    for kind in draw.permutation(kinds):
        page = int(draw.integers(400, last))
        size = int(draw.choice([8, 8, 8, 32]))
        if kind in {"r", "w"}:
            found.append((kind == "r", page, size))
        elif kind == "b" and found:
            found.append((True, max(found[-1][1] - int(draw.integers(2, max(int(0.4 * inner), 3))), 0), 8))
        elif kind != "b":
            ahead = max(int(0.25 * inner * 10 ** draw.uniform(-1.5, 0)), 2)
            found += [(False, page, 8), (kind == "wr", min(page + ahead, last), 8)]
    return found


def _number(text: str) -> float:
    return float("".join(letter for letter in text if letter in "0123456789.-"))


def _scenario(drive: dict[str, Any] | str, load: dict[str, Any], seed: int) -> dict[str, Any]:
    return {
        "target": {"drive": drive},
        "workload": load,
        "run": {"warmup": "5s", "duration": "100s", "seed": seed},
    }


def recovered(seed: int) -> dict[str, Any]:
    """One drive: drawn, measured, fitted, and checked on loads that were not used for the fit."""
    truth, sheet, lacks = drawn(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured(truth, lacks, seed, folder)
        (folder / "sheet.toml").write_text(toml_text.dumps(sheet))
        begun = time.monotonic()
        report = _fit(folder)
        took = time.monotonic() - begun
        errors = {}
        for load, workload in LOADS.items():
            rates = [
                simulate(_scenario(drive, workload, 9)).points[0]["iops"]
                for drive in (truth, str(folder / "fitted.toml"))
            ]
            errors[load] = rates[1] / rates[0] - 1
    inside = {}
    for one in report["parameters"]:
        real = _real(truth, one["key"])
        if real is not None:
            inside[one["key"]] = {**one, "truth": real, "inside": one["low"] <= real <= one["high"]}
    rules = [
        (one["order"], one["chooses"], "share" if one["guard"] == SHARE else "time")
        for one in report["policies"]
    ]
    share = "share" if "seek_margin" in truth["queue"] else "time"
    right = truth["queue"]["order"], "at-media-end", share
    good = [rule for rule, one in zip(rules, report["policies"], strict=True) if one["as_good"]]
    return {
        "seed": seed,
        "lacks": lacks,
        "errors": errors,
        "parameters": inside,
        "seconds": took,
        "rule": 2 if rules[0] == right else 1 if right in good else 0,
        "good": len(good),
    }


def _fit(folder: Path) -> dict[str, Any]:
    arguments = [
        "fit",
        str(folder / "sheet.toml"),
        "--chain",
        str(folder / "chain.csv"),
        "--sweep",
        str(folder / "sweep.csv"),
        "--surface",
        str(folder / "surface.csv"),
        "-o",
        str(folder / "fitted.toml"),
        "--json",
        "--workers",
        "1",
        "--quiet",
    ]
    printed = io.StringIO()
    sys.argv = ["drivelab", *arguments]
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        cli.main()
    if not printed.getvalue():
        raise RuntimeError(f"no fit of the files in {folder}: the reason stands above")
    found: dict[str, Any] = json.loads(printed.getvalue())
    return found


def _real(truth: dict[str, Any], key: str) -> float | None:
    table: Any = truth
    for part in key.split("."):
        if not isinstance(table, dict) or part not in table:
            return None
        table = table[part]
    text = str(table)
    number = _number(text)
    return number / 100 if text.endswith("%") else number


def table(rows: list[dict[str, Any]]) -> str:
    """The claims and the results."""
    lines = []
    for name, some in (
        ("sound", [r for r in rows if not r["lacks"]]),
        ("others", [r for r in rows if r["lacks"]]),
    ):
        if not some:
            continue
        errors = np.abs([error for row in some for error in row["errors"].values()])
        decided = [one for row in some for one in row["parameters"].values() if one["mark"] == "fitted"]
        share = np.mean([one["inside"] for one in decided]) if decided else float("nan")
        lines.append(
            f"{name}: {len(some)} drives; error on other loads: median {100 * np.median(errors):.2f} %, "
            f"worst {100 * errors.max():.2f} %; "
            f"{100 * share:.1f} % of {len(decided)} decided parameters in their intervals; "
            f"rules right {sum(r['rule'] == 2 for r in some)}, "
            f"among those as good {sum(r['rule'] == 1 for r in some)}, of {np.mean([r['good'] for r in some]):.1f}; "
            f"fit {np.median([r['seconds'] for r in some]):.0f} s"
        )
    keys = sorted({key for row in rows for key in row["parameters"]})
    for key in keys:
        of = [row["parameters"][key] for row in rows if key in row["parameters"]]
        fitted = [one for one in of if one["mark"] == "fitted"]
        width = (
            np.median([(one["high"] - one["low"]) / abs(one["truth"] or 1) for one in fitted])
            if fitted
            else float("nan")
        )
        hit = np.mean([one["inside"] for one in fitted]) if fitted else float("nan")
        lines.append(
            f"  {key}: decided in {len(fitted)} of {len(of)}, inside {100 * hit:.0f} %, "
            f"median width {100 * width:.1f} %"
        )
    return "\n".join(lines)


def main() -> None:
    """Fit them one after the other, and report each as it finishes."""
    words = sys.argv[1:]
    count = int(words[0]) if words else 30
    first = int(words[1]) if len(words) > 1 else 0
    rows = []
    for seed in range(first, first + count):
        row = recovered(seed)
        rows.append(row)
        worst = ", ".join(f"{load} {100 * error:+.1f}" for load, error in row["errors"].items())
        out = ", ".join(
            f"{key} {one['truth']:.4g} not in {one['low']:.4g}..{one['high']:.4g}"
            for key, one in row["parameters"].items()
            if one["mark"] == "fitted" and not one["inside"]
        )
        print(
            f"{seed} {row['lacks'] or 'sound'} {row['seconds']:.0f} s: {worst} %; rules {RULES[row['rule']]} of "
            f"{row['good']}; outside: {out or 'none'}",
            flush=True,
        )
    print(table(rows))


if __name__ == "__main__":
    main()
