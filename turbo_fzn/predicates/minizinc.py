"""Prints MiniZinc's library, share/minizinc/turbo, from the table of predicates.

turbo_globals.mzn has the solver's predicates without a body; fzn_NAME.mzn and fzn_NAME_reif.mzn have the predicates of
the standard library, which call them; redefinitions.mzn and redefinitions-2.0.mzn declare builtins; turbo.mzn is for
models to include. nosets.mzn alone is not printed, but written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from turbo_fzn.predicates.globals import GLOBALS
from turbo_fzn.predicates.signature import PLAIN, REIFIED, Argument, Face, Predicate
from turbo_fzn.predicates.table import find

WIDTH = 120  # format: of a printed line
BY_HAND = {"nosets.mzn"}  # files of the library that are not printed
COMMAND = "python -m turbo_fzn.predicates --write"
PRINTED = f"% Printed by {COMMAND}; do not edit.\n"
TYPES = {
    "I": "var int", "B": "var bool", "F": "var float", "i": "int", "b": "bool", "f": "float", "s": "set of int",
}  # fmt: skip

GLOBALS_HEAD = """\
% The global constraints that the solver takes apart itself: predicates without a body, plain and reified.
%
% MiniZinc writes each call as one constraint, which keeps FlatZinc small and leaves the choice of a form to the solver,
% where sizes and bounds are known (turbo_fzn/lower/globals; what each means is turbo_fzn/check/meanings.py). Matrices
% are passed row by row, and the first index of an array where it matters.

function int: turbo_first(array [int] of var int: x) = if length(x) = 0 then 1 else min(index_set(x)) endif;
"""
ANNOTATIONS = """\
% Annotations that fzn-turbo has beside those of the standard library: include "turbo.mzn";
%
% Several objectives of a model that is to be satisfied, as in
%
%   solve :: lex_minimize([late, cost]) satisfy;

% The solution that is best in the first objective, of those the one that is best in the second, and so on.
annotation lex_minimize(array [int] of var int: objectives);
annotation lex_maximize(array [int] of var int: objectives);

% All solutions that no other one dominates: none is as good in all objectives and better in one.
annotation pareto_minimize(array [int] of var int: objectives);
annotation pareto_maximize(array [int] of var int: objectives);

% The standard library's neighbourhood, here with a first solution, as Gecode has it: each of the variables keeps its
% value in the best solution so far with a probability of so many per cent.
annotation relax_and_reconstruct(array [int] of var int: x, int: percentage, array [int] of int: first);
"""
# A line with only a name is replaced by its declaration.
BUILTINS = """\
% Builtins that the standard library would decompose, but the solver has: the greatest and the least of an array
% are trees of MAX and MIN rows.

bool_clause_reif

array_int_maximum
array_int_minimum
array_int_maximum_reif
array_int_minimum_reif

array_float_maximum
array_float_minimum
array_float_maximum_reif
array_float_minimum_reif
"""
REDEFINITIONS = """\
% What turbo does without, said in MiniZinc, so that no model reaches the solver with it.
%
% Set variables: nosets.mzn turns each of them into an array of Booleans, and the output model turns these back into
% a set, so that the solver never sees a set.
%
% Float variables need nothing here: the solver has every float builtin of FlatZinc.

include "nosets.mzn";

% Implications, which MiniZinc states where no other direction is needed. That of a set is of one that is known.

int_eq_imp
int_ne_imp
int_le_imp
int_lin_eq_imp
int_lin_ne_imp
int_lin_le_imp
set_in_imp
bool_eq_imp

% The truth values of builtins that the standard library only ever states, but in which models may call them, as
% `b <-> iffall(x)` does. Where a function is not defined its relation is false.

array_bool_and_reif
array_bool_or_reif
array_bool_xor_reif
bool2int_reif
bool_and_reif
bool_or_reif
bool_xor_reif
bool_lin_eq_reif
bool_lin_le_reif

int_abs_reif
int_plus_reif
int_times_reif
int_div_reif
int_mod_reif
int_min_reif
int_max_reif

array_bool_element_reif
array_int_element_reif
array_float_element_reif
array_var_bool_element_reif
array_var_int_element_reif
array_var_float_element_reif

int2float_reif
float_abs_reif
float_plus_reif
float_times_reif
float_min_reif
float_max_reif
"""


def library() -> dict[str, str]:
    """The text of each file of the library, by its name."""
    texts = {"turbo_globals.mzn": GLOBALS_HEAD + "".join(map(_both_forms, GLOBALS)), "turbo.mzn": ANNOTATIONS}
    for name, text in (("redefinitions-2.0.mzn", BUILTINS), ("redefinitions.mzn", REDEFINITIONS)):
        texts[name] = re.sub(r"^\w+$", lambda line: _declaration_of(line[0]), text, flags=re.MULTILINE)
    for predicate in GLOBALS:
        for one in predicate.faces:
            for suffix in (PLAIN, REIFIED):
                file = f"fzn_{one.file}{suffix}.mzn"
                text = texts.get(file, 'include "turbo_globals.mzn";\n')
                texts[file] = f"{text}\n{_face_of(predicate, one, suffix)}\n"
    return {file: PRINTED + text for file, text in texts.items()}


def _both_forms(predicate: Predicate) -> str:
    return f"\n{_signature_of(predicate, PLAIN)}\n{_signature_of(predicate, REIFIED)}\n"


def _declaration_of(name: str) -> str:
    """The declaration of a form of a builtin; the first form if several have this name."""
    form = find(name)
    assert form is not None, name
    return _signature_of(form.predicate, form.suffix)


def _signature_of(predicate: Predicate, suffix: str) -> str:
    """A predicate without a body. Matrices are arrays here."""
    kinds = [kind.replace("[[", "[").replace("]]", "]") for kind in predicate.kinds]
    parameters = [f"{_type_of(kind)}: {one.name}" for kind, one in zip(kinds, predicate.arguments)]
    return statement(predicate.name + suffix, [*parameters, *truth(predicate.arguments, suffix, "var bool: ")])


def _face_of(predicate: Predicate, one: Face, suffix: str) -> str:
    """A predicate of the standard library that calls a predicate of the solver."""
    changed = {argument.name: argument for argument in one.arguments}
    arguments = [changed.get(argument.name, argument) for argument in predicate.arguments]
    parameters = [f"{_type_of(argument.kind)}: {argument.name}" for argument in arguments if not argument.given]
    passed = [*map(_passed_as, arguments), *truth(predicate.arguments, suffix)]
    call = f"{predicate.name}{suffix}({', '.join(passed)})"
    return statement(f"fzn_{one.name}{suffix}", [*parameters, *truth(predicate.arguments, suffix, "var bool: ")], call)


def _passed_as(argument: Argument) -> str:
    """The expression for this argument in the call of the solver's predicate."""
    plain = f"array1d({argument.name})" if argument.kind.startswith("[[") else argument.name
    return argument.given or argument.passed or plain


def truth(arguments: Iterable[Argument], suffix: str, kind: str = "") -> Iterator[str]:
    """The truth value of a form that has one, under an unused name."""
    if suffix != PLAIN:
        yield f"{kind}{'bb' if 'b' in {argument.name for argument in arguments} else 'b'}"


def _type_of(kind: str) -> str:
    """The MiniZinc type of a kind of argument."""
    depth = len(kind) - len(kind.lstrip("["))
    plain = TYPES[kind.strip("[]")]
    return f"array [{', '.join(['int'] * depth)}] of {plain}" if depth else plain


def statement(name: str, parameters: list[str], call: str = "") -> str:
    """A declaration, whose body is a call or nothing, in lines of at most WIDTH characters."""
    head, body = f"predicate {name}({', '.join(parameters)})", f" = {call};" if call else ";"
    if len(head + body) <= WIDTH:
        return head + body
    if call and len(f"{head} =") <= WIDTH:
        return f"{head} =\n  {call};"
    return f"predicate {name}(\n{packed(parameters)}\n){body}"


def packed(parameters: list[str]) -> str:
    """The parameters on lines of at most WIDTH characters, none broken."""
    lines = [f"  {parameters[0]}"]
    for parameter in parameters[1:]:
        longer = f"{lines[-1]}, {parameter}"
        lines[-1:] = [longer] if len(longer) < WIDTH else [f"{lines[-1]},", f"  {parameter}"]
    return "\n".join(lines)
