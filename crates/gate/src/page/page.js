// The page of a gate. It asks for the state every two seconds and for the last hour every ten, while
// somebody looks at it. What it is told is shown as text alone.

import { Chart, short } from "./charts.js";

const EVERY_MS = 2000;
const HOUR_EVERY_MS = 10000;
const PATIENCE_MS = 8000;
const TRIAL_MS = 10 * 60 * 1000;
const KEPT = "tidegate-token";

const at = (id) => document.getElementById(id);

function made(tag, properties = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
}

// Changes a text only where it differs, so that what a user has marked stays.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function bits(bps) {
  const [unit, name] = bps < 1e6 ? [1e3, "kbit/s"] : bps < 1e9 ? [1e6, "Mbit/s"] : [1e9, "Gbit/s"];
  return `${short(bps / unit)} ${name}`;
}

function duration(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

const count = (number) => number.toLocaleString("en");
const fate = (status, name) => (status.packets.find(([found]) => found === name) ?? [name, 0])[1];
const refused = (status) => fate(status, "session_refused") + fate(status, "quic_refused") + (status.connections ? status.connections[1] : 0);

// The token: of the address, and then of this tab, so that it stays in no history.

function keep(token) {
  try {
    sessionStorage.setItem(KEPT, token);
  } catch {
    // a browser may keep nothing: the token is asked for again when the page is loaded again
  }
  return token;
}

function kept() {
  try {
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

function takeFromAddress() {
  const said = location.hash.slice(1);
  if (!said) return kept();
  history.replaceState(null, "", location.pathname);
  return keep(said);
}

let token = takeFromAddress();
addEventListener("hashchange", () => {
  token = takeFromAddress();
  turn();
});

class Unauthorized extends Error {}

async function ask(path, body) {
  const answer = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    body,
    headers: { Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (answer.status === 401) throw new Unauthorized();
  return answer;
}

// One gate: one direction at one interface.

class Gate {
  constructor() {
    this.title = made("h3");
    this.problem = made("div", { className: "fault", hidden: true });
    this.facts = made("dl");
    this.values = new Map();
    this.sent = new Chart("What left", "Mbit/s", 0.01);
    this.sessions = new Chart("Sessions", "a second", 1);
    this.who = new Clients();
    this.element = made("article", { className: "gate" }, this.title, this.problem, this.facts,
      this.sent.figure, this.sessions.figure, ...this.who.parts);
  }

  fact(name, text) {
    if (!this.values.has(name)) {
      const value = made("dd");
      this.values.set(name, value);
      this.facts.append(made("dt", { textContent: name }), value);
    }
    say(this.values.get(name), text);
  }

  update(status) {
    this.link = status.link_bps;
    this.mode = status.mode;
    const what = { down: "Downloads, which leave by", up: "Uploads, which leave by", "": "What leaves by" };
    say(this.title, `${what[status.direction]} ${status.interface}`);
    const problems = [
      status.attached ? "" : "The gate is not in place: everything passes.",
      status.alarm ? "Alarm: admitted sessions do not end. Nothing is refused." : "",
      status.trouble,
      status.log_lost ? `${count(status.log_lost)} lines of the log could not be written.` : "",
    ].filter(Boolean);
    this.problem.hidden = problems.length === 0;
    const told = problems.map((problem) => made("p", { textContent: problem }));
    this.problem.replaceChildren(...told);
    this.rates(status);
    this.totals(status);
    this.who.update(status);
  }

  rates(status) {
    const link = status.link_bps ? ` of ${bits(status.link_bps)}` : "";
    this.fact("Now", `${bits(status.rate_bps)}${link} leave, ${bits(status.received_bps)} come in`);
    const law = status.admits ? `${status.law} by ${status.admits}` : status.law;
    const allowed = status.set === null ? "everything passes" : `${short(status.set)} allowed in an epoch of ${short(status.epoch_s)} s`;
    this.fact("Law", `${law}: ${allowed}`);
    this.fact("Last epoch", `${count(status.arrived)} came, ${count(status.admitted)} admitted, ${count(status.departed)} ended`);
    this.fact("Queue", `${status.queue || "none"}: ${count(status.waiting)} packets wait, ${count(status.drops)} lost in the last epoch`);
  }

  totals(status) {
    const would = fate(status, "would_refuse");
    const kept = would ? `, ${count(would)} would have been refused` : "";
    this.fact("Since the start", `${count(status.arrived_total)} came, ${count(refused(status))} refused${kept}`);
    if (status.clients_served) {
      this.fact("Clients", `${count(status.clients_served)} served, ${count(status.clients_waited)} waited, each once in a round`);
    }
    const share = status.unseen_share;
    this.fact("Not seen", share === null ? "too little has passed to tell" : `${short(100 * share)} % of the bytes`);
  }

  hour(parts, nowS, everyS) {
    const line = (name, kind, value) => ({ name, kind, points: parts.map((part) => [Math.max(0, nowS - part.at_s), value(part)]) });
    this.sent.show([line("", "first", (part) => part.bytes * 8 / 1e6 / everyS)], this.link / 1e6);
    const spared = this.mode === "observe" ? "refused, or would have been" : "refused";
    this.sessions.show([
      line("came", "first", (part) => part.came / everyS),
      line(spared, "second", (part) => (part.refused + part.spared) / everyS),
    ]);
  }
}

// The view by client, where the gate's file asks for it.

class Clients {
  constructor() {
    this.note = made("p", { className: "soft" });
    this.head = made("tr");
    this.body = made("tbody");
    this.rows = made("div", { className: "rows", tabIndex: 0 }, made("table", {}, made("thead", {}, this.head), this.body));
    this.rows.setAttribute("role", "region");
    this.parts = [made("h3", { textContent: "Clients" }), this.note, this.rows];
  }

  update(status) {
    const { clients, who, mode, direction } = status;
    this.rows.setAttribute("aria-label", `Clients at ${status.interface}`);
    this.rows.hidden = clients.length === 0;
    say(this.note, !who ? "They are not shown: addresses are personal data. `who = true` in the gate's file shows them."
      : clients.length === 0 ? "None has opened a session yet."
      : "Those that were refused most, then those that used most.");
    // bytes are counted where the file says whose they are
    const used = (cell) => direction ? [cell] : [];
    const names = ["Address", "came", mode === "observe" ? "would be refused" : "refused", ...used("MB"), "waited", "refused for"];
    this.head.replaceChildren(...names.map((name) => made("th", { scope: "col", textContent: name })));
    this.body.replaceChildren(...clients.map((client) => made("tr", {}, ...[
      client.address,
      count(client.came),
      count(client.refused),
      ...used(short(client.bytes / 1e6)),
      // who was never let in has no wait that is over
      client.waited_s === 0 && client.waits_s !== null ? "–" : `${short(client.waited_s)} s`,
      client.waits_s === null ? "" : duration(client.waits_s),
    ].map((text) => made("td", { textContent: text })))));
  }
}

// Gates that take orders together.

class Group {
  constructor(number) {
    this.number = number;
    this.name = made("h2");
    this.state = made("p", { className: "state" });
    this.buttons = {
      try: this.button("Try refusals for ten minutes", `enforce ${TRIAL_MS}`),
      confirm: this.button("Go on refusing", "confirm"),
      stop: this.button("Stop refusing", "revert"),
    };
    this.buttons.try.className = "main";
    this.said = made("p", { className: "said" });
    this.said.setAttribute("role", "status");
    this.gates = [];
    this.box = made("div", { className: "gates" });
    this.element = made("section", { className: "group" }, this.name, this.state,
      made("div", { className: "orders" }, ...Object.values(this.buttons)), this.said, this.box);
  }

  button(text, order) {
    const button = made("button", { type: "button", textContent: text });
    button.addEventListener("click", () => this.order(button, order));
    return button;
  }

  async order(button, text) {
    button.disabled = true;
    this.said.classList.remove("fault");
    say(this.said, "");
    try {
      const answer = await ask(`order/${this.number}`, text);
      this.said.classList.toggle("fault", !answer.ok);
      say(this.said, await answer.text());
    } catch (error) {
      this.said.classList.add("fault");
      say(this.said, error instanceof Unauthorized ? "The token is not this gate's any more." : "The gate did not answer.");
    }
    button.disabled = false;
    await turn();
  }

  update({ socket, gates }) {
    while (this.gates.length < gates.length) {
      const gate = new Gate();
      this.gates.push(gate);
      this.box.append(gate.element);
    }
    this.box.classList.toggle("two", gates.length > 1);
    gates.forEach((status, place) => this.gates[place].update(status));
    say(this.name, `Gate at ${gates.map(({ interface: name }) => name).join(" and ")}`);
    this.name.title = socket;
    const refusing = gates.some(({ mode }) => mode === "enforce");
    const left = Math.min(...gates.map(({ trial_s: s }) => s ?? Infinity));
    const working = gates.some(({ attached }) => attached);
    say(this.state, !working ? "Not in place. Everything passes."
      : !refusing ? "Observing. Nothing is refused."
      : left < Infinity ? `Trying refusals for ${duration(left)} more, then observing again.`
      : "Refusing what the law does not allow.");
    this.state.classList.toggle("fault", !working);
    this.show("try", !gates.every(({ mode }) => mode === "enforce"));
    this.show("confirm", left < Infinity);
    this.show("stop", refusing);
  }

  // A button that goes away leaves the keyboard with one that is there.
  show(name, there) {
    const button = this.buttons[name];
    const had = document.activeElement === button;
    button.hidden = !there;
    if (had && !there) Object.values(this.buttons).find((other) => !other.hidden)?.focus();
  }
}

const groups = [];
let answeredAt = "", hourAt = 0, nowS = 0;

async function showState() {
  const state = await (await ask("state")).json();
  at("enter").hidden = true;
  nowS = state.now_s;
  while (groups.length < state.groups.length) {
    const group = new Group(groups.length);
    groups.push(group);
    at("groups").append(group.element);
  }
  state.groups.forEach((group, place) => groups[place].update(group));
  answeredAt = new Date(1000 * nowS).toLocaleTimeString();
  say(at("fresh"), `As it was at ${answeredAt}`);
  at("fresh").classList.remove("fault");
  document.title = `${groups.map(({ state: { textContent: text } }) => text.split(/[ .]/)[0]).join(", ")} – gate`;
}

async function showHour() {
  if (performance.now() - hourAt < HOUR_EVERY_MS && hourAt) return;
  const hour = await (await ask("hour")).json();
  hourAt = performance.now();
  hour.groups.forEach((gates, place) => gates.forEach((parts, number) => {
    groups[place]?.gates[number]?.hour(parts, nowS, hour.every_s);
  }));
}

// Asks once, and shows why there is nothing to show.
async function turn() {
  try {
    await showState();
    await showHour();
  } catch (error) {
    at("fresh").classList.add("fault");
    if (error instanceof Unauthorized) {
      say(at("why"), token ? "This token is not the gate's." : "The token opens this page.");
      say(at("fresh"), "The page is locked.");
      at("enter").hidden = false;
    } else {
      const since = answeredAt ? ` since ${answeredAt}` : "";
      say(at("fresh"), `No answer from the gate${since}. A gate that does not work lets everything pass.`);
    }
  }
}

at("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = keep(at("token").value.trim());
  at("token").value = "";
  turn();
});
document.addEventListener("visibilitychange", () => document.hidden || turn());
setInterval(() => document.hidden || turn(), EVERY_MS);
turn();
