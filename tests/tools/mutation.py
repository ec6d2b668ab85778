"""What a mutation is; the list of them is mutations.py."""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    mechanism: str
    fault: str
    file: str
    text: str
    replacement: str
    tests: str


def kernel(mechanism: str, fault: str, file: str, text: str, replacement: str, tests: str) -> Mutation:
    return Mutation(mechanism, fault, f"kernels/{file}", text, replacement, tests)


def host(mechanism: str, fault: str, file: str, text: str, replacement: str, tests: str) -> Mutation:
    return Mutation(mechanism, fault, f"turbo_fzn/{file}", text, replacement, tests)
