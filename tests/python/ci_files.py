"""The recipes of docs/how-to/ci.md and the composite actions, and how a runner runs their steps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import small_yaml

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "ci.md"
EXAMPLES = ROOT / "examples" / "crash-tests"
ACTIONS = ROOT / ".github" / "actions"
_BLOCK = re.compile(r"^```(?:yaml|sh)\n# (\S+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")


def blocks() -> dict[str, str]:
    """The files of the page, by name."""
    return dict(_BLOCK.findall(PAGE.read_text(encoding="utf-8")))


def recipe(name: str) -> Any:  # noqa: ANN401 - what a file of YAML has
    """A file of YAML of the page."""
    return small_yaml.load(blocks()[name])


def action(name: str) -> Any:  # noqa: ANN401
    """A composite action of the repository."""
    return small_yaml.load((ACTIONS / name / "action.yml").read_text(encoding="utf-8"))


def unprivileged() -> list[str]:
    """What runs a command without any capability, as in a container that has none."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return []
    return ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--no-new-privs"]


def shell(
    script: str, folder: Path, environment: Mapping[str, str], *, privileged: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a step as both CI systems do: bash, which ends at the first error, in a pipe too."""
    words = [
        *([] if privileged else unprivileged()),
        "bash",
        "--noprofile",
        "--norc",
        "-eo",
        "pipefail",
        "-c",
        script,
    ]
    return subprocess.run(
        words, cwd=folder, env=environment, encoding="utf-8", capture_output=True, timeout=120, check=False
    )


def run_action(
    name: str,
    given: Mapping[str, str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    privileged: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run the shell steps of an action one after the other, until one fails; the last one that ran."""
    described = action(name)
    inputs = {key: one.get("default") or "" for key, one in described["inputs"].items()}
    assert set(given) <= set(inputs), "a recipe gives an input that the action does not have"
    assert {key for key, one in described["inputs"].items() if one.get("required")} <= set(given)
    inputs |= given
    for file in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH"):
        environment = {**environment, file: str(folder / file)}
        (folder / file).touch()
    environment = {
        **environment,
        "GITHUB_ACTION_PATH": str(ACTIONS / name),
        "RUNNER_TEMP": str(folder / "runner-temp"),
    }
    done = None
    for step in described["runs"]["steps"]:
        if "run" not in step:
            continue
        assert not _EXPRESSION.search(step["run"]), "an input would become part of a script"
        own = {
            key: _EXPRESSION.sub(lambda one: _of(one[1], inputs), text) for key, text in step["env"].items()
        }
        done = shell(step["run"], folder, {**environment, **own}, privileged=privileged)
        if done.returncode:
            break
    assert done is not None
    return done


def _of(expression: str, inputs: Mapping[str, str]) -> str:
    room, _, name = expression.partition(".")
    assert room == "inputs", expression
    return inputs[name]
