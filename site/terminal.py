"""A still of a terminal, as SVG: runs a command on a pseudo-terminal, and draws what stands there after some seconds.

    python site/terminal.py --seconds 20 --svg docs/pictures/terminal.svg -- fzn-turbo -f -i ruler.fzn

The command is shown as it is typed, behind a prompt; of what it prints, the last lines. Lines that are written over are
drawn as they stand at the end; other commands of a terminal are left out.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import sys
import termios
import time
from html import escape
from pathlib import Path

COLUMNS, ROWS = 120, 22
CELL_WIDTH, CELL_HEIGHT, MARGIN, BAR = 8.43, 19, 16, 34
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
DOTS = ("#ff5f57", "#febc2e", "#28c840")


def watch(command: list[str], seconds: float) -> str:
    """All that it writes to the terminal in so many seconds; then it is interrupted."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm"
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execvp(command[0], command)
    end, written = time.monotonic() + seconds, b""
    while (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                written += os.read(terminal, 65536)
            except OSError:  # it has ended
                break
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return written.decode("utf-8", "replace")


def screen(text: str) -> list[str]:
    """The lines as they stand at the end. What is written over is written over whole: by this solver it is."""
    lines = [""]
    for part in re.split(r"(\r?\n|\r)", text):
        if part.endswith("\n"):
            lines.append("")
        elif part == "\r":
            lines[-1] = ""
        else:
            lines[-1] += ESCAPE.sub("", part)
    return lines


def draw(command: str, lines: list[str]) -> str:
    """The picture."""
    shown = [f"$ {command}", *lines[-(ROWS - 1) :]]
    width, height = COLUMNS * CELL_WIDTH + 2 * MARGIN, len(shown) * CELL_HEIGHT + BAR + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">',
        f"<title>{escape(command)}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#1d2026"/>',
        *(f'<circle cx="{MARGIN + 6 + 20 * number}" cy="17" r="6" fill="{dot}"/>' for number, dot in enumerate(DOTS)),
    ]
    for number, line in enumerate(shown):
        y = BAR + CELL_HEIGHT * (number + 0.8)
        colour = "#9ece6a" if number == 0 else "#e6c07b" if number == len(shown) - 1 else "#d7dae0"
        text = f'<text x="{MARGIN}" y="{y:.0f}" fill="{colour}" xml:space="preserve">{escape(line[:COLUMNS])}</text>'
        parts.append(text)
    return "\n".join([*parts, "</svg>\n"])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python site/terminal.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--svg", type=Path, required=True)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    lines = screen(watch(arguments.command, arguments.seconds))
    while lines and not lines[-1].strip():
        lines.pop()
    arguments.svg.write_text(draw(shlex.join(arguments.command), lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
