"""The members of a team (team.py): a required engine, an engine that may fail, and an engine that joins later."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import TypeVar

from turbo_fzn.engine.contract import Engine, Found, Roots
from turbo_fzn.engine.together.maker import Maker, describe

log = logging.getLogger("turbo_fzn")
T = TypeVar("T")


class Member:
    """An engine that works from the start; its errors are raised to the caller."""

    def __init__(self, engine: Engine | None):
        self.engine = engine  # None while it is not at work
        self.roots: Roots | None = None  # root bounds that it has proved and that were not passed on yet

    def ask(self, ask: Callable[[Engine], T], otherwise: T) -> T:
        """The result of `ask` on the engine, or `otherwise` if the engine is not at work."""
        return otherwise if self.engine is None else ask(self.engine)

    def tighten(self, roots: Roots) -> None:
        self.ask(lambda engine: engine.tighten(roots), None)

    def take(self) -> list[Found]:
        """The solutions that have arrived."""
        return self.ask(lambda engine: engine.poll(), list[Found]())

    def close(self) -> None:
        if self.engine is not None:
            self.engine.close()


class Dispensable(Member):
    """A member whose failure ends its own work only."""

    def __init__(self, engine: Engine | None):
        super().__init__(engine)
        self.failure: Exception | None = None
        self.failed: Engine | None = None
        self.left: list[Found] = []  # solutions found before the failure

    def ask(self, ask: Callable[[Engine], T], otherwise: T) -> T:
        """The result of `ask`, or `otherwise`; an exception ends the member with a warning."""
        engine = self.engine
        try:
            return super().ask(ask, otherwise)
        except Exception as error:
            assert engine is not None
            self.engine, self.failed, self.failure = None, engine, error
            with contextlib.suppress(Exception):
                self.left = engine.poll()
            told = engine.name.upper(), describe(error)
            log.warning("the %s engine has failed, the search goes on without it: %s", *told)
            return otherwise

    def take(self) -> list[Found]:
        found = super().take()
        left, self.left = self.left, []
        return [*found, *left]

    def close(self) -> None:
        """Closes the engine, also after a failure; an error is only logged."""
        engine = self.engine or self.failed
        try:
            if engine is not None:
                engine.close()
        except Exception as error:
            log.info("the %s engine cannot be closed: %s", engine and engine.name, describe(error))


class Joining(Dispensable):
    """A member whose engine is made beside the search, and begins to work when it is ready."""

    def __init__(self, make: Callable[[], Engine]):
        super().__init__(None)
        self.maker = Maker(make)
        self.joined: float | None = None  # seconds of search before it began to work

    @property
    def is_expected(self) -> bool:
        """Whether the engine may still begin to work."""
        return self.joined is None and self.maker.expected

    def close(self) -> None:
        """Closes the engine, without waiting for an engine that is still being made."""
        self.maker.abandon()
