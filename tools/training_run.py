"""The workload by which `make wheel` optimises the extension: it is built twice, and this runs between the builds.

The first build counts how often each branch is taken, the second one puts the code that runs together in one place. The
points are what users run most: drives at all depths and under all protocols, arrays, caches of drive, controller and
host, one run whose data are checked. What they do not reach is built as usual.
"""

from __future__ import annotations

from drivelab import simulate

LIMIT = {"ios": 20_000}
RANDOM = {"rw": ["randread", "randrw"], "rwmixread": 70, "bs": "4KiB", "iodepth": [1, 32]}

SCENARIOS = (
    # Plain drives: each protocol, shallow and deep queues, small and large drives.
    {
        "target": {"drive": ["wd-4tb-7200", "seagate-exos-x24-24tb"]},
        "workload": {**RANDOM, "iodepth": [1, 4, 32, 128]},
    },
    {
        "target": {
            "drive": "seagate-cheetah-10k6-73gb",
            "queue": {"protocol": ["none", "ncq", "scsi-tcq", "ata-tcq"], "order": ["sptf", "aged-sptf"]},
        },
        "workload": RANDOM,
    },
    # Streams, and a drive whose cache takes writes.
    {
        "target": {"drive": "seagate-st3250620as"},
        "workload": {"rw": ["read", "write", "randwrite"], "bs": ["4KiB", "64KiB"], "iodepth": [1, 8]},
    },
    # Arrays of eight.
    {
        "target": {
            "drive": "wd-4tb-7200",
            "array": {"level": ["raid0", "raid10", "raid5", "raid6"], "members": 8},
        },
        "workload": {**RANDOM, "iodepth": 32},
    },
    # Caches of host and controller, and the host's scheduler.
    {
        "target": {
            "drive": "wd-4tb-7200",
            "elevator": ["none", "deadline"],
            "host_cache": {"size": "64MiB"},
        },
        "workload": {**RANDOM, "iodepth": 32},
    },
    {
        "target": {
            "drive": "wd-4tb-7200",
            "controller": {"cache": {"size": "64MiB"}},
            "array": {"level": "raid5", "members": 4, "kept_by": "controller"},
        },
        "workload": {**RANDOM, "iodepth": 32},
    },
)


def main() -> None:
    """Each scenario once. The results do not matter."""
    for scenario in SCENARIOS:
        simulate({**scenario, "run": LIMIT}, workers=1)
    simulate({**SCENARIOS[3], "run": {"ios": 2_000}}, workers=1, check_data=True)


if __name__ == "__main__":
    main()
