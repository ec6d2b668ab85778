"""The start time of the process, from which time limits count; Python itself starts later."""

from __future__ import annotations

import os
import time


def process_start() -> float:
    """The time when this process began, on the clock of time.monotonic; the current time if the system has no such
    information."""
    now = time.monotonic()
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        with open("/proc/uptime", "rb") as file:
            uptime = float(file.read().split()[0])
        age = uptime - ticks / os.sysconf("SC_CLK_TCK")
        return now - age if 0 <= age < 60 else now
    except (OSError, ValueError, IndexError):
        return now
