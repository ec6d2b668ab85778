"""The command, as `python -m turbo_fzn` and as the script `fzn-turbo`.

An outdated Python is refused before anything is imported that it could not read: this file and `__init__.py` are
written for any Python since 3.7.

A signal may come before it can be handled. So signals are blocked until cli.py has read the command line, and nothing
is imported before this that would answer a signal with a traceback.
"""

import gc
import os
import signal
import sys

OLDEST_PYTHON = (3, 10)  # format: a version


def refuse_python() -> None:
    """Ends the process of an outdated Python with a message that names the command to use."""
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    what = source if os.path.exists(os.path.join(source, "setup.cfg")) else "WHEEL_OF_TURBO_FZN"
    names = [f"python3.{minor}" for minor in range(20, OLDEST_PYTHON[1] - 1, -1)]
    folders = os.environ.get("PATH", "").split(os.pathsep)
    newer = [name for name in names if any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders)]
    told = ".".join(map(str, sys.version_info[:2]))
    sys.stderr.write(f"fzn-turbo: Python {told} at {sys.executable} is too old: 3.10 or later is needed\n")
    sys.stderr.write(f"       mend it: {(newer or ['python3.10'])[0]} -m pip install {what}\n")
    sys.stdout.write("=====ERROR=====\n")
    sys.exit(1)


refuse_python()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})

gc.disable()  # until the search begins (base/collector.py): a start makes no garbage, and scans take a part of its time

try:
    from turbo_fzn.command.cli import main
except MemoryError:
    sys.stderr.write("fzn-turbo: out of memory\n")
    sys.stdout.write("=====ERROR=====\n")
    sys.exit(1)

if __name__ == "__main__":
    sys.exit(main())
