"""Where work runs: on the threads of this process, or on a Ray cluster; with a checkpoint it can be resumed.

`with executors.using(ray="10.0.0.1:6379", checkpoint="sweep.jsonl"): simulate(...)`
"""

from __future__ import annotations

from drivelab.executors.running import Executor, Running, current, using

__all__ = ["Executor", "Running", "current", "using"]
