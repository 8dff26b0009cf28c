"""The pictures of drivelab: one grammar for notebook, PNG, SVG and single-file HTML.

`depth` and `breakdown` draw the points of a sweep, `jobs` each job of a workload, `latencies` a single point,
`over_time` its course, `timeline` the log of its commands, `array_timeline` that of an array with the heads of its
members, `rebuild` an array over time, `surface` and `sizes` a scan, `surfaces` several, `levels` a comparison of
arrays, `differences` one of records, `experiment`, `cells` and `lines` a published table beside the model's
predictions, `distributions` measured response times beside simulated ones, `trace` a recorded trace, `fitted` a fit,
`pareto` and `tornado` a plan, `answer` a ready answer; `save` writes any of them.
Nothing here simulates, measures or reads a file.
Start with rows.py.
"""

from drivelab.charts.answers import answer
from drivelab.charts.array_timeline import array_timeline
from drivelab.charts.cells import cells
from drivelab.charts.curves import depth
from drivelab.charts.differences import differences
from drivelab.charts.distributions import distributions
from drivelab.charts.errors import ChartError, ChartInputError, ChartOutputError
from drivelab.charts.files import check_suffix, save
from drivelab.charts.fitted import fitted
from drivelab.charts.histogram import latencies
from drivelab.charts.jobs import by_job, has_jobs, jobs
from drivelab.charts.levels import levels
from drivelab.charts.lines import lines
from drivelab.charts.over_time import POINTS_MAX as OVER_TIME_POINTS_MAX
from drivelab.charts.over_time import over_time
from drivelab.charts.parts import breakdown
from drivelab.charts.plan import pareto, tornado
from drivelab.charts.published import experiment
from drivelab.charts.rebuild import POINTS_MAX as REBUILD_POINTS_MAX
from drivelab.charts.rebuild import rebuild
from drivelab.charts.sizes import sizes
from drivelab.charts.surface import surface
from drivelab.charts.surfaces import surfaces
from drivelab.charts.timeline import POINTS_MAX as TIMELINE_POINTS_MAX
from drivelab.charts.timeline import timeline
from drivelab.charts.trace import trace

__all__ = [
    "OVER_TIME_POINTS_MAX",
    "REBUILD_POINTS_MAX",
    "TIMELINE_POINTS_MAX",
    "ChartError",
    "ChartInputError",
    "ChartOutputError",
    "answer",
    "array_timeline",
    "breakdown",
    "by_job",
    "cells",
    "check_suffix",
    "depth",
    "differences",
    "distributions",
    "experiment",
    "fitted",
    "has_jobs",
    "jobs",
    "latencies",
    "levels",
    "lines",
    "over_time",
    "pareto",
    "rebuild",
    "save",
    "sizes",
    "surface",
    "surfaces",
    "timeline",
    "tornado",
    "trace",
]
