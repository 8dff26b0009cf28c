"""A Ray cluster of two nodes on this machine, one processor each, as a program: it prints its address; `kill` on stdin
kills the second node with its worker, the end of stdin ends all of it."""

from __future__ import annotations

import os
import sys

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
STORE_BYTES = 80 * 2**20


def main() -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": STORE_BYTES},
    )
    second = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    print(cluster.address, flush=True)
    try:
        for line in sys.stdin:
            if line.strip() == "kill":
                cluster.remove_node(second, allow_graceful=False)
                print("killed", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
