"""A model that is ready for an engine, with the conversion of its solutions to the original FlatZinc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from turbo_fzn.read.model import Model
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.reconstruction import Reconstruction


@dataclass(eq=False, repr=False)
class Prepared:
    """A model ready for an engine. `model` is None for a .tnf file, which has no FlatZinc to check against.

    implications: pairs of literals (int32 [k, 2]), the first of which implies the second: twice a variable before
    simplification, plus its value."""

    tnf: TNF
    model: Model | None = None
    origin: Mapping[str, int] = field(default_factory=dict)
    reconstruction: Reconstruction | None = None
    times: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # before simplification, as statistics
    implications: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int32))
    started: float | None = None  # the start of the process, on the clock of time.monotonic

    def original(self, values: np.ndarray) -> np.ndarray:
        """The values of the variables before simplification, from the values (int64 [..., n]) of the TNF's
        variables."""
        return values if self.reconstruction is None else self.reconstruction.values(values)

    def name_of(self, variables: np.ndarray) -> str | None:
        """The name in the FlatZinc of one of these variables of the TNF (int64 [k]), or None: the first name that the
        modeller has declared, else a name that MiniZinc has introduced."""
        back, wanted = self.reconstruction, set(variables.tolist())
        names = sorted(self.origin, key=lambda name: name.startswith("X_INTRODUCED"))
        for name in names:
            number = self.origin[name]
            if (number if back is None else int(back.position[back.representative[number]])) in wanted:
                return name
        return None
