"""Tasks on a Ray cluster. The workers import drivelab, and use nothing of this machine except the task's own data."""

from __future__ import annotations

import importlib
import io
import os
import re
import socket
import sys
import threading
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from drivelab.errors import InputError, RunError, ref
from drivelab.executors.local import Done
from drivelab.executors.tasks import Sent, Task

AHEAD = 4
"""Number of tasks submitted per processor of the cluster: more would only wait there."""
RETRIES = 3
"""How often a task is retried when its worker dies."""
_ANSWER_S = 5.0
_ADDRESS = re.compile(r"(?:ray://)?(?P<host>[^:/]+|\[[^\]]+\]):(?P<port>\d+)")


class OnRay:
    """A connection to a cluster; `close` ends it, and leaves the cluster running."""

    def __init__(self, address: str) -> None:
        """Connect. Raises InputError if ray is not installed, or nothing answers at the address."""
        self.name = f"Ray at {address}"
        self._address = address
        _check_address(address)
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise InputError(
                f"{ref('ray', address)}: ray is not installed: pip install 'drivelab[ray]', or leave {ref('ray')} out"
            ) from error
        try:
            self._ray.init(
                address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False
            )
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise InputError(_unreachable(address, str(error).splitlines()[0])) from error
        self._stdout = sys.stdout
        sys.stdout = _WithoutRay(sys.stdout)
        remote = self._ray.remote(num_cpus=1, max_retries=RETRIES)
        self._work = remote(_work)

    def run(self, tasks: Sequence[Task], done: Done, _workers: int) -> None:
        """Run all, with a few queued per processor. Raises KeyboardInterrupt, and RunError if the cluster is lost."""
        errors = self._ray.exceptions
        waiting = iter(enumerate(tasks))
        places: dict[Any, int] = {}
        try:
            while True:
                most = AHEAD * max(1, int(self._ray.cluster_resources().get("CPU", 1)))
                while len(places) < most and (task := next(waiting, None)) is not None:
                    places[self._work.remote(Sent(task[1]))] = task[0]
                if not places:
                    return
                for reference in self._ray.wait(list(places), num_returns=1)[0]:
                    done(places.pop(reference), self._ray.get(reference))
        except errors.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, RunError) else RunError(str(cause))) from error
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError) as error:
            raise RunError(
                f"{self.name}: a task lost its worker {1 + RETRIES} times, perhaps for want of memory; what had "
                "finished is in the checkpoint, where there is one"
            ) from error
        except errors.RayError as error:
            raise RunError(f"{self.name}: {str(error).splitlines()[0]}") from error
        finally:
            for reference in places:
                self._ray.cancel(reference, force=True)

    def close(self) -> None:
        """Disconnect from the cluster."""
        # Ray prints its buffered output now.
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            self._ray.shutdown()
        sys.stdout = self._stdout


class _WithoutRay(io.TextIOBase):
    """A stream that drops the output of Ray's own threads: the logs of a failed node, in the middle of our JSON."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - any stream
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes to the stream, except for Ray's threads."""
        is_ray = threading.current_thread().name.startswith("ray_")
        return len(text) if is_ray else int(self._stream.write(text))

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)


def _work(sent: Sent) -> Any:  # noqa: ANN401 - what a task returns
    return sent.run()


def _check_address(address: str) -> None:
    """Without this check Ray itself tries for minutes when nothing answers. Raises InputError."""
    if address == "auto":
        return
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise InputError(
            f"{ref('ray', address)}: it is HOST:PORT of the head of a cluster, ray://HOST:PORT, or auto"
        )
    try:
        socket.create_connection((match["host"].strip("[]"), int(match["port"])), _ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise InputError(_unreachable(address, str(error))) from error


def _unreachable(address: str, why: str) -> str:
    return (
        f"{ref('ray', address)}: no Ray cluster answers there ({why}): start one with `ray start --head`, "
        f"or leave {ref('ray')} out"
    )
