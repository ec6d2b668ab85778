"""The globals and the examples through the newest MiniZinc: `make newest-minizinc`.

Debian has one version of MiniZinc. The newest one comes as WebAssembly in the package `minizinc` of the npm registry,
which runs in a browser: a headless Chromium loads it, with our library beside it, compiles each case of global_cases.py
as a constraint, reified and negated, and each model of examples/, and posts the FlatZinc to a server here. Of a case
all solutions are compared with its meaning; of an example the status and the objective with examples/expected.json.
Exit code 1 where anything differs. Needs npm and Chromium.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.global_cases import CASES
from support.global_models import FORMS, assignments, model_of, plain_name
from support.global_notation import Case, identify
from support.places import ROOT
from tools.look import BROWSER
from turbo_fzn import solve_text
from turbo_fzn.command.install import configuration

PATIENCE = 600  # seconds for one model, on any machine
EXAMPLE_MS = 120_000
PAGE = """<script type="module">
import * as MiniZinc from "./node_modules/minizinc/dist/minizinc.mjs";
const post = answer => fetch("/", {method: "POST", body: JSON.stringify(answer)});
const read = async name => (await fetch(name)).json();
const part = name => location.origin + "/node_modules/minizinc/dist/minizinc" + name;
const begin = () => MiniZinc.init({workerURL: part("-worker.js"), wasmURL: part(".wasm"), dataURL: part(".data")});
await begin();
await post({name: "version", flat: await MiniZinc.version()});
const library = await read("library.json");
let count = 0;
for (const {name, files} of await read("models.json")) {
  if (++count % 50 == 0) { MiniZinc.shutdown(); await begin(); }  // its workers would fill the memory
  const model = new MiniZinc.Model();
  for (const file in files) model.addFile(file, files[file]);
  for (const file in library) model.addFile(file, library[file], false);
  try { await post({name, flat: await model.compile({options: {solver: "turbo.msc"}})}); }
  catch (error) { await post({name, error: String(error.message || error)}); }
}
await post({name: "end"});
</script>"""

Answer = dict[str, str]


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, and puts what is posted into a queue."""

    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def __init__(self, answers: Queue[Answer], *arguments: object, **named: object):
        self.answers = answers
        super().__init__(*arguments, **named)  # type: ignore[arg-type]

    def do_POST(self) -> None:
        self.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


def cases() -> dict[str, tuple[Case, str]]:
    return {f"{identify(case)}-{form}": (case, form) for case in CASES for form in FORMS}


def models() -> Iterator[dict[str, object]]:
    """Names and files, as the page wants them."""
    for name, (case, form) in cases().items():
        yield {"name": name, "files": {"model.mzn": model_of(case, FORMS[form][0])}}
    for path in sorted((ROOT / "examples").glob("*.mzn")):
        data = path.with_suffix(".dzn")
        files = {"model.mzn": path.read_text()} | ({"data.dzn": data.read_text()} if data.exists() else {})
        yield {"name": path.name, "files": files}


def library() -> dict[str, str]:
    """The files of our library, and a configuration that names it."""
    folder = ROOT / "share" / "minizinc" / "turbo"
    files = {f"turbo/{path.name}": path.read_text() for path in folder.glob("*.mzn")}
    return {
        **files,
        "turbo.msc": json.dumps({**configuration(Path("fzn-turbo")), "mznlib": "./turbo", "executable": "./fzn-turbo"}),
    }


def compile_all(folder: Path) -> Iterator[Answer]:
    """The results that the browser posts, one model after the other."""
    subprocess.run(["npm", "install", "--silent", "--no-fund", "minizinc"], cwd=folder, check=True)
    for name, content in ("library.json", library()), ("models.json", list(models())):
        (folder / name).write_text(json.dumps(content))
    (folder / "index.html").write_text(PAGE)
    answers: Queue[Answer] = Queue()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, answers, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        command = [*BROWSER, f"--user-data-dir={folder / 'profile'}", "--remote-debugging-port=0", address]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while (answer := answers.get(timeout=PATIENCE))["name"] != "end":
                yield answer
        finally:
            browser.kill()
            server.shutdown()


def frozen(value: object) -> object:
    return tuple(map(int, value)) if isinstance(value, list) else int(value)  # type: ignore[call-overload]


def complaint(case: Case, form: str, flat: str) -> str | None:
    """The differences from the meaning. Variables that MiniZinc has fixed are not in the FlatZinc, and are ignored."""
    is_wanted = FORMS[form][1]
    truths = [False, True] if form == "reified" else [True]
    names = {name: plain_name(name, variables) for name, variables in case.variables.items()}
    wanted = [
        {**{names[name]: frozen(value) for name, value in values.items()}, "truth": int(truth)}
        for values in assignments(case)
        for truth in truths
        if is_wanted(case.meaning(*values.values()), truth)
    ]
    found = solve_text(flat, arch="cpu", all_solutions=True).solutions
    if not found or not wanted:
        return None if not found and not wanted else f"{len(wanted)} solutions wanted, {len(found)} found"
    shown = sorted(found[0].keys() & wanted[0].keys())
    differing = {tuple(values[name] for name in shown) for values in wanted} ^ {
        tuple(frozen(solution[name]) for name in shown) for solution in found
    }
    return f"{sorted(differing)[:3]}" if differing else None


def complaint_of_example(name: str, flat: str) -> str | None:
    """A figure that differs, or that is not there in time."""
    rows = json.loads((ROOT / "examples" / "expected.json").read_text())
    (expected,) = [row for row in rows if row["model"] == name]
    is_count = expected["kind"] == "count"
    result = solve_text(flat, arch="cpu", all_solutions=is_count, time_limit=EXAMPLE_MS)
    figure = len(result.solutions) if is_count else result.objective
    is_same = figure is not None and abs(figure - expected["figure"]) <= 1e-5 * abs(expected["figure"])
    return None if is_same else f"{result.status}, {figure} instead of {expected['figure']}"


def main() -> int:
    faults, compared, every = 0, 0, cases()
    with tempfile.TemporaryDirectory() as folder:
        for answer in compile_all(Path(folder)):
            name, flat = answer["name"], answer.get("flat", "")
            if name == "version":
                print(flat.splitlines()[0])
                continue
            known = every.get(name)
            found = answer.get("error") or (complaint(*known, flat) if known else complaint_of_example(name, flat))
            compared += 1
            if compared % 50 == 0:
                print(f"{compared} models", file=sys.stderr)
            if found:
                faults += 1
                print(f"{name}: {found}", flush=True)
    print(f"{compared} models compared, {faults} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
