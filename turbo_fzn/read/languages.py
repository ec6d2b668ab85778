"""The input languages: which reader makes a Model of which file, by the end of its name.

Without a known suffix, as with standard input, FlatZinc-JSON begins with `{` and XCSP3 with `<`, and FlatZinc with
neither. Another language needs a reader, and a row of LANGUAGES; all later stages are unchanged, and --help and the
manual page take its name from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError, UsageError
from turbo_fzn.read.files import read_text, shown, suffix_of
from turbo_fzn.read.model import Model
from turbo_fzn.read.tuning import TUNING

Reader = Callable[[str, str], Model]  # arguments: the text, and the file's name for messages


def parse_file(path: str, name: str = "") -> Model:
    """The model in a file, which messages call by its path or another name. Raises UsageError if it cannot be read,
    ModelError if it is no model."""
    return parse_named(read_text(path), name or path)


def parse_named(text: str, path: str = "") -> Model:
    """The model in a text, read like a file of that name. Raises UsageError and ModelError as `parse_file`, and
    TypeError if it is no text."""
    if not isinstance(text, str):
        raise TypeError(f"a model is a text (str), not {type(text).__name__}")
    first = text[: TUNING.head_characters].lstrip("\ufeff \t\r\n")[:1]
    language = LANGUAGES.get(suffix_of(path))
    read = language.read if language else BY_FIRST_CHARACTER.get(first, _read_flatzinc)
    return read(text, shown(path))


def known() -> str:
    """The languages that are read, for --help: "a FlatZinc model (.fzn), ..."."""
    return ", ".join(f"{language.name} ({suffix})" for suffix, language in LANGUAGES.items() if language.name)


def _read_flatzinc(text: str, file: str) -> Model:
    from turbo_fzn.read.flatzinc import parse_text

    try:
        return parse_text(text, file)
    except UnsupportedError:
        raise
    except ModelError as error:
        if not _is_minizinc(text):
            raise
        said = f"{error.message}: this is MiniZinc and not FlatZinc; type: minizinc --solver turbo MODEL.mzn"
        raise ModelError(said, error.file, error.line, error.column) from None


def _is_minizinc(text: str) -> bool:
    """Whether an item of the text, which is no FlatZinc, is an item of MiniZinc."""
    return re.search(MINIZINC, text[: TUNING.minizinc_characters], re.VERBOSE | re.MULTILINE) is not None


def _read_flatzinc_json(text: str, file: str) -> Model:
    from turbo_fzn.read.flatzinc_json import parse_json

    return parse_json(text, file)


def _refuse_minizinc(text: str, file: str) -> Model:
    raise UsageError(f"this is MiniZinc and not FlatZinc; type: minizinc --solver turbo {file}", file)


def _refuse_data(text: str, file: str) -> Model:
    raise UsageError(f"this is data of a MiniZinc model; type: minizinc --solver turbo MODEL.mzn {file}", file)


def _read_xcsp3(text: str, file: str) -> Model:
    """Reads an XCSP3 instance. Fixes variables that nothing names: solutions differ in constrained variables only."""
    from turbo_fzn.read.xcsp3.reader import parse_xcsp3

    model = parse_xcsp3(text, file)
    for name in model.unnamed:
        variable = model.variables[name]
        if isinstance(variable.domain, IntSet):
            variable.domain = IntSet.interval(variable.domain.lower, variable.domain.lower)
    return model


class _Language(NamedTuple):
    read: Reader
    name: str = ""  # the name of a file's contents; "" for languages that are refused


# Items that MiniZinc has and FlatZinc has not: operators, bounds with names, parameters without a value, …
MINIZINC = r"""(?:^|;)\s*(?:
        include\s*" | output\s*[\["] | enum\s+\w | (?:function|test)\s
      | (?:par\s+)?(?:set\s+of\s+)?(?:int|bool|float)\s*:\s*\w+\s*;
      | (?:var\s+)?[^:;"%\n]{0,40}\.\.\s*[A-Za-z_][^:;"%\n]{0,40}:
      | array\s*\[(?!\s*(?:1\s*\.\.\s*\d+|int)\s*\])
      | constraint\s+(?:(?!\s|\w+\s*\()|(?:forall|exists|sum|if|not)\b)
      | solve\s+(?:minimize|maximize)\s+[\w\]]+\s*[-+*/(]
    )"""
BY_FIRST_CHARACTER: dict[str, Reader] = {"{": _read_flatzinc_json, "<": _read_xcsp3}
# All other names are FlatZinc: MiniZinc may give any name to its files.
LANGUAGES = {
    ".fzn": _Language(_read_flatzinc, "a FlatZinc model"),
    ".json": _Language(_read_flatzinc_json, "one in FlatZinc-JSON"),
    ".xml": _Language(_read_xcsp3, "an XCSP3 instance"),
    ".mzn": _Language(_refuse_minizinc),
    ".dzn": _Language(_refuse_data),
}
