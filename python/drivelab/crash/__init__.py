"""Crash campaigns: one session of a workload on the emulated device, with any number of power cuts, each checked.

Start reading at `campaign`.
"""

from __future__ import annotations
