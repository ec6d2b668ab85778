"""CPMpy with turbo_fzn in the same process: a roster for a week, and why a wish too many leaves none.

pip install 'turbo_fzn[cpmpy]'
python examples/cpmpy_rostering.py
"""

import cpmpy as cp
from cpmpy.tools.explain import mus

import turbo_fzn.cpmpy

turbo_fzn.cpmpy.register()

NURSES, DAYS, ALBA = 4, 7, 0
OFF, DAY, NIGHT = 0, 1, 2

shift = cp.intvar(OFF, NIGHT, shape=(NURSES, DAYS), name="shift")
rules = [cp.GlobalCardinalityCount(shift[:, day], [DAY, NIGHT], [2, 1]) for day in range(DAYS)]
for nurse in range(NURSES):
    rules += [(shift[nurse, day] == NIGHT).implies(shift[nurse, day + 1] != DAY) for day in range(DAYS - 1)]
    rules.append(cp.Count(shift[nurse], OFF) >= 1)
nights = [cp.Count(shift[nurse], NIGHT) for nurse in range(NURSES)]

model = cp.Model(rules, minimize=cp.max(nights) - cp.min(nights))
print(model.solve(solver="turbo"), model.status().exitstatus, model.objective_value())
print(shift.value())

wishes = [shift[nurse, 5] == OFF for nurse in range(NURSES)] + [shift[ALBA, 0] == DAY]
print(mus(wishes, rules, solver="turbo"))
