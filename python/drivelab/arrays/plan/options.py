"""The options of a plan as its question: everything that is wrong with them is reported at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.arrays import counted
from drivelab.arrays.durability import unreadable
from drivelab.arrays.durability.solving import solve
from drivelab.arrays.level import BARE, COPIES, GROUPS
from drivelab.arrays.levels.trace_keys import PREFIX, split
from drivelab.arrays.plan import question as asked
from drivelab.arrays.plan.grid import Asked
from drivelab.arrays.plan.load import is_trace, load
from drivelab.arrays.plan.question import CANDIDATES_MAX, Limits, Prices
from drivelab.arrays.simulation.loads import LOAD, Loads, names_of
from drivelab.arrays.simulation.planning import check_used, checked, named
from drivelab.arrays.simulation.rebuild import DEFAULT, Precision
from drivelab.arrays.typed import whole
from drivelab.errors import OptionError, ScenarioError, ref
from drivelab.errors.keys import BEGIN
from drivelab.errors.several import Problems, errors_of
from drivelab.report import toml_text
from drivelab.scenarios.problem import Problem
from drivelab.scenarios.scenario import Override, Source, plan

FORMS = {"afr": "1.5%", "mttf": "500000h", "drive_life": "weibull:1.12:461386h"}
"""The three ways to give the life of a drive, each with an example."""
FAILURES = (
    "life", "batch", "ure", "latent", "scrub", "reads", "detection", "replacement", "attended", "spares", "wrong_drive",
    "common", "outage",
)  # fmt: skip
"""What fails beside the drives, and what a repair waits for: keys of durability, which a plan passes on as typed."""
_LOAD, _RATES = Loads(), {"": {"afr": "1%"}}
"""They stand in for a load and for lives of drives that are wrong, while the other options are checked."""
_DRIVE = "wd-4tb-7200"
"""It stands in for drives that are wrong."""
NUMBERS = ("rwmixread", "number_ios", "copies", "groups", "spares")
"""Options that are whole numbers."""
_LIMITS = Limits(0.0, {}, None, None, None, ())
_PRICES = Prices("", {}, {}, {}, 0.0, 0.0)


def asked_of(options: Mapping[str, Any], overrides: Sequence[Override]) -> Asked:
    """Parse the question of a plan from options. Raises InputError with all errors."""
    problems = Problems()
    read = problems.read
    numbers = {key: read(None, whole, options[key], key) for key in NUMBERS if options.get(key) is not None}
    options = {key: value for key, value in {**options, **numbers}.items() if value is not None}
    drives = list(dict.fromkeys(names_of(options.get("drive") or "")))
    controllers: list[str | None] = [
        None if name == "none" else name
        for name in dict.fromkeys(names_of(options.get("controller") or "none"))
    ]
    read(None, _check_given, {**options, "drive": drives or None}, drives)
    read(None, _check_levels, options)
    read(None, _check_count, options, len(drives) * len(controllers))
    others, trace_keys = read(([], {}), _of_trace, options, overrides)
    refused = _refused_names(drives, controllers, others)
    before = len(problems.found)
    loads = read(_LOAD, load, options, trace_keys)
    wrong = {one.name for one in problems.found[before:]}
    precision = read(DEFAULT, Precision.asked, options.get("precision"))
    limits = read(_LIMITS, asked.limits, options, None if loads is _LOAD else loads)
    rates = read(_RATES, _rates, options, drives)
    prices = read(_PRICES, asked.prices, options, drives, controllers, frozenset(refused))
    given = {key: options[key] for key in FAILURES if options.get(key) is not None}
    if loads is not _LOAD:
        problems.found += _idle_states(options, loads)
    problems.found += _idle_failures(options, given, rates)
    read(None, _check_failures, given, rates)
    if loads is _LOAD:
        # The other words of the load are checked without those that are wrong.
        words = {key: value for key, value in options.items() if key not in wrong}
        loads = Problems().read(_LOAD, load, words, trace_keys)
    of_load = _refused_load(loads, [drive for drive in drives if drive not in refused])
    _check_with(problems, [*refused.values(), *of_load])
    is_said = not rates or "ure" in given or "latent" in given
    return Asked(
        loads=loads,
        limits=limits,
        prices=prices,
        drives=drives,
        controllers=controllers,
        failures=given,
        rates=rates,
        unreadable={} if is_said else {drive: unreadable.of_drive(drive, others) for drive in drives},
        spares=options.get("spares", 0),
        overrides=others,
        precision=precision,
    )


def _check_given(options: Mapping[str, Any], drives: Sequence[str]) -> None:
    """Report all missing options at once. Raises InputError."""
    examples = {
        "capacity": "60TB",
        "drive": "seagate-exos-x24-24tb,wd-4tb-7200",
        "drive_price": ",".join(f"{name}=280USD" for name in drives)
        or "seagate-exos-x24-24tb=280USD,wd-4tb-7200=90USD",
    }
    why = {
        "capacity": "how much has to fit",
        "drive": "which drives there are to buy",
        "drive_price": "the pick is the cheapest that holds",
    }
    missing = [key for key in examples if options.get(key) is None]
    if not missing:
        return
    remedy = " ".join(ref(key, examples[key]) for key in missing)
    what = f"{', '.join(map(ref, missing))} {'is' if len(missing) == 1 else 'are'} missing"
    reasons = "; ".join(why[key] for key in missing)
    raise OptionError(missing[0], None, f"{what} ({reasons}): give {remedy}", is_named=False)


def _refused_names(
    drives: Sequence[str], controllers: Sequence[str | None], settings: Sequence[Override]
) -> dict[str, ScenarioError]:
    """Drives and controllers that do not exist, or cannot be used, each with its error."""
    found = {}
    of_settings = {one.origin for one in settings}
    for key, names in (("drive", drives), ("controller", controllers)):
        others = [] if key == "drive" else [Override("target.drive", _DRIVE, ref("drive"))]
        for name in names:
            if name is None:
                continue
            wanted = [*others, Override(f"target.{key}", name, ref(key))]
            error = _refusal("", wanted)
            # What a file lacks may be set.
            if error is not None and _origins(_refusal("", [*wanted, *settings])) - of_settings:
                found[name] = error
    return found


def _refused_load(loads: Loads, drives: Sequence[str]) -> list[ScenarioError]:
    """What is wrong with the words of a load; those of a file and of a trace are checked with the candidates."""
    if loads.file is not None or loads.trace is not None:
        return []
    words = loads.overrides(LOAD)
    text = toml_text.dumps(loads.documents()[LOAD])
    error = _refusal(text, [Override("target.drive", [*drives, _DRIVE][0], ref("drive")), *words])
    return [error] if error is not None and _origins(error) & {word.origin for word in words} else []


def _refusal(text: str, overrides: Sequence[Override]) -> ScenarioError | None:
    try:
        plan(Source(text, "plan"), overrides)
    except ScenarioError as error:
        return error
    return None


def _origins(error: ScenarioError | None) -> set[str]:
    """The options and files that an error is about."""
    return set() if error is None else {problem["origin"] for problem in error.found}


def _check_with(problems: Problems, refused: Sequence[ScenarioError]) -> None:
    """Raise all errors: a single ScenarioError as it is, with the place of its problem; several in a line each.

    Raises InputError and ScenarioError.
    """
    if len(refused) == 1 and not problems.found:
        raise refused[0]
    of_names = [
        OptionError(
            problem["origin"],
            None,
            f"{_place(problem)}: {problem['message']}",
            problem["remedy"],
            is_named=False,
        )
        for error in refused
        for problem in error.found
    ]
    problems.found = of_names + problems.found
    problems.check()


def _place(problem: Problem) -> str:
    """The option of a problem, or its place in a file."""
    origin = problem["origin"]
    return origin if origin.startswith(BEGIN) else f"{origin}:{problem['line']}:{problem['column']}"


def _check_levels(options: Mapping[str, Any]) -> None:
    """Reject names that are no levels, and copies and groups without one that has any. Raises InputError."""
    problems = Problems()
    levels = options.get("level") or asked.LEVELS
    copies, groups = options.get("copies"), options.get("groups")
    problems.read(
        [],
        named,
        levels,
        1,
        COPIES if copies is None else copies,
        GROUPS if groups is None else groups,
        "level",
    )
    problems.read(None, check_used, levels, copies, None)
    problems.read(None, check_used, levels, None, groups)
    problems.check()


def _check_count(options: Mapping[str, Any], targets: int) -> None:
    """Reject numbers of members that are none, and more candidates than can be looked at. Raises InputError."""
    members = asked.members(str(options.get("members") or asked.MEMBERS))
    count = targets * len(members) * len(names_of(options.get("level") or asked.LEVELS))
    if count > CANDIDATES_MAX:
        what = (
            f"{count:,} candidates: at most {CANDIDATES_MAX:,}; give fewer {ref('drive')}, {ref('level')} or "
            f"{ref('members')}"
        )
        raise OptionError("members", None, what, is_named=False)


def _of_trace(
    options: Mapping[str, Any], overrides: Sequence[Override]
) -> tuple[list[Override], dict[str, Any]]:
    """The overrides of the target, and the keys of a recorded trace. Raises InputError with all errors."""
    file, problems = options.get("load"), Problems()
    others, keys = list[Override](), dict[str, Any]()
    for one in overrides:
        if file is not None and not is_trace(options) and one.key.startswith(PREFIX):
            what = f"{one.key} is said in {file}, whose workload is the load"
            problems.found += errors_of(one.refused(what))
            continue
        own, of_trace = problems.read(([], {}), split, [one], str(file) if is_trace(options) else None)
        for override in own:
            problems.read([], checked, "", [override], "level")
        others += own
        keys |= of_trace
    problems.check()
    return others, keys


def _idle_states(options: Mapping[str, Any], loads: Loads) -> Iterator[OptionError]:
    """States in which nothing has to hold: an array must sustain the rate and hold its data in those that are named."""
    is_held = options.get("max_latency") or options.get("min_iops") is not None or loads.rate is not None
    plain = {name.partition(":")[0].lower() for name in names_of(options.get("level") or asked.LEVELS)}
    if options.get("states") is not None and not is_held and not plain & BARE:
        what = (
            f"{ref('states')} changes nothing without {ref('max_latency')}, {ref('min_iops')} or a rate, which hold "
            f"in the states that it names: add one, {ref('max_latency', 'p99=50ms')}, or leave it out"
        )
        yield OptionError("states", None, what, is_named=False)


def _idle_failures(
    options: Mapping[str, Any], given: Mapping[str, Any], rates: Mapping[str, Mapping[str, str]]
) -> Iterator[OptionError]:
    """Options of failures where nothing fails."""
    if rates:
        return
    if options.get("max_loss") is not None:
        what, remedy = (
            "nothing says how often a drive fails",
            f"add {ref('afr', '1.5%')}, or NAME=1.5% for each",
        )
        yield OptionError("max_loss", None, what, remedy)
    if options.get("power_price") is None and "life" in given:
        what = (
            f"{ref('life')} changes nothing without {ref('afr')}, {ref('mttf')}, {ref('drive_life')} or "
            f"{ref('power_price')}: nothing fails, and no power is counted; leave it out"
        )
        yield OptionError("life", None, what, is_named=False)
    for key in [key for key in given if key not in {"spares", "life"}]:
        what = f"{ref(key)} changes nothing without {ref('afr')}, {ref('mttf')} or {ref('drive_life')}: nothing fails"
        yield OptionError(key, None, what, is_named=False)


def _rates(options: Mapping[str, Any], drives: Sequence[str]) -> dict[str, dict[str, str]]:
    """The life of each drive as typed; empty if none is given. Raises InputError with all errors."""
    given = [key for key in FORMS if options.get(key) is not None]
    if len(given) > 1:
        what = f"{' and '.join(map(ref, given))} say the same thing twice; give one of them"
        raise OptionError(given[-1], None, what, is_named=False)
    if not given:
        return {}
    if not drives:
        return _RATES
    key, text = given[0], str(options[given[0]])
    # A survival table is read only once.
    reader = {"afr": counted.afr, "drive_life": counted.life}.get(key)

    def parse(text: str) -> str:
        return reader(text, key) if reader and counted.is_counted(text) else text

    by_name = asked.laws_by_name if key == "drive_life" else asked.by_name
    return {str(name): {key: life} for name, life in by_name(text, drives, parse, key, FORMS[key]).items()}


def _check_failures(given: Mapping[str, Any], rates: Mapping[str, Mapping[str, str]]) -> None:
    """Reject options that the package `durability` would reject, before anything runs. Raises InputError with all
    errors.
    """
    problems = Problems()
    for rate in rates.values():
        settings = {"level": "raid6", "members": 8, "rebuild": "1h", "histories": 1000}
        problems.read(None, solve, {**given, **rate, **settings})
    problems.check()
