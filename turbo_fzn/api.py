@dataclass
class Result:
    """What `solve_text` returns. `status`: SATISFIED, ALL_SOLUTIONS (space exhausted, so an optimum is proved),
    UNSATISFIABLE or UNKNOWN. `solutions`: one dict a solution, output name -> bool, int or flat list."""

    status: str
    solutions: list[dict[str, object]]
    objective: int | None
    statistics: dict[str, Any]


def solve_text(text: str, **settings: Any) -> Result:
    """Solves FlatZinc given as text. `settings` are fields of `Options`; `check` may also be True or False.

    Raises the errors of errors.py.
    """
    from turbo_fzn.read.flatzinc import parse_text

    return solve_model(parse_text(text), **settings)


def solve_model(model: Model, **settings: Any) -> Result:
    """The same for a model that is parsed already."""
    if isinstance(settings.get("check"), bool):
        settings["check"] = "always" if settings["check"] else "never"
    unknown = settings.keys() - {option.name for option in fields(Options)}
    if unknown:
        raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
    options = Options(**settings)
    interrupt = Interrupt(deadline(options.time_limit, time.monotonic()))
    solutions: list[dict[str, object]] = []
    objective, finished = None, None
    try:
        for event in search(prepare(model, options, interrupt), options, interrupt):
            if isinstance(event, Finished):
                finished = event
            else:
                solutions.append({item.name: value_of(item, values) for item, values in event.outputs})
                objective = event.objective
    except Interrupted:
        return Result("UNKNOWN", [], None, {})
    assert finished is not None, "the last event"
    return Result(status_of(finished), solutions, objective, finished.statistics)
