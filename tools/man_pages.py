"""Write the man pages and the completion of shells, from what the command line itself declares.

`python tools/man_pages.py FOLDER` writes `man/man1/drivelab.1`, a page for each verb (`drivelab-simulate.1`; a group
such as `trace` has its verbs on one page), and the scripts at the places in which bash, zsh and fish look below a
folder `share`. A wheel takes them from `drivelab._core.data/data/share` (see tools/release.py) and installs them.

The pages use the macros of man(7) that groff and mandoc share. Their date is SOURCE_DATE_EPOCH, or today.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.completion import get_completion_script  # type: ignore[attr-defined]  # typer exports nothing for it
from typer.core import TyperGroup

from drivelab import __version__
from drivelab.cli.app import program

# A shell's script, and where the shell looks for it below `share`.
SHELLS = {
    "bash": "bash-completion/completions/drivelab",
    "zsh": "zsh/site-functions/_drivelab",
    "fish": "fish/vendor_completions.d/drivelab.fish",
}
# A list of more characters than this may be broken at its commas.
LONG = 40
COMPLETE = "_DRIVELAB_COMPLETE"
# A function that zsh loads when it is first needed has to complete that first time too.
ZSH_REGISTERS = "compdef _drivelab_completion drivelab"
ZSH_LOADED = f"""{ZSH_REGISTERS}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _drivelab_completion "$@"
fi"""


def escaped(text: str) -> str:
    """A text as roff prints it: on one line, with its dashes and quotes as they are typed."""
    return " ".join(_word(word) for word in text.replace("\\[", "[").split())


def _word(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    text = text.replace("^", r"\(ha").replace("~", r"\(ti")
    if len(text) > LONG:
        text = text.replace(",", r",\:")
    return rf"\&{text}" if text.startswith((".", r"\(aq")) else text


def paragraphs(text: str | None) -> Iterator[str]:
    """A text of the help, paragraph by paragraph."""
    for number, part in enumerate(re.split(r"\n\s*\n", (text or "").strip())):
        if number:
            yield ".PP"
        yield escaped(part)


def summary(verb: Any) -> str:  # noqa: ANN401 - as typer has it
    """The first sentence of a verb's help."""
    return escaped(str(verb.help or "").split("\n\n", maxsplit=1)[0]).rstrip(".")


def tagged(term: str, text: str | None) -> Iterator[str]:
    """An option or an argument, and what it does."""
    yield from (".TP", term)
    lines = list(paragraphs(text))
    # A second paragraph keeps the indentation of the first.
    yield from (".IP" if line == ".PP" else line for line in lines or [r"\&"])


def _term(option: Any) -> str:  # noqa: ANN401 - as typer has it
    names = ", ".join(rf"\fB{escaped(name)}\fR" for name in (*option.opts, *option.secondary_opts))
    if option.is_flag:
        return names
    return rf"{names} \fI{escaped(option.metavar or option.name.upper())}\fR"


def _help(option: Any) -> str:  # noqa: ANN401 - as typer has it
    text = str(option.help or "")
    shown = option.show_default
    value = shown if isinstance(shown, str) else option.default
    if not shown or not value or option.is_flag:
        return text
    return f"{text} [{value}]"


def options(verb: Any, heading: str) -> Iterator[str]:  # noqa: ANN401 - as typer has it
    """The arguments and options of a verb, in the groups that its help has."""
    groups = dict[str, list[str]]()
    for one in verb.params:
        if getattr(one, "hidden", False):
            continue
        if one.param_type_name == "argument":
            if one.help:
                title, term = "Arguments", rf"\fI{escaped(one.metavar or one.name.upper())}\fR"
                groups.setdefault(title, []).extend(tagged(term, one.help))
            continue
        title = getattr(one, "rich_help_panel", None) or "Options"
        groups.setdefault(title, []).extend(tagged(_term(one), _help(one)))
    groups.setdefault("Options", []).extend(tagged(r"\fB\-h\fR, \fB\-\-help\fR", "Show the options"))
    for title, lines in groups.items():
        yield from (f'{heading} "{escaped(title)}"', *lines)


def synopsis(name: str, verb: Any) -> Iterator[str]:  # noqa: ANN401 - as typer has it
    """How a verb is called."""
    arguments = [one.metavar or one.name.upper() for one in verb.params if one.param_type_name == "argument"]
    words = "".join(rf" \fI{escaped(one)}\fR" for one in arguments)
    yield rf"\fB{escaped(name)}\fR{words} [\fIoption\fR ...]"


def opening(name: str, what: str) -> Iterator[str]:
    """The first lines of a page."""
    day = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    title = name.replace(" ", "-")
    yield r".\" Written by tools/man_pages.py from the declarations of the command line."
    yield f'.TH {escaped(title.upper())} 1 {day} "drivelab {__version__}" "User Commands"'
    # Words that long lists are made of leave lines that cannot be adjusted on both sides.
    yield from (".ad l", ".SH NAME", rf"{escaped(title)} \- {what}", ".SH SYNOPSIS")


def closing(epilog: str, others: list[str]) -> Iterator[str]:
    """The last lines of a page: exit codes, and other pages."""
    yield from (".SH EXIT STATUS", escaped(epilog.removeprefix("Exit codes: ")), ".SH SEE ALSO")
    yield ",\n".join(rf"\fB{escaped(name)}\fR(1)" for name in others)


def verb_page(name: str, verb: Any, epilog: str) -> str:  # noqa: ANN401 - as typer has it
    """The page of a verb, with the verbs of its group."""
    called = f"drivelab {name}"
    inside = verb.commands if isinstance(verb, TyperGroup) else {}
    lines = list(opening(called, summary(verb)))
    if inside:
        for sub, one in inside.items():
            lines += [*synopsis(f"{called} {sub}", one), ".br"]
        lines.pop()
    else:
        lines += synopsis(called, verb)
    lines += [".SH DESCRIPTION", *paragraphs(verb.help)]
    if inside:
        for sub, one in inside.items():
            lines += [f'.SH "{escaped(f"{called} {sub}".upper())}"', *paragraphs(one.help)]
            lines += options(one, ".SS")
    else:
        lines += options(verb, ".SS")
    lines += closing(epilog, ["drivelab"])
    return "\n".join(lines) + "\n"


def main_page(verbs: TyperGroup) -> str:
    """The page of the program."""
    lines = list(opening("drivelab", summary(verbs)))
    lines += [r"\fBdrivelab\fR \fIverb\fR [\fIargument\fR ...]", ".SH DESCRIPTION", *paragraphs(verbs.help)]
    lines += [
        ".PP",
        escaped("drivelab help WORD explains a verb, a key of a scenario, or a term."),
        ".SH VERBS",
    ]
    for name, verb in verbs.commands.items():
        lines += tagged(rf"\fB{escaped(name)}\fR", str(verb.help).split("\n\n", maxsplit=1)[0])
    lines += options(verbs, ".SH")
    lines += closing(str(verbs.epilog), [f"drivelab-{name}" for name in verbs.commands])
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Every page, by the name of its file."""
    verbs = program()
    epilog = str(verbs.epilog)
    found = {f"drivelab-{name}.1": verb_page(name, verb, epilog) for name, verb in verbs.commands.items()}
    return {"drivelab.1": main_page(verbs), **found}


def completion(shell: str) -> str:
    """The script by which a shell completes the command."""
    script = get_completion_script(prog_name="drivelab", complete_var=COMPLETE, shell=shell).strip() + "\n"
    if shell != "zsh":
        return script
    if ZSH_REGISTERS not in script:
        raise ValueError(
            f"the script of zsh does not end with `{ZSH_REGISTERS}`: adapt tools/man_pages.py to typer"
        )
    return script.replace(ZSH_REGISTERS, ZSH_LOADED)


def write(share: Path) -> None:
    """Write all of it below a folder."""
    files = {f"man/man1/{name}": text for name, text in pages().items()}
    files |= {place: completion(shell) for shell, place in SHELLS.items()}
    for name, text in files.items():
        path = share / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write below the folder that is named. Return the exit code."""
    if len(arguments) != 1:
        print("usage: man_pages.py FOLDER", file=sys.stderr)
        return 2
    write(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
