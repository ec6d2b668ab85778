"""Damaged input: mutated, truncated, spliced, deeply nested, in endless lines, no UTF-8. The front end must say no.

A damaged text goes through a file, the parser, the lowering, and a short search if it is still a model. Allowed are
the errors of turbo_fzn/base/errors.py but `InternalError`, and correct solutions. Not allowed are any other exception,
more than SECONDS of processor time, and more than MEGABYTES of memory beyond what the process had.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

from fuzz.generate import draw_model
from fuzz.judge import Verdict
from lab.bench.front import peak_bytes
from support.flatzinc_text import with_text
from support.places import CORPUS
from turbo_fzn import solve_model
from turbo_fzn.base.errors import InternalError, TurboError
from turbo_fzn.read.languages import parse_file

SECONDS = 10
MEGABYTES = 1024
SEARCH_MILLISECONDS = 100
LONGEST_SEED = 20_000  # bytes of a text to begin with

NUMBERS = [
    *(b"0", b"-1", b"2", b"1000000", b"4611686018427387903", b"4611686018427387904", b"-9223372036854775808"),
    *(b"9223372036854775807", b"9223372036854775808", b"9" * 5000, b"0x7fffffffffffffff", b"0o17", b"0x", b"1e400"),
    *(b"1.5", b"-0.0", b"1..", b"1...2", b"- 1", b"--1", b"2147483648", b"-1073741824", b"true", b"{}", b"1..0"),
    *(b"-4611686018427387903..4611686018427387903", b"{-5,3,4611686018427387903}", b"{1.5}", b"[]", b"x", b'"s"'),
]  # fmt: skip
WORDS = [
    *(b"var", b"int", b"bool", b"float", b"set of", b"array [1..2] of", b"constraint", b"solve", b"satisfy"),
    *(b"minimize", b"maximize", b"predicate p(var int: x);", b"::", b":", b";", b",", b"=", b"..", b"(", b")", b"["),
    *(b"]", b"{", b"}", b'"', b"\\", b"%", b"\n", b"\r", b"\t", b" ", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80"),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"int_search", b"seq_search", b"output_array([1..1])", b"int_lin_eq"),
    *(b"int_pow", b"set_in", b"array_var_int_element", b"bool_clause_reif", b"int_times", b"int_div", b"_reif"),
    *(b"_imp", b"/* x */", b"any_ann(f(g(1,[2,{3}])))", b"a[1]"),
]  # fmt: skip


@cache
def seeds() -> list[bytes]:
    """Texts to begin with: the short examples."""
    texts = [path.read_bytes() for path in sorted(CORPUS.glob("*.fzn"))]
    return [text for text in texts if len(text) <= LONGEST_SEED]


def draw_text(random: Random) -> bytes:
    """A damaged text."""
    fresh = random.random() < 0.6
    text = with_text(draw_model(random)).text.encode() if fresh else random.choice(seeds())
    damages = [replace_number] if random.random() < 0.3 else DAMAGES  # numbers keep it a model more often than not
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        text = random.choice(damages)(random, text)
    return random.choice(LONG_DAMAGES)(random, text) if random.random() < 0.004 else text


def place_in(random: Random, text: bytes) -> int:
    return random.randint(0, len(text))


def span_in(random: Random, text: bytes, most: int = 60) -> tuple[int, int]:
    start = place_in(random, text)
    return start, min(len(text), start + random.randint(0, most))


def flip(random: Random, text: bytes) -> bytes:
    changed = bytearray(text)
    for _ in range(random.randint(1, 3)):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randint(0, 7)
    return bytes(changed)


def cut(random: Random, text: bytes) -> bytes:
    start, end = span_in(random, text)
    return text[:start] + text[end:]


def truncate(random: Random, text: bytes) -> bytes:
    return text[: place_in(random, text)]


def repeat(random: Random, text: bytes) -> bytes:
    start, end = span_in(random, text)
    return text[:end] + text[start:end] * random.choice((1, 1, 2, 100)) + text[end:]


def insert(random: Random, text: bytes) -> bytes:
    place = place_in(random, text)
    return text[:place] + random.choice(random.choice((WORDS, NUMBERS))) + text[place:]


def words_of(text: bytes) -> list[bytes]:
    """The text cut before each word, number and delimiter."""
    return re.findall(rb"[A-Za-z_0-9]+|-?\d+|\s+|[^\sA-Za-z_0-9]", text)


def replace_word(random: Random, text: bytes) -> bytes:
    words = words_of(text)
    if not words:
        return text
    for _ in range(random.randint(1, 3)):
        words[random.randrange(len(words))] = random.choice(random.choice((WORDS, NUMBERS, words)))
    return b"".join(words)


def replace_number(random: Random, text: bytes) -> bytes:
    words = words_of(text)
    places = [place for place, word in enumerate(words) if word.isdigit()]
    for _ in range(random.randint(1, 3)):
        if places:
            words[random.choice(places)] = random.choice(NUMBERS)
    return b"".join(words)


def swap_words(random: Random, text: bytes) -> bytes:
    words = words_of(text)
    if words:
        first, second = random.randrange(len(words)), random.randrange(len(words))
        words[first], words[second] = words[second], words[first]
    return b"".join(words)


def swap_lines(random: Random, text: bytes) -> bytes:
    lines = text.split(b"\n")
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def drop_line(random: Random, text: bytes) -> bytes:
    lines = text.split(b"\n")
    lines.pop(random.randrange(len(lines)))
    return b"\n".join(lines)


def splice(random: Random, text: bytes) -> bytes:
    other = random.choice(seeds())
    return text[: place_in(random, text)] + other[place_in(random, other) :]


def nest(random: Random, text: bytes) -> bytes:
    opening, closing = random.choice(((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"f(", b")"), (b"f([", b"])")))
    depth, place = random.choice((3, 99, 101, 5000)), place_in(random, text)
    inside = closing * depth if random.random() < 0.7 else b""
    return text[:place] + opening * depth + inside + text[place:]


def grow(random: Random, text: bytes) -> bytes:
    """A line of a megabyte or more."""
    start, end = span_in(random, text)
    part = text[start:end] or b"x"
    return text[:end] + part * (random.choice((1 << 20, 1 << 22)) // len(part)) + text[end:]


def bury(random: Random, text: bytes) -> bytes:
    place = place_in(random, text)
    part = random.choice(
        (b"(", b"[", b"{", b'"', b"\\", b" ", b"-", b"9", b"a", b"%", b"\xff", b"\n", b"::a", b",x", b"..1")
    )
    return text[:place] + part * ((1 << 20) // len(part)) + text[place:]


DAMAGES: list[Callable[[Random, bytes], bytes]] = [
    *(flip, cut, truncate, repeat, insert, insert, replace_word, replace_word, replace_number, replace_number),
    *(swap_words, swap_lines, drop_line, splice, nest),
]
LONG_DAMAGES: list[Callable[[Random, bytes], bytes]] = [grow, bury]


@cache
def scratch() -> Path:
    """This process's file for the texts, in memory where there is such a folder."""
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    handle, name = tempfile.mkstemp(prefix="damaged-", suffix=".fzn", dir=folder)
    os.close(handle)
    return Path(name)


def fresh_peak() -> int:
    """The peak of memory, begun anew where the kernel allows it: what ran in this process before is not the text's."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def judge_text(text: bytes) -> Verdict:
    """Reads and solves a text: solved, or refused by an error of ours; else a fault."""
    path = scratch()
    path.write_bytes(text)
    start, had = time.process_time(), fresh_peak()
    try:
        model = parse_file(str(path))
        solve_model(model, arch="cpu", check="always", n_solutions=3, time_limit=SEARCH_MILLISECONDS)
        kind, fault = "solved", ""
    except InternalError as error:
        kind, fault = "wrong", str(error)
    except TurboError as error:
        kind, fault = (
            "refused",
            "" if is_one_line(str(error)) else f"no message of one short line: {str(error)[:300]!r}",
        )
    except Exception as error:
        kind, fault = "crash", f"{type(error).__name__}: {str(error)[:300]}"
    finally:
        path.unlink()
    seconds, megabytes = time.process_time() - start, (peak_bytes() - had) >> 20
    if seconds > SECONDS:
        return Verdict("slow", f"{seconds:.0f} s of processor time for {len(text)} bytes")
    if megabytes > MEGABYTES:
        return Verdict("large", f"{megabytes} MiB after {len(text)} bytes")
    return Verdict(kind, fault)


def is_one_line(message: str) -> bool:
    return message.isprintable() and 0 < len(message) < 500
