"""The man pages and the completion of shells: every verb and option is there, and what reads them finds no fault."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import man_pages
from drivelab.cli.app import program


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("share")
    man_pages.write(folder)
    return folder


def test_each_verb_has_a_page_with_each_option(share):
    verbs = program()
    assert {path.name for path in (share / "man/man1").iterdir()} == {
        "drivelab.1",
        *(f"drivelab-{name}.1" for name in verbs.commands),
    }
    for name, verb in verbs.commands.items():
        text = (share / f"man/man1/drivelab-{name}.1").read_text(encoding="utf-8")
        for one in (verb, *getattr(verb, "commands", {}).values()):
            shown = [option for option in one.params if not getattr(option, "hidden", False)]
            for option in shown:
                if option.opts[0].startswith("--"):
                    assert rf"\fB{man_pages.escaped(option.opts[0])}\fR" in text, (name, option.opts)


@pytest.mark.parametrize(
    "checker",
    [("groff", "-man", "-ww", "-z", "-Tutf8"), ("mandoc", "-T", "lint", "-W", "warning")],
    ids=lambda it: it[0],
)
def test_the_pages_render_without_a_warning(checker, share):
    if shutil.which(checker[0]) is None:
        pytest.skip(f"man pages: no {checker[0]}")
    pages = sorted(map(str, (share / "man/man1").iterdir()))
    done = subprocess.run([*checker, *pages], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_text_is_printed_as_it_is_typed():
    assert man_pages.escaped("a-b 'c' `d` \\[e] .f\n.g") == (r"a\-b \&\(aqc\(aq \(gad\(ga [e] \&.f \&.g")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_its_script(shell, share):
    if shutil.which(shell) is None:
        pytest.skip(f"completion: no {shell}")
    script = share / man_pages.SHELLS[shell]
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert man_pages.COMPLETE in script.read_text(encoding="utf-8")


def test_bash_completes_a_verb_by_its_script(share, tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("completion: no bash")
    said = tmp_path / "drivelab"
    said.write_text('#!/bin/sh\necho "$_DRIVELAB_COMPLETE/$COMP_CWORD"\n', encoding="utf-8")
    said.chmod(0o755)
    line = "COMP_WORDS=(drivelab simulate --dr); COMP_CWORD=2; _drivelab_completion drivelab; echo ${COMPREPLY[@]}"
    script = share / man_pages.SHELLS["bash"]
    found = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [bash, "--norc", "-c", f"source '{script}'; {line}"],
        env=found,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "complete_bash/2\n"


def test_zsh_completes_and_registers_when_it_loads_its_script(share):
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("completion: no zsh")
    folder = (share / man_pages.SHELLS["zsh"]).parent
    typed = "words=(drivelab sim); CURRENT=2"
    load = f"{typed}; fpath=('{folder}' $fpath); compdef() {{ print registered $* }}; env() {{ print print asked }}"
    done = subprocess.run(
        [zsh, "-f", "-c", f"{load}; autoload -Uz _drivelab; _drivelab"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "registered _drivelab_completion drivelab\nasked\n"
