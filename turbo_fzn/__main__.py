"""The command, as `python -m turbo_fzn` and as the script `fzn-turbo`.

A stop may come before there is anybody who could obey it. Until cli.py has read the command line it is held back, and
nothing is imported before this that would show it as a traceback.
"""

import signal
import sys

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})

from turbo_fzn.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
