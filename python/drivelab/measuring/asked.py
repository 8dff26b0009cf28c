"""What is asked of a real device: which one, how it is reached, what may be destroyed; and `drivelab.measure`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from drivelab import _core
from drivelab.errors import InputError, Interrupted, RunError, ref
from drivelab.host import kernel
from drivelab.measuring.address import is_address, target_at_address
from drivelab.measuring.device import System, Target, target_at
from drivelab.measuring.environment import environment
from drivelab.measuring.guard import check_may_be_written, check_named_twice, described
from drivelab.measuring.run import ENGINES, How, MeasuredResult, Progress, check_fits, plan_on, writes
from drivelab.measuring.watched import measure_watched
from drivelab.scenarios.names import names_checked
from drivelab.scenarios.quantities import span_ns
from drivelab.scenarios.scenario import Override, Scenario, Source, overrides_from, read_source

SYSTEM = System()
Say = Callable[[str], object]
"""Gets remarks, such as what is written to."""

ROUNDS_MAX = 60


@dataclass(frozen=True)
class Destroy:
    """What the user has stated about writing."""

    write: bool = False
    named: str | None = None
    overwrite: bool = False


def find_target(path: str | None) -> Target:
    """The target of an option or argument. Raises InputError."""
    if path is None:
        raise InputError(
            f"nothing to measure: name a file, block device or NBD address with {ref('target', 'PATH')}"
        )
    if is_address(path):
        kernel.need_unix("`measure` of an NBD address", "its client is written for sockets as Unix has them")
        return target_at_address(path)
    remedy = "run it there, or name the NBD address of a device that is served there, such as nbd://HOST"
    kernel.need_linux("`measure` of a file or a device", "io_uring, O_DIRECT and sysfs are Linux's", remedy)
    return target_at(Path(path), SYSTEM)


def allow(target: Target, destroy: Destroy, *, writes: bool, say: Say) -> None:
    """Hold the wish to write to what the guard finds. Raises InputError and RefusedError."""
    if not writes:
        if destroy.write or destroy.named is not None or destroy.overwrite:
            raise InputError(
                f"{ref('write')} changes nothing: the workload only reads; leave it out, or give another {ref('rw')}"
            )
        return
    name = target.shown if target.server is None else target.server.address
    if not destroy.write:
        raise InputError(
            f"the workload writes, and what is on {name} would be lost: allow it with {ref('write', 'true')} "
            f"{ref('yes_destroy')} {shlex.quote(name)}"
        )
    named = destroy.named
    if target.path is None or named is None or is_address(named):
        check_named_twice(name, named)
    else:
        check_named_twice(target.path, Path(named))
    given_up = check_may_be_written(target, SYSTEM, overwrite=destroy.overwrite)
    say(f"writing to {described(target)}")
    for one in given_up:
        say(f"  {one.where}: {one.what}; it is given up")


def how_of(
    *,
    engine: str,
    may_write: bool = False,
    direct: bool = True,
    on_error: str = "stop",
    until_steady: str | None = None,
    repeat: int = 1,
) -> How:
    """The options as one value. Raises InputError."""
    if engine not in ENGINES:
        raise InputError(f"{ref('engine', engine)}: there are {', '.join(ENGINES[:-1])} and {ENGINES[-1]}")
    if on_error not in {"stop", "continue"}:
        raise InputError(f"{ref('on_error', on_error)}: give stop or continue")
    steady = None
    if until_steady is not None:
        steady = (span_ns("until_steady", until_steady), ROUNDS_MAX)
        if steady[0] <= 0:
            raise InputError(f"{ref('until_steady', until_steady)}: a round takes some time, such as 10s")
    return How(
        engine=engine,
        may_write=may_write,
        direct=direct,
        goes_on=on_error == "continue",
        steady=steady,
        repeats=repeat,
    )


@dataclass(frozen=True)
class Prepared:
    """A workload that fits its device, and may run on it."""

    plan: _core.Plan
    target: Target
    how: How

    def measure(self, progress: Progress | None = None) -> MeasuredResult:
        """Run it. Failures and an interruption are in the result."""
        return measure_watched(self.plan, self.target, SYSTEM, self.how, progress)


def prepared(  # noqa: PLR0913 - its parameters are the options of the verb
    source: Source,
    overrides: Sequence[Override],
    target: str | None,
    destroy: Destroy,
    *,
    engine: str = "auto",
    direct: bool = True,
    on_error: str = "stop",
    until_steady: str | None = None,
    repeat: int = 1,
    say: Say = lambda _text: None,
    look: Callable[[_core.Plan], object] = lambda _plan: None,
) -> Prepared:
    """Check everything before anything runs; `look` sees the plan as soon as it is there.

    Raises InputError, ScenarioError and RefusedError.
    """
    found = find_target(target)
    if not direct and found.server is not None:
        raise InputError(f"{ref('direct', '0')}: an address has no page cache before it; leave it out")
    checked = plan_on(source, overrides, found)
    look(checked)
    is_written = writes(checked)
    how = how_of(
        engine=engine,
        may_write=is_written,
        direct=direct,
        on_error=on_error,
        until_steady=until_steady,
        repeat=repeat,
    )
    check_fits(checked, found, how)
    allow(found, destroy, writes=is_written, say=say)
    return Prepared(checked, found, how)


def with_names(
    result: MeasuredResult, target: Target, *, with_host: bool, with_serial: bool
) -> MeasuredResult:
    """The result with the names of host and drive that are wanted."""
    if not with_host and not with_serial:
        return result
    named = environment(target, SYSTEM, with_host=with_host, with_serial=with_serial)
    return replace(result, environment=named)


@names_checked
def measure(  # noqa: PLR0913 - its parameters are the options of the verb
    target: str | os.PathLike[str],
    scenario: Scenario = "",
    *,
    engine: str = "auto",
    write: bool = False,
    yes_destroy: str | os.PathLike[str] | None = None,
    overwrite_data: bool = False,
    on_error: str = "stop",
    until_steady: str | None = None,
    repeat: int = 1,
    with_host: bool = False,
    with_serial: bool = False,
    progress: Progress | None = None,
    **overrides: object,
) -> MeasuredResult:
    """Run a workload on a real file, block device or NBD address: `measure("/dev/sdb", rw="randread", iodepth=[1, 4])`.

    `target` is a path, or an address such as nbd+unix:///?socket=PATH. `scenario` and `overrides` are those of
    `simulate`, without a target of their own; a list is a sweep. `direct=0` goes through the page cache. `engine` is
    auto, io_uring, threads or nbd; `on_error` is stop or continue; `until_steady` the length of a round, such as "10s",
    of which five have to agree first; `repeat` the runs of each point. Only a workload that writes needs `write=True`
    and `yes_destroy`, which names the target once more; `overwrite_data` allows to overwrite a file system or data.

    The result is that of `simulate` with `environment` and `warnings`: a point for each place of the sweep, times in
    nanoseconds, rates in I/Os and bytes per second. Raises InputError, ScenarioError, RefusedError (it may not be
    written to), RunError (a point failed) and Interrupted (Ctrl-C; its `result` has what had finished).
    """
    direct = str(overrides.pop("direct", 1))
    if direct not in {"0", "1", "False", "True"}:
        raise InputError(f"{ref('direct', direct)}: give 1, or 0 for the page cache")
    destroyed = None if yes_destroy is None else os.fspath(yes_destroy)
    given = overrides_from(overrides)
    found = prepared(
        read_source(scenario, given),
        given,
        os.fspath(target),
        Destroy(write, destroyed, overwrite_data),
        engine=engine,
        direct=direct in {"1", "True"},
        on_error=on_error,
        until_steady=until_steady,
        repeat=repeat,
    )
    result = found.measure(progress)
    result = with_names(result, found.target, with_host=with_host, with_serial=with_serial)
    if result.interrupted:
        raise Interrupted(result)
    if result.failures:
        raise RunError(result.failures[0].why)
    return result
