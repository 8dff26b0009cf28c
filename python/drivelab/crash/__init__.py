"""Crash campaigns: one session of a workload on the emulated device, cut as often as one likes, each cut checked.

Start reading at `campaign`.
"""

from __future__ import annotations
