"""What every test here runs under: how hard Hypothesis looks, and that it looks the same way on every CI run.

`HYPOTHESIS_PROFILE=thorough` looks harder.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("fast", max_examples=50, deadline=None)
settings.register_profile("ci", parent=settings.get_profile("fast"), derandomize=True, print_blob=True)
settings.register_profile("thorough", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "fast"))

# A shell starts what it puts into the background with Ctrl-C ignored, and every command here would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
