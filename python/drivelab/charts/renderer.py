"""What draws pictures, vl-convert: a dependency that has no wheel for musl, so that an installation there lacks it."""

from __future__ import annotations

from drivelab.charts.errors import ChartInputError

try:
    import vl_convert
except ModuleNotFoundError as error:
    raise ChartInputError(
        "pictures and reports need vl-convert-python, which is not installed: pip install vl-convert-python; "
        "where it has no wheel, as for musl (Alpine), keep the record (`--json`) and draw it on a system with glibc"
    ) from error

__all__ = ["vl_convert"]
