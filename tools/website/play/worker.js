"use strict";
// A worker of the page: checks scenarios, and runs one in slices, so that it hears of a stop.

const SLICE_MS = 12;
const EVENTS = 20000;
const POST_MS = 40;
const MARKS = 400;
const WINDOWS = 12;

let module;
let current = null;

const told = (message) => postMessage(message);
// A task of its own: what the page has sent meanwhile comes first.
const channel = new MessageChannel();
const later = (after_ms) => after_ms > 0 ? setTimeout(slice, after_ms) : channel.port2.postMessage(0);
channel.port1.onmessage = () => slice();

const start = ({ run, document, seed, pace }) => {
  const check = module.ask({ do: "check", document });
  const begun = check.error ? check : module.ask({ do: "start", document, seed });
  if (begun.error) { told({ do: "ended", run, refused: begun }); return; }
  current = { run, pace, duration: check.duration_s, mark: 0, seen: [], now: 0, begun: performance.now(), posted: 0, spent: 0 };
  see();
  post();
  later(0);
};

const see = () => current.seen.push(module.ask({ do: "glance", windows: WINDOWS }));

const post = () => {
  const { run, seen, now, spent } = current;
  told({ do: "seen", run, seen, now, spent, memory: module.memoryBytes() });
  current.seen = [];
  current.posted = performance.now();
};

// The simulator rounds times to picoseconds.
const reached = (at_s, time_s) => at_s >= time_s - 1e-9;

// How far the run may come by now: to the next mark of the pictures, and no further than its pace.
const bound = () => {
  const next = current.duration * (current.mark + 1) / MARKS;
  return current.pace ? Math.min(next, current.pace * (performance.now() - current.begun) / 1000) : next;
};

const slice = () => {
  if (!current) return;
  const { run } = current;
  const from = performance.now();
  try {
    do {
      const until = bound();
      const at = module.ask({ do: "advance", until_s: until, events: EVENTS });
      current.now = at.now_s;
      if (at.done || reached(at.now_s, current.duration * (current.mark + 1) / MARKS)) { see(); current.mark += 1; }
      if (at.done) { current.spent += performance.now() - from; finish(false); return; }
      // ahead of its pace: wait for real time
      if (current.pace && reached(at.now_s, until) && performance.now() - from < SLICE_MS) break;
    } while (performance.now() - from < SLICE_MS);
    current.spent += performance.now() - from;
    if (performance.now() - current.posted >= POST_MS) post();
    later(current.pace && performance.now() - from < SLICE_MS ? 8 : 0);
  } catch (fault) {
    told({ do: "ended", run, refused: { error: fault.message }, broken: true });
    current = null;
  }
};

const finish = (stopped) => {
  post();
  const { run, spent } = current;
  current = null;
  const result = module.ask({ do: "finish" });
  told({ do: "ended", run, stopped, result, spent, memory: module.memoryBytes() });
};

const HANDLERS = {
  load: async ({ bytes, files }) => {
    module = await tidegateModule(bytes);
    for (const [name, content] of files) {
      const answer = module.file(name, content);
      if (answer.error) return answer;
    }
    return {};
  },
  file: ({ name, content }) => module.file(name, content),
  ask: ({ request }) => module.ask(request),
  text: ({ request }) => module.text(request),
  run: (message) => start(message),
  stop: () => { if (current) finish(true); },
};

onmessage = async ({ data }) => {
  const run = data.run ?? current?.run;
  try {
    const answer = await HANDLERS[data.do](data);
    if (data.id !== undefined) told({ do: "answer", id: data.id, answer });
  } catch (fault) {
    if (data.id === undefined) {
      told({ do: "ended", run, refused: { error: fault.message }, broken: true });
      current = null;
      return;
    }
    told({ do: "answer", id: data.id, answer: { error: fault.message, broken: true } });
  }
};
