"""How old the process is: time limits count from its start, and not from where Python has come to."""

from __future__ import annotations

import os
import time


def process_start() -> float:
    """When this process began, on the clock of time.monotonic; now, where the system does not tell."""
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
