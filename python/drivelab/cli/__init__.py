"""The command line: one file per verb. `main` is what the installed command `drivelab` calls.

Nothing is loaded here, so that Ctrl-C ends even a command that is still loading with one line.
"""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from drivelab.cli.command import run  # noqa: PLC0415

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        code = INTERRUPTED
    sys.exit(code)
