"""The errors of this package: one for a chart that cannot be drawn, one for a file that cannot be written.

They are also the package's own InputError and OutputError, so that the command line knows their exit codes.
"""

from __future__ import annotations

from drivelab.errors import InputError, OutputError


class ChartError(Exception):
    """A chart could not be drawn or written; the message says which part of the request cannot be met."""


class ChartInputError(ChartError, InputError):
    """There is nothing to draw, or not in the form that the chart needs, or no picture has that suffix."""


class ChartOutputError(ChartError, OutputError):
    """The picture cannot be written to its place."""
