"""Make a failing model small: try every smaller neighbour, keep the first that still fails, until none does.

(Delta debugging, Zeller and Hildebrandt 2002, with moves that know FlatZinc.)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, combinations

from turbo_fzn.base.domains import IntSet
from turbo_fzn.predicates.globals import PREFIX
from turbo_fzn.predicates.table import find
from turbo_fzn.read.model import Call, Constraint, Goal, Model, Ref

MOST_TRIALS = 3000


def shrink(model: Model, fails: Callable[[Model], bool]) -> Model:
    """The smallest model found that `fails`."""
    trials = 0
    progress = True
    while progress:
        progress = False
        for smaller in neighbours(model):
            trials += 1
            if trials > MOST_TRIALS:
                return model
            if fails(smaller):
                model, progress = smaller, True
                break
    return model


def neighbours(model: Model) -> Iterator[Model]:
    """Models that are smaller by one step, the larger steps first. The sizes of arguments fit together in all."""
    every = chain(
        without_constraints(model),
        without_names(model),
        with_simpler_goal(model),
        with_smaller_domains(model),
        with_simpler_globals(model),
        with_simpler_arguments(model),
        with_fewer_shown(model),
    )
    return (smaller for smaller in every if all(sizes_fit(smaller, item) for item in smaller.constraints))


def sizes_fit(model: Model, item: Constraint) -> bool:
    form = find(item.name, len(item.args))
    if form is None or form.predicate.fits is None:
        return True
    return form.predicate.fits(*(known(model, argument) for argument in item.args))


def base_of(item: Constraint) -> str:
    return item.name.removesuffix("_reif").removesuffix("_imp")


def known(model: Model, argument: object) -> object:
    """The elements of an array with a name, the value of a parameter, and else the argument itself."""
    if isinstance(argument, Ref) and argument in model.arrays:
        return model.arrays[argument].elements
    return model.parameters.get(argument, argument) if isinstance(argument, Ref) else argument


def edited(model: Model, edit: Callable[[Model], object]) -> Model:
    smaller = copy.deepcopy(model)
    smaller.text = ""
    edit(smaller)
    return smaller


def without_constraints(model: Model) -> Iterator[Model]:
    for number in reversed(range(len(model.constraints))):
        yield edited(model, lambda m, number=number: m.constraints.pop(number))


def without_names(model: Model) -> Iterator[Model]:
    """Without a variable, array or parameter that nothing uses."""
    used = set(words_of(model))
    for group in ("variables", "arrays", "parameters"):
        for name in getattr(model, group):
            if name not in used and len(model.variables) > (group == "variables"):
                yield edited(model, lambda m, group=group, name=name: getattr(m, group).pop(name))


def words_of(model: Model) -> Iterator[str]:
    def walk(value: object) -> Iterator[str]:
        if isinstance(value, Ref):
            yield str(value)
        elif isinstance(value, (list, tuple)) and not isinstance(value, str):
            for element in value:
                yield from walk(element)
                if isinstance(element, str):
                    yield str(element)

    assert model.goal is not None
    yield from walk([item.args for item in model.constraints])
    yield from walk([array.elements for array in model.arrays.values()])
    yield from walk([variable.value for variable in model.variables.values()])
    yield from walk([model.goal.objective, model.goal.annotations])


def with_simpler_goal(model: Model) -> Iterator[Model]:
    goal = model.goal
    assert goal is not None
    if goal.annotations:
        yield edited(model, lambda m: setattr(m.goal, "annotations", []))
        for number in range(len(goal.annotations)):
            yield edited(model, lambda m, number=number: m.goal.annotations.pop(number))
            annotation = goal.annotations[number]
            if isinstance(annotation, Call) and annotation.name == "seq_search":
                yield edited(model, lambda m, inner=annotation.args[0]: setattr(m.goal, "annotations", list(inner)))
            elif isinstance(annotation, Call) and isinstance(annotation.args[0], list):
                for place in range(len(annotation.args[0])):
                    yield edited(
                        model, lambda m, number=number, place=place: m.goal.annotations[number].args[0].pop(place)
                    )
    if goal.method != "satisfy":
        yield edited(model, lambda m: setattr(m, "goal", Goal("satisfy", None, m.goal.annotations, 0)))


def with_smaller_domains(model: Model) -> Iterator[Model]:
    for group in ("variables", "arrays"):
        for name, item in getattr(model, group).items():
            for domain in smaller_domains(item.domain, optional=group == "arrays"):
                yield edited(
                    model,
                    lambda m, group=group, name=name, domain=domain: setattr(getattr(m, group)[name], "domain", domain),
                )


def smaller_domains(domain: IntSet | None, optional: bool) -> Iterator[IntSet | None]:
    if not isinstance(domain, IntSet) or not domain:
        return
    if optional:
        yield None
    if domain.size > 1 and len(domain.ranges) == 1:
        middle = (domain.lower + domain.upper) // 2
        yield IntSet.interval(domain.lower, middle)
        yield IntSet.interval(middle + 1, domain.upper)
        yield IntSet.interval(domain.lower, domain.upper - 1)
        yield IntSet.interval(domain.lower + 1, domain.upper)
    elif domain.size > 1:
        for value in domain:
            yield IntSet.of_values(other for other in domain if other != value)
    for near in (0, 1):
        if domain.size == 1 and abs(domain.lower) > near:
            yield IntSet.interval(near, near)


def with_simpler_globals(model: Model) -> Iterator[Model]:
    """Plain forms, arrays in place, and the same elements taken from all arrays that have the same size."""
    for number, item in enumerate(model.constraints):
        if not item.name.startswith(PREFIX):
            continue
        if item.name.endswith("_reif"):
            yield edited(model, lambda m, n=number, i=item: replace_item(m, n, base_of(i), i.args[:-1]))
        places = [place for place, argument in enumerate(item.args) if isinstance(known(model, argument), list)]
        arguments = [known(model, argument) for argument in item.args]
        if any(isinstance(item.args[place], Ref) for place in places):
            yield edited(model, lambda m, n=number, i=item, a=arguments: replace_item(m, n, i.name, list(a)))
        for group in alike(arguments, places):
            for element in range(len(arguments[group[0]])):
                fewer = [
                    [*argument[:element], *argument[element + 1 :]] if place in group else argument
                    for place, argument in enumerate(arguments)
                ]
                yield edited(model, lambda m, n=number, i=item, a=fewer: replace_item(m, n, i.name, list(a)))


def alike(arguments: list, places: list[int]) -> Iterator[list[int]]:
    """The places of at least two arrays with one size."""
    for size in {len(arguments[place]) for place in places}:
        group = [place for place in places if len(arguments[place]) == size]
        yield from (list(chosen) for n in range(len(group), 1, -1) for chosen in combinations(group, n))


def replace_item(model: Model, number: int, name: str, arguments: list) -> None:
    model.constraints[number] = model.constraints[number]._replace(name=name, args=arguments)


def with_simpler_arguments(model: Model) -> Iterator[Model]:
    for number, item in enumerate(model.constraints):
        for place, argument in enumerate(item.args):
            for simpler in simpler_values(argument, model):
                yield edited(model, lambda m, n=number, p=place, v=simpler: replace_argument(m, n, p, v))
        if (
            len(item.args) > 1
            and all(isinstance(argument, list) for argument in item.args[:2])
            and "_lin_" in item.name
        ):
            for place in range(len(item.args[0])):
                yield edited(model, lambda m, n=number, p=place: [m.constraints[n].args[k].pop(p) for k in (0, 1)])
    for name, array in model.arrays.items():
        for simpler in simpler_values(array.elements, model):
            yield edited(model, lambda m, name=name, v=simpler: set_elements(m, name, v))
    for name, variable in model.variables.items():
        if variable.value is not None:
            yield edited(model, lambda m, name=name: setattr(m.variables[name], "value", None))


def replace_argument(model: Model, number: int, place: int, value: object) -> None:
    item = model.constraints[number]
    model.constraints[number] = item._replace(args=[*item.args[:place], value, *item.args[place + 1 :]])


def set_elements(model: Model, name: str, elements: list) -> None:
    array = model.arrays[name]
    shown = [Call("output_array", [[IntSet.interval(1, len(elements))]])] if array.annotations else []
    model.arrays[name] = replace(array, elements=elements, annotations=shown)


def simpler_values(value: object, model: Model) -> Iterator[object]:
    if isinstance(value, list):
        for place in range(len(value)):
            yield value[:place] + value[place + 1 :]
            for simpler in simpler_values(value[place], model):
                yield [*value[:place], simpler, *value[place + 1 :]]
    elif isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, int):
        for smaller in (0, 1, -1, value // 2, value + 1, value - 1):
            if abs(smaller) < abs(value) or (smaller == 1 and value == -1):
                yield smaller
    elif isinstance(value, Ref) and value in model.arrays:
        yield list(model.arrays[value].elements)
    elif isinstance(value, Ref) and value in model.parameters:
        yield model.parameters[value]
    elif isinstance(value, Ref):
        variable = model.variables[value]
        if variable.kind == "bool":
            yield from (False, True)
        elif isinstance(variable.domain, IntSet) and variable.domain:
            yield variable.domain.lower
            if variable.domain.size > 1:
                yield variable.domain.upper


def with_fewer_shown(model: Model) -> Iterator[Model]:
    for group in ("variables", "arrays"):
        for name, item in getattr(model, group).items():
            if item.annotations:
                yield edited(
                    model, lambda m, group=group, name=name: setattr(getattr(m, group)[name], "annotations", [])
                )
