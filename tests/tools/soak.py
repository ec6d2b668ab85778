"""A long run at full load: solutions stream, memory does not grow. `python tests/tools/soak.py --help`.

Two runs of the command, each for half of the time: one that enumerates a model with 10^10 solutions, all of which are
read and checked here, and one that searches for the optimum of a model that it cannot prove, with neighbourhoods. The
memory of the process is sampled every second; what counts is how much more it takes in the last quarter of a run than
in the second (the first is start-up).
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.market_split import market_split_model
from support.places import ROOT

MOST_GROWTH = 32 << 20  # bytes
N_DIGITS, DIGIT_SUM = 12, 54
UNKNOWN = "=====UNKNOWN=====\n"


def streaming_model() -> str:
    """The numbers of 12 digits with the digit sum 54."""
    names = [f"d{i}" for i in range(N_DIGITS)]
    lines = [f"var 0..9: {name} :: output_var;" for name in names]
    lines.append(f"constraint int_lin_eq([{','.join('1' * N_DIGITS)}],[{','.join(names)}],{DIGIT_SUM});")
    return "\n".join([*lines, "solve satisfy;"]) + "\n"


class Memory:
    """Samples of the resident memory of a process, in bytes, taken every second by a thread."""

    def __init__(self, process: subprocess.Popen[str]):
        self.process = process
        self.samples: list[int] = []
        self.thread = threading.Thread(target=self.sample, daemon=True)
        self.thread.start()

    def sample(self) -> None:
        while self.process.poll() is None:
            try:
                pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
            except (OSError, IndexError):
                return
            if pages:
                self.samples.append(pages * os.sysconf("SC_PAGE_SIZE"))
            time.sleep(1)

    def growth(self) -> int:
        """The most in the last quarter, less the most in the second."""
        quarter = len(self.samples) // 4
        return max(self.samples[-quarter:]) - max(self.samples[quarter : 2 * quarter]) if quarter else 0


def start(path: Path, arguments: argparse.Namespace, *flags: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "turbo_fzn", "--arch", arguments.arch, *flags, str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def soak(name: str, text: str, arguments: argparse.Namespace, *flags: str) -> bool:
    """Runs a model for half of the time. Whether all was well; a search that was not begun in that time is told
    apart."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.fzn"
        path.write_text(text)
        process = start(path, arguments, "-s", "-t", str(round(arguments.seconds * 500)), *flags)
        memory = Memory(process)
        read = {"stream": read_numbers, "optimise": read_costs}[name](process)
        code = process.wait()
    is_right, grows = bool(read) and code == 0, memory.growth() > MOST_GROWTH
    most = max(memory.samples, default=0)
    print(f"{name}: {read}, exit code {code}, at most {most >> 20} MiB, growth {memory.growth() >> 10} KiB, "
          f"{'too little time' if read is None else 'BAD' if not is_right else 'GROWS' if grows else 'good'}",
          flush=True)  # fmt: skip
    return is_right and not grows


def read_numbers(process: subprocess.Popen[str]) -> str | None:
    """Reads all solutions; empty when one is wrong or the stream ends with a claim, None when time was too short."""
    count, digits, nodes = 0, [], ""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("d"):
            digits.append(int(line.split()[2].rstrip(";")))
        elif line.startswith("----------"):
            if len(digits) != N_DIGITS or sum(digits) != DIGIT_SUM:
                process.send_signal(signal.SIGTERM)
                return ""
            count, digits = count + 1, []
        elif line == UNKNOWN:
            return None
        elif line.startswith("====="):
            return ""  # not in our time
        elif "nodes=" in line:
            nodes = line.strip().rpartition("=")[2]
    return f"{count} solutions, {nodes} nodes" if count else ""


def read_costs(process: subprocess.Popen[str]) -> str | None:
    """Reads the improving solutions; empty when one does not improve, or the search ends before its time."""
    costs, nodes = [], ""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("cost"):
            costs.append(int(line.split()[2].rstrip(";")))
        elif line == UNKNOWN:
            return None
        elif line.startswith("====="):
            return ""
        elif "nodes=" in line:
            nodes = line.strip().rpartition("=")[2]
    improving = all(later < earlier for earlier, later in zip(costs, costs[1:], strict=False))
    return f"{len(costs)} solutions down to {costs[-1]}, {nodes} nodes" if costs and improving else ""


def main() -> int:
    parser = argparse.ArgumentParser(description="A long run at full load, with its memory measured.")
    parser.add_argument("--seconds", type=float, default=3600, help="in all (default 3600)")
    parser.add_argument("--arch", choices=("cpu", "gpu", "hybrid"), default="cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of the CPU engine")
    arguments = parser.parse_args()
    threads = ["-p", str(arguments.threads)]
    results = [
        soak("stream", streaming_model(), arguments, "-a", *threads),
        soak("optimise", market_split_model(), arguments, "-i", "-f", *threads),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
