"""The mutations of proofs: of the encoding, of what refutes bounds, of the checker. See mutations.py."""

from __future__ import annotations

from tools.mutation import host

CHECKER, ENCODING, REFUTATION = "proof/checker.py", "proof/encoding.py", "proof/refutation.py"

PROOFS = [
    host("proofs", "whatever is claimed follows by unit propagation", CHECKER,
         "if not Assignment().fails(used):", "if False:", "test_checker.py"),
    host("proofs", "the objective may be substituted", CHECKER,
         "aims = {literal >> 1 for _, literal in self.objective or ()}", "aims = set()",
         "test_checker.py"),
    host("proofs", "a witness may break other constraints", CHECKER,
         "for goal in (one, *touched):", "for goal in (one,):", "test_checker.py"),
    host("proofs", "a bound may lie beyond the best solution", CHECKER,
         "if self.best is not None and (lower is None or lower > self.best):", "if False:", "test_checker.py"),
    host("proofs", "division rounds down", CHECKER,
         "-(-one.degree // right))", "one.degree // right + 2)", "test_checker.py"),
    host("proofs", "a solution need not satisfy the formula", CHECKER,
         "if found.fails(everything) or not all(map(found.satisfies, everything)):", "if False:", "test_checker.py"),
    host("proofs", "a comparison says nothing where it is false", ENCODING,
         "above = self.require([(self.y, 1), (self.z, -1)], 1, fails)",
         "above = self.require([(self.y, 1), (self.z, -1)], -99, fails)", "test_encoding.py"),
    host("proofs", "a quotient of negative numbers is that of their sizes", ENCODING,
         "low = quotient * size if quotient > 0 else quotient * size - size + 1", "low = quotient * size",
         "test_encoding.py"),
    host("proofs", "a bit in a term and in a condition is two", ENCODING,
         "return {v: k for v, k in low.items() if k == high[v]}", "return {}", "test_encoding.py"),
    host("proofs", "one case is enough", REFUTATION,
         "        if found is None:\n            return None\n        parts.append(found)",
         "        if found is not None:\n            parts.append(found)", "test_encoding.py"),
    host("proofs", "the bounds need not be assumed", REFUTATION,
         "        if gap < short:  #", "        if True:  #", "test_encoding.py"),
]  # fmt: skip
