"""What the compiled module offers: conversions over the rooms in Rust, nothing of its own."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Self, TypeVar, final, overload

from drivelab.errors import RunError

__all__ = [
    "GENERATOR",
    "MODEL_VERSION",
    "RECORD_VERSION",
    "VERSION",
    "CrashLog",
    "FailedSets",
    "Listener",
    "Plan",
    "Transcript",
    "action_problem",
    "base",
    "check_clock",
    "check_loop",
    "drive_schema",
    "durability",
    "durability_asked",
    "durability_chunks",
    "durability_value",
    "emulate",
    "entries",
    "experiments",
    "facts",
    "histogram",
    "kinds",
    "left_out_of_emulation",
    "level_lacks",
    "levels",
    "loop_back",
    "measure",
    "measure_fits",
    "nbd_export",
    "nbd_read",
    "places",
    "rate_bytes_per_s",
    "reference",
    "replay",
    "run",
    "schema",
    "size_bytes",
    "span_ns",
    "toml_problems",
    "toml_values",
    "trace_copy",
    "trace_formats",
    "trace_head",
    "trace_info",
    "write_caches",
]

GENERATOR: Final[str]
MODEL_VERSION: Final[int]
RECORD_VERSION: Final[int]
VERSION: Final[str]

@final
class FailedSets:
    """The sets of failed members with which an array loses data, if each fails with the same probability and nobody
    replaces it.
    """

    def __new__(
        cls,
        level: str,
        members: int,
        *,
        copies: int = 2,
        groups: int = 2,
        layout: str | None = None,
    ) -> Self:
        """Raises ValueError if these members do not make the level."""

    @property
    def bears_worst(self) -> int: ...
    @property
    def bears_best(self) -> int: ...
    def loss(self, chance: float) -> float:
        """The probability of data loss, if each member fails with this probability."""

    def loss_after_one(self, chance: float) -> float:
        """The same if one member has already failed, and each of the others fails with this probability."""

@final
class Plan:
    """A checked scenario: every point of its sweep, ready to run."""

    def __new__(
        cls,
        text: str,
        origin: str,
        base_dir: str | PathLike[str],
        overrides: Sequence[tuple[str, str, str]],
        files: Mapping[str, str] = ...,
        steps: Sequence[tuple[str, Sequence[tuple[int, int]]]] = ...,
        served: bool = False,
    ) -> Plan: ...
    def __getnewargs__(
        self,
    ) -> tuple[
        str,
        str,
        Path,
        list[tuple[str, str, str]],
        dict[str, str],
        list[tuple[str, list[tuple[int, int]]]],
        bool,
    ]: ...
    def only(self, place: int) -> Plan: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def scenario_hash(self) -> str: ...
    @property
    def axes(self) -> list[dict[str, Any]]: ...
    @property
    def in_force(self) -> list[dict[str, Any] | None]: ...
    @property
    def ceilings(self) -> list[dict[str, Any] | None]: ...
    @property
    def fio(self) -> list[str]: ...
    @property
    def scenario(self) -> str: ...
    @property
    def overrides(self) -> list[str]: ...
    @property
    def files(self) -> dict[str, str]: ...
    @property
    def traces(self) -> dict[str, str]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def limits(self) -> list[tuple[int | None, int | None]]: ...
    @property
    def skipped(self) -> list[tuple[dict[str, Any], str]]: ...
    def capacity_bytes(self, place: int) -> int: ...
    def in_arrival_order(self, wanted: Sequence[tuple[int, int]]) -> Plan: ...
    def with_own_seeds(self) -> Plan: ...
    def with_log(self, log: int) -> Plan: ...
    @property
    def trace_files(self) -> list[Path]: ...
    def trace_writes(self, place: int) -> bool: ...
    def trace_problems(self, place: int) -> list[tuple[str, int, int]]: ...
    def __len__(self) -> int: ...

_Entries = list[dict[str, Any] | RunError | None]
_Kept = TypeVar("_Kept")

@overload
def run(
    plans: Sequence[Plan],
    workers: int,
    on_progress: Callable[[float], object] | None = None,
    log: int = 0,
    check_data: bool = False,
    on_plan: None = None,
    capture: str | None = None,
) -> list[_Entries]: ...
@overload
def run(
    plans: Sequence[Plan],
    workers: int,
    on_progress: Callable[[float], object] | None,
    log: int,
    check_data: bool,
    on_plan: Callable[[int, _Entries], _Kept],
    capture: str | None = None,
) -> list[_Kept]: ...
def measure(
    plan: Plan, place: int, options: dict[str, Any], on_progress: Callable[[float], object] | None
) -> tuple[dict[str, Any], bool]: ...
def measure_fits(plan: Plan, address: str, engine: str) -> None: ...
def nbd_export(address: str) -> dict[str, Any]: ...
def nbd_read(address: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]: ...
def places(plan: Plan, blocks: Sequence[int]) -> list[tuple[int, int, int, float]]: ...
def replay(plan: Plan, trace: str) -> dict[str, Any]: ...
def trace_info(files: Sequence[str], options: dict[str, Any]) -> dict[str, Any]: ...
def trace_head(
    files: Sequence[str], options: dict[str, Any], count: int
) -> tuple[str, list[dict[str, Any]], list[tuple[str, int, int]]]: ...
def trace_copy(
    traces: Sequence[Sequence[str]],
    options: dict[str, Any],
    shape: dict[str, Any],
    output: str,
    to: str | None,
) -> dict[str, Any]: ...
def trace_formats() -> dict[str, list[str]]: ...

@final
class Transcript:
    def __new__(cls) -> Self: ...
    def fileno(self) -> int: ...
    def take(self) -> list[tuple[int, bytes]]: ...

@final
class Listener:
    def __new__(cls, path: str) -> Self: ...
    def fileno(self) -> int: ...
    @property
    def uri(self) -> str: ...

@final
class CrashLog:
    def __new__(cls, plan: Plan, folder: str) -> Self: ...
    @staticmethod
    def check(plan: Plan, dies: int | None = None) -> None: ...
    def instants(self) -> list[int]: ...
    def writes(self) -> list[int]: ...
    def flushes(self) -> list[int]: ...
    def cut(self, at_ns: int, path: str, size_bytes: int, dies: int | None = None) -> dict[str, Any]: ...

def emulate(
    plan: Plan,
    options: dict[str, Any],
    on_ready: Callable[[str, int], object],
    on_look: Callable[[], bool],
    transcript: Transcript | None = None,
) -> tuple[dict[str, Any], bool]: ...
def check_loop(plan: Plan) -> None: ...
def loop_back(plan: Plan, place: int, socket: str, budget_ns: int) -> dict[str, Any]: ...
def left_out_of_emulation(plan: Plan) -> list[str]: ...
def write_caches(plan: Plan) -> str: ...
def histogram(text: str) -> list[tuple[int, int]]: ...
def span_ns(text: str) -> int: ...
def size_bytes(text: str) -> int: ...
def rate_bytes_per_s(text: str) -> int: ...
def action_problem(request: str) -> str | None:
    """What is wrong with the request of an action, a JSON object, before any device sees it; None where nothing is."""

def check_clock(text: str) -> None: ...
def durability(
    question: str, histories: Callable[[str, int, int], list[list[int]]] | None = None
) -> dict[str, Any]: ...
def durability_chunks(job: str, first: int, last: int) -> list[list[int]]: ...
def durability_asked(options: dict[str, Any]) -> dict[str, Any]: ...
def durability_value(kind: str, text: str) -> float: ...
def toml_values(text: str, origin: str) -> dict[str, Any]: ...
def toml_problems(
    text: str,
    origin: str,
    wrong: list[tuple[str, int | None, bool, tuple[str, str] | None, str, str | None]],
) -> None: ...
def reference(of: str) -> str: ...
def schema() -> dict[str, Any]: ...
def drive_schema() -> dict[str, Any]: ...
def kinds() -> list[str]: ...
def entries(kind: str) -> list[dict[str, Any]]: ...
def base(text: str) -> str | None: ...
def facts(kind: str, text: str, bases: list[tuple[str, str]]) -> list[dict[str, Any]]: ...
def experiments() -> dict[str, str]: ...
def levels() -> list[dict[str, Any]]:
    """Every level of a simulated array, in the order of tables: its name, the parities of a group (None without
    parity), and what may be chosen or is kept.
    """

def level_lacks(level: str, members: int, copies: int, groups: int) -> str | None:
    """What a level needs that these members do not have, such as "3 members or more"; None where they make it."""
