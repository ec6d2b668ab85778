// MiniZinc of the npm package in a process of node: a line of standard input, a JSON object with `files` (texts by name,
// beside the library, which the first line has) and `args`, is answered by a line with the exit code, the messages and
// the text of out.fzn. Usage: node newest_minizinc.cjs FOLDER, where the package has its worker.
//
// The worker is made for browsers: it wants a scope with postMessage and addEventListener, which this process is.

const fs = require("fs"), path = require("path"), vm = require("vm"), readline = require("readline");

const folder = process.argv[2];
const worker = path.join(folder, "minizinc-worker.js");
let receive, done, ended;
let messages = [];

globalThis.require = require;
globalThis.__filename = worker;
globalThis.__dirname = folder;
globalThis.addEventListener = (kind, listener) => { receive = listener; };
globalThis.postMessage = message => {
  if (message.type === "ready") done();
  else if (message.type === "exit") ended = message;
  else messages.push(message);
};

// Until the worker is ready for the next message, which it says after each.
const send = data => new Promise(resolve => { done = resolve; receive({data}); });

const answer = async request => {
  messages = [];
  ended = null;
  await send({jsonStream: true, outputFiles: ["out.fzn"], ...request});
  return {code: ended ? ended.code : -1, messages, flat: ended && ended.outputFiles ? ended.outputFiles["out.fzn"] : null};
};

const main = async () => {
  vm.runInThisContext(fs.readFileSync(worker, "utf8"), {filename: worker});
  await send({wasmURL: path.join(folder, "minizinc.wasm"), dataURL: path.join(folder, "minizinc.data")});
  let library = null;
  for await (const line of readline.createInterface({input: process.stdin})) {
    const request = JSON.parse(line);
    if (library === null) { library = request.files; continue; }
    const answered = await answer({args: request.args, files: {...library, ...request.files}});
    process.stdout.write(JSON.stringify(answered) + "\n");
  }
  process.exit(0);
};

main();
