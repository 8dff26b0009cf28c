"""Records that the page compares, pair by pair: what differs between them is one thing each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import drivelab

SHORT: dict[str, Any] = {"drive": "wd-4tb-7200", "rw": "randread", "bs": "4KiB", "number_ios": 3000}
OTHER = "hgst-c15k600"

PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "two drives": ({**SHORT, "iodepth": [1, 4, 16]}, {**SHORT, "drive": OTHER, "iodepth": [1, 4, 16]}),
    "another seed": ({**SHORT, "iodepth": [1, 8]}, {**SHORT, "iodepth": [1, 8], "randseed": 2}),
    "one run": ({**SHORT, "iodepth": 4}, {**SHORT, "iodepth": 4}),
    "reads and writes": (
        {**SHORT, "rw": "randrw", "iodepth": 8},
        {**SHORT, "rw": "randrw", "iodepth": 8, "randseed": 2, "target.write_cache": False},
    ),
    "some points": ({**SHORT, "iodepth": [1, 4, 16]}, {**SHORT, "iodepth": [4, 16, 64], "randseed": 2}),
    "a setting that one sweeps": (
        {**SHORT, "iodepth": 16, "target.queue.order": ["fcfs", "sptf"]},
        {**SHORT, "iodepth": 16, "target.queue.order": "sptf", "randseed": 2},
    ),
    "a setting that one has from its drive": (
        {**SHORT, "iodepth": 16, "target.queue.protocol": ["none", "ncq"]},
        {**SHORT, "iodepth": 16, "randseed": 3},
    ),
    "a cache that one has from its drive": (
        {**SHORT, "rw": "randwrite", "target.write_cache": [True, False]},
        {**SHORT, "rw": "randwrite", "randseed": 3},
    ),
    "a depth that fits several": (
        {**SHORT, "iodepth": 16, "target.queue.depth": [1, 8]},
        {**SHORT, "iodepth": 16},
    ),
    "repeats": (
        {**SHORT, "iodepth": 2, "randseed": [1, 2, 3]},
        {**SHORT, "iodepth": 2, "randseed": [4, 5, 6, 7]},
    ),
    "sizes": ({**SHORT, "bs": ["4k", "64k"]}, {**SHORT, "bs": ["4KiB", "1MiB"], "drive": OTHER}),
    "arrays": (
        {**SHORT, "level": "raid5", "members": 4, "iodepth": [2, 8]},
        {**SHORT, "level": "raid10", "members": 4, "iodepth": [2, 8]},
    ),
    "many drives": (
        {**SHORT, "drive": ["wd-4tb-7200", OTHER]},
        {**SHORT, "drive": [OTHER, "wd-4tb-7200"], "randseed": 5},
    ),
    "nothing in common": ({**SHORT, "iodepth": 1}, {**SHORT, "rw": "write", "iodepth": 2}),
}

RECORDS = Path(__file__).parent.parent / "records"
FILES = {
    "fio, a sweep and itself": ("fio-3.33-sweep.json", "fio-3.33-sweep.json"),
    "fio, a sweep and json+": ("fio-3.33-sweep.json", "fio-3.33-plus.json"),
    "fio, json+ and a mix": ("fio-3.33-plus.json", "fio-3.33-mixed.json"),
    "fio, text in front": ("fio-3.33-text-in-front.json", "fio-3.33-sweep.json"),
}
"""Records of the tests, which fio itself wrote."""
REFUSED = ["fio, json+ and a mix"]
"""Of these the page says that it does not read one: jobs that ran together."""


def written(folder: Path) -> dict[str, list[Path]]:
    """The records of the pairs, in files of the folder."""
    found = {}
    for number, (name, pair) in enumerate(PAIRS.items()):
        paths = []
        for letter, words in zip("ab", pair, strict=True):
            path = folder / f"{number}{letter}.json"
            path.write_text(json.dumps(drivelab.simulate(**words).to_dict()), encoding="utf-8")
            paths.append(path)
        found[name] = paths
    return found | {name: [RECORDS / one for one in pair] for name, pair in FILES.items()}
