"""In every Python process that a test starts: SIGUSR2 has it write the stacks of its threads into a file.

The file is kept at a high number, since the tests are about processes whose low ones are closed. See watchdog.py.
"""

import contextlib
import faulthandler
import fcntl
import os
import signal

LOWEST = 100

with contextlib.suppress(KeyError, OSError, ValueError):
    path = os.path.join(os.environ["TURBO_FZN_STACKS"], str(os.getpid()))
    low = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        file = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, LOWEST)
    finally:
        os.close(low)
    faulthandler.register(signal.SIGUSR2, file=file, all_threads=True)
