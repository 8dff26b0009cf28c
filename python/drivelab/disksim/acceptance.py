"""Whether drivelab accepts the drive file made from a description.

Each figure can be valid, and the drive as a whole impossible. A refusal is reported at the place in the description.
"""

from __future__ import annotations

import re

from drivelab.disksim.drive_file import Drive
from drivelab.disksim.text import DisksimError
from drivelab.errors import ScenarioError
from drivelab.report import toml_text
from drivelab.scenarios.scenario import Source, plan

_HEADER = re.compile(r"\[\[?target\.drive\.(\w+)(\.zones)?")
# Maximum number of reported problems.
_PROBLEMS_MAX = 5


def check_accepted(drive: Drive) -> None:
    """Refuse a drive whose file drivelab would refuse. Raises DisksimError."""
    # The text is what counts: it is parsed again.
    document = {"target": {"drive": toml_text.loads(drive.text())}, "workload": {"bs": "512B"}}
    text = toml_text.dumps(document)
    try:
        plan(Source(text, "drive file"))
    except ScenarioError as error:
        lines = text.splitlines()
        problems = [
            _placed(drive, lines[: problem["line"]], problem["message"], problem["remedy"])
            for problem in error.problems[:_PROBLEMS_MAX]
        ]
        more = len(error.problems) - len(problems)
        raise DisksimError(
            "; ".join(dict.fromkeys(problems)) + (f"; and {more} more" if more else "")
        ) from error


def _placed(drive: Drive, above: list[str], message: str, remedy: str | None) -> str:
    """A problem at the place from which its section, or its zone, was converted."""
    headers = [found for line in above if (found := _HEADER.match(line))]
    section, zone = headers[-1].groups() if headers else ("", None)
    place = drive.places.get(section)
    if zone:
        place = drive.zones[sum(1 for found in headers if found[2]) - 1]
    what = f"the drive's `{section}` cannot be used: " if section else "the drive cannot be used: "
    # A problem of several sections is reported for the files that describe them.
    files = [re.sub(r":\d+$", "", str(known)) for known in drive.places.values()]
    at = f"{place or next(iter(files), 'the description')}: "
    return f"{at}{what}{message}{f' (in a drive file: {remedy})' if remedy else ''}"
