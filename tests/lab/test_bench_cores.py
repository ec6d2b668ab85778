"""Both ways to explain that are compared find sets of which each is minimal."""

from random import Random

from lab.bench.cores import by_assumptions, draw, line


def test_what_is_assumed_in_one_model_is_refuted_and_with_one_less_it_is_not():
    _, implied = draw(Random(1), 8, 24)
    model = implied.model(arch="cpu")
    members, n_tests = by_assumptions(model, 24)
    assert members and n_tests > len(members)
    for left_out in (None, *members):
        assumed = {f"b[{member}]": True for member in members if member != left_out}
        assert (model.solve(assumed).status == "UNSATISFIABLE") == (left_out is None)


def test_a_line_has_the_sizes_of_both():
    cells = line(8, 24, 1).split(" | ")
    assert cells[0] == "| 24" and int(cells[2]) > 0 and int(cells[5]) > 0
