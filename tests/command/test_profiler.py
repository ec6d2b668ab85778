"""The search tree as the profiler gets it: a small server takes the messages and builds the tree from them."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import Counter
from typing import NamedTuple

import pytest

from support.command import (
    LEAST_SUM,
    NO_SOLUTION_BY_SEARCH,
    PATIENCE,
    ends_soon,
    golomb,
    grid,
    run,
    time_limits,
    value,
    write,
)
from support.warm import ask

SOLVED, FAILED, BRANCH, SKIPPED = range(4)
ROOT = (-1, -1, -1)
NODE, DONE, START, RESTART = range(4)
KNAPSACK = """\
var 0..3: apples :: output_var;
var 0..4: pears :: output_var;
var 0..99: worth :: output_var :: is_defined_var;
constraint int_lin_le([2,3],[apples,pears],9);
constraint int_lin_eq([5,7,-1],[apples,pears,worth],0) :: defines_var(worth);
solve :: int_search([apples,pears],input_order,indomain_split,complete) maximize worth;
"""


class Node(NamedTuple):
    parent: tuple[int, int, int]
    alternative: int
    children: int
    status: int
    label: str


class Server:
    """Listens on a port of its own; `limit` bytes are read before it leaves, all if None."""

    def __init__(self, limit: int | None = None):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.limit = limit
        self.data = b""
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self) -> None:
        connection, _ = self.socket.accept()
        with connection:
            while self.limit is None or len(self.data) < self.limit:
                received = connection.recv(65536)
                if not received:
                    return
                self.data += received

    def messages(self) -> list[tuple[int, bytes]]:
        """(type, rest) of each."""
        self.thread.join(timeout=PATIENCE)
        assert not self.thread.is_alive()
        self.socket.close()
        found, place = [], 0
        while place < len(self.data):
            (size,) = struct.unpack_from(">i", self.data, place)
            body = self.data[place + 4 : place + 4 + size]
            assert len(body) == size > 0
            found.append((body[0], body[1:]))
            place += 4 + size
        return found


def fields(data: bytes) -> dict[int, str]:
    """The optional fields behind the fixed part: number -> text."""
    found, place = {}, 0
    while place < len(data):
        field, size = struct.unpack_from(">Bi", data, place)
        found[field] = data[place + 5 : place + 5 + size].decode()
        place += 5 + size
    return found


def read_node(data: bytes) -> tuple[tuple[int, int, int], Node]:
    *numbers, status = struct.unpack_from(">8iB", data)
    return tuple(numbers[:3]), Node(tuple(numbers[3:6]), *numbers[6:], status, fields(data[33:]).get(0, ""))


class Tree:
    """What the messages say, after a look at whether they make trees."""

    def __init__(self, messages: list[tuple[int, bytes]]):
        kinds = [kind for kind, _ in messages]
        assert kinds[0] == START and kinds[-1] == DONE and kinds.count(START) == kinds.count(DONE) == 1
        self.about = json.loads(fields(messages[0][1])[2])
        self.restarts = kinds.count(RESTART)
        self.nodes: dict[tuple[int, int, int], Node] = {}
        for kind, data in messages:
            if kind == NODE:
                name, node = read_node(data)
                assert name not in self.nodes, "a node comes once"
                assert node.parent == ROOT or node.parent in self.nodes, "a parent comes before its children"
                self.nodes[name] = node
        self.counts = Counter(node.status for node in self.nodes.values())

    def check_shape(self) -> None:
        """Each branch has all of its children, each in a place of its own; leaves have none."""
        places: dict[tuple, set] = {}
        for node in self.nodes.values():
            if node.parent != ROOT:
                assert node.alternative not in places.setdefault(node.parent, set())
                places[node.parent].add(node.alternative)
        for name, node in self.nodes.items():
            assert (node.children > 1) == (node.status == BRANCH)
            assert places.get(name, set()) == set(range(node.children))

    @property
    def roots(self) -> int:
        return sum(node.parent == ROOT for node in self.nodes.values())


def profile(path, *flags: object):
    server = Server()
    answer = ask("--cp-profiler", f"77,{server.port}", "-s", *flags, path)
    assert (answer.code, answer.errors) == (0, "")
    return answer, Tree(server.messages())


@pytest.mark.slow
@pytest.mark.covers("F15", "V1", "V2", "V3")
@pytest.mark.parametrize(
    ("model", "flags"),
    [(grid(4), ["-a"]), (NO_SOLUTION_BY_SEARCH, []), (KNAPSACK, ["-i"]), (golomb(6), [])],
    ids=["all", "none", "greatest", "golomb"],
)
@pytest.mark.parametrize("simplify", [[], ["--no-simplify"]], ids=["simple", "plain"])
def test_the_nodes_make_the_tree_that_was_counted(tmp_path, model, flags, simplify):
    answer, tree = profile(write(tmp_path, model), *flags, *simplify)
    assert tree.about == {"has_restarts": False, "name": "model.fzn", "execution_id": 77}
    tree.check_shape()
    assert tree.roots == 1 and tree.restarts == 0
    assert tree.counts[SKIPPED] == 0
    assert len(tree.nodes) == int(answer.statistics["nodes"])
    assert tree.counts[FAILED] == int(answer.statistics["failures"])
    if "-a" in flags:
        assert tree.counts[SOLVED] == len(answer.solutions) == 36
    assert answer.statistics["engine"] == '"cpu"' and answer.statistics["blocks"] == "1"


@pytest.mark.covers("V2")
def test_a_search_that_ends_early_leaves_places_without_a_node(tmp_path):
    """The first solution meets the bound of the objective: nothing else is looked at."""
    answer, tree = profile(write(tmp_path, "var 0..9: x :: output_var;\nvar 0..1: y;\nsolve minimize x;\n"))
    assert answer.markers == ["=========="]
    assert tree.roots == tree.counts[SOLVED] == 1
    assert len(tree.nodes) <= int(answer.statistics["nodes"]) <= len(tree.nodes) + 1
    assert sum(node.children for node in tree.nodes.values()) >= len(tree.nodes) - 1


@pytest.mark.covers("V3")
def test_labels_name_the_variables_of_the_model_and_lead_to_the_solutions(tmp_path):
    answer, tree = profile(write(tmp_path, KNAPSACK), "-i")
    labels = {node.label for node in tree.nodes.values() if node.parent != ROOT}
    assert all(label.startswith(("apples", "pears")) for label in labels), labels
    name, node = [pair for pair in tree.nodes.items() if pair[1].status == SOLVED][-1]
    path = []
    while node.parent != ROOT:
        path.append(node.label)
        node = tree.nodes[node.parent]
    for label in path:
        variable, _, decided = label.replace(" in ", "=").partition("=")
        low, _, high = decided.partition("..")
        assert int(low) <= value(answer, variable) <= int(high or low), label


@pytest.mark.covers("V4")
def test_what_prints_nothing_new_is_skipped(tmp_path):
    text = "var 1..2: shown :: output_var;\nvar 1..9: hidden;\nvar 1..9: other;\nconstraint int_ne(hidden,other);\n"
    search = "int_search([shown,hidden,other],input_order,indomain_min,complete)"
    answer, tree = profile(write(tmp_path, f"{text}solve :: {search} satisfy;\n"), "-a")
    tree.check_shape()
    assert len(answer.solutions) == tree.counts[SOLVED] == 2
    assert tree.counts[SKIPPED] > 0
    assert len(tree.nodes) - tree.counts[SKIPPED] == int(answer.statistics["nodes"])


@pytest.mark.covers("V4")
@pytest.mark.parametrize("flags", [["-a-o"], []], ids=["optimal", "warm start"])
def test_a_second_tree_is_a_restart(tmp_path, flags):
    model = KNAPSACK if flags else KNAPSACK.replace("solve ::", "solve :: warm_start([apples],[2]) ::")
    answer, tree = profile(write(tmp_path, model), *flags)
    assert tree.about["has_restarts"] is True
    assert (tree.roots, tree.restarts) == (2, 1)
    assert {name[1] for name in tree.nodes} == {0, 1}
    tree.check_shape()
    assert len(tree.nodes) == int(answer.statistics["nodes"])


@pytest.mark.covers("V5")
def test_without_a_profiler_the_model_is_solved_with_a_warning(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    answer = ask("--cp-profiler", f"1,{port}", write(tmp_path, LEAST_SUM))
    assert (answer.code, value(answer, "z"), answer.markers) == (0, 7, ["=========="])
    assert answer.errors.count("\n") == 1 and f"no profiler on port {port}" in answer.errors


@pytest.mark.covers("V5")
def test_a_profiler_that_leaves_is_not_missed(tmp_path):
    server = Server(limit=200_000)
    path = write(tmp_path, golomb(8))
    answer = ask("--cp-profiler", f"1,{server.port}", path)
    assert (answer.code, value(answer, "m7"), answer.markers) == (0, 34, ["=========="])
    assert "the profiler has left" in answer.errors


@pytest.mark.covers("V5")
def test_a_profiler_that_does_not_read_does_not_keep_a_stop_waiting(tmp_path):
    profile(write(tmp_path, LEAST_SUM))  # compiles the kernels that trace, if need be
    path = write(tmp_path, golomb(12))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for limit in time_limits():
            with ends_soon(after=limit / 1000):
                answer = run("--cp-profiler", f"1,{silent.getsockname()[1]}", "-t", limit, "-s", path)
            if "engine" in answer.statistics:  # else the search has not begun
                break
    assert answer.code == 0 and answer.solutions, answer.errors
    assert answer.text.endswith("%%%mzn-stat-end\n")


@pytest.mark.parametrize("wrong", ["6565", "1,2,3", "a,1", "1,70000", "1,0", ""])
def test_a_wrong_address_is_an_error(tmp_path, wrong):
    answer = ask("--cp-profiler", wrong, write(tmp_path, LEAST_SUM))
    assert answer.code == 1 and "--cp-profiler" in answer.errors
