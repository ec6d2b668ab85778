"""CPU engines whose blocks meet in an order that the test decides, so that no answer depends on which thread is first.

A block that is alone runs by itself, among as many as the settings say. Blocks are held by a ring that nobody empties:
who has the root waits for room, until all others wait for work. What the blocks share lies open (`common`, `memory`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np

from support.command import wait_until
from turbo_fzn.engine.abi.abi import METHODS, STATISTICS, MethodBook
from turbo_fzn.engine.contract import Engine, Found
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.hybrid import HybridEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.answer.outcome import SearchEvent
from turbo_fzn.run.arrangement import arranged
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.search import Search

MOST_FOUND = 1_000_000  # solutions; no test has so many


def search(prepared: Prepared, options: Options, interrupt: Interrupt) -> Iterator[SearchEvent]:
    """Solves a prepared model, and gives back what that holds."""
    with closing(Search(arranged(prepared), options, interrupt)) as begun:
        yield from begun.events()


def make_engine(name: str, prepared: Prepared, settings: Settings) -> Engine:
    """The engine of that name, as --arch and the fixture `engine` have it, for all variables."""
    exports = np.arange(prepared.tnf.n_vars, dtype=np.int32)
    if name == "gpu":
        from turbo_fzn.engine.cuda.gpu import GpuEngine

        return GpuEngine(prepared.tnf, exports, settings)
    if name == "hybrid":
        return HybridEngine(prepared.tnf, exports, settings)
    return CpuEngine(prepared.tnf, exports, settings)


def drain(engine: Engine, pause: float = 0.0, enough: Callable[[], object] = lambda: False) -> list[Found]:
    """The solutions found until there are enough or the last block has left, polled with a pause each time."""
    found: list[Found] = []

    def is_over() -> bool:
        time.sleep(pause)
        over = not engine.running or bool(enough())  # before the look, or what is found in between is missed
        found.extend(engine.poll())
        assert len(found) < MOST_FOUND
        return over

    wait_until(is_over)
    return found


class OpenEngine(CpuEngine):
    """For a FlatZinc text; its solutions have the values of all variables. `settings` are those of layout.Settings;
    every second learner has fused rows where they do not say so."""

    def __init__(self, text: str, simplify: bool = True, **settings: object):
        options = Options(arch="cpu", simplify=simplify)
        self.prepared = prepare(parse_text(text), options, Interrupt())
        if settings.get("fused"):
            self.prepared = arranged(self.prepared)
        exports = np.arange(self.prepared.tnf.n_vars, dtype=np.int32)
        by_turns = tuple(number % 2 == 0 for number in range(len(settings.get("roles", ()))))
        super().__init__(self.prepared.tnf, exports, Settings(**{"fuses": by_turns, **settings}))

    def place(self, name: str) -> int:
        """The variable of the engine that stands for one of the model, where nothing was simplified away."""
        assert self.prepared.reconstruction is None
        return self.prepared.origin[name]

    def search_until(self, enough: Callable[[], object]) -> list[Found]:
        """See `drain`; then the engine is closed. A block takes its place in the ring before it writes to it: what was
        on its way by then is waited for."""
        found = drain(self, enough=enough)
        under_way = self.common.ring_head
        wait_until(lambda: found.extend(self.poll()) or self.ring.taken >= under_way)
        self.close()
        return found

    def run(self) -> list[Found]:
        """All that is found, by all blocks. No engine is asked where the presolve has found that there is nothing."""
        if self.prepared.tnf.infeasible:
            self.close()
            return []
        self.start()
        return self.search_until(lambda: False)

    def run_alone(
        self, block: int = 0, enough: Callable[[], object] = lambda: False, incumbent: Found | None = None
    ) -> list[Found]:
        """Only this block takes part."""
        self.threads = [self.threads[block]]
        self.start(incumbent)
        return self.search_until(enough)

    def run_held(self) -> list[Found]:
        """The ring is emptied as soon as all blocks but one wait for work, and that one waits for room in the ring."""
        self.start()
        wait_until(lambda: self.common.pool_head == len(self.threads))
        return self.search_until(lambda: False)

    def counted(self, name: str) -> list[int]:
        """A statistic (one of abi.STATISTICS) of each block; after the end."""
        return self.blocks_statistics[:, STATISTICS.index(name)].tolist()

    def book(self, method: str) -> MethodBook:
        """The time and improvements of a method, which may be read and written at any time."""
        row = self.books[METHODS.index(method)]
        return MethodBook.from_buffer(row.view(np.uint8))


def labelled(domains: dict[str, str], more: str = "", goal: str = "satisfy", how: str = "indomain_min") -> str:
    """FlatZinc over variables that are shown and labelled in their order; `more`: other variables, then constraints."""
    variables = "".join(f"var {domain}: {name} :: output_var;\n" for name, domain in domains.items())
    return f"{variables}{more}solve :: int_search([{','.join(domains)}],input_order,{how},complete) {goal};\n"
