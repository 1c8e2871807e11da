"use strict";
// The laboratory on a page: a scenario, what is changed of it, its runs with pictures, and tables.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const { element } = tidegate;
  const CHECK_AFTER_MS = 250;
  const PACES = [["", "as fast as possible"], ["1", "in real time"], ["10", "10 times real time"]];
  // the menus by which something is chosen
  const CHOICES = ["first", "second", "port"];
  let labs = 0;

  const labelled = (words, field, more = {}) => {
    labs += 1;
    field.id = `lab-field-${labs}`;
    return element("div", { className: "lab-field", ...more }, element("label", { htmlFor: field.id, textContent: words }), field);
  };
  const button = (words, more = {}) => element("button", { type: "button", textContent: words, ...more });
  const inSeconds = (time) => `${Number(time.toPrecision(6))} s`;
  const size = (bytes) => bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;

  class Lab {
    // `given`: `text`, and what the link of an experiment has besides; `plain`: the text is folded.
    constructor(place, given, plain = false) {
      this.schema = tidegate.data.schema;
      this.own = new Map();
      this.engines = [new tidegate.Engine(this.own)];
      this.heard = new Map();
      // what is named below the text: of the link, and of what was chosen and is not there now
      this.absent = [];
      this.lost = [];
      this.steps = new Map();
      this.filesRead = 0;
      this.ran = null;
      this.editor = new tidegate.Editor(this.schema, () => this.#soon());
      this.#build(place, plain);
      this.ready = this.open(given);
    }

    #build(place, plain) {
      this.run = button("Run", { className: "lab-main", onclick: () => this.start() });
      this.stop = button("Stop", { disabled: true, onclick: () => { this.cancelled = true; this.engines.forEach((engine) => engine.stop()); } });
      this.progress = element("progress", { max: 1, value: 0 });
      this.progress.setAttribute("aria-label", "Simulated so far");
      this.status = element("p", { className: "lab-status" });
      this.status.setAttribute("role", "status");
      this.speed = element("p", { className: "lab-help" });
      this.problems = element("div", { className: "lab-problems" });
      this.files = element("input", { type: "file", multiple: true, onchange: () => this.#files(this.files.files) });
      const files = labelled("Files that the scenario names (they stay on this machine)", this.files);
      const menu = (name) => element("select", { onchange: () => {
        this.absent = [];
        this.wanted[name] = this[name].value;
        this.linked.delete(name);
        this.#soon();
      } });
      [this.first, this.second, this.port] = CHOICES.map(menu);
      this.seed = element("input", { inputMode: "numeric", value: "1", onchange: () => this.#soon() });
      this.pace = element("select", { onchange: () => this.#remember() }, ...PACES.map(([value, words]) => element("option", { value, textContent: words })));
      this.sliders = element("fieldset", { className: "lab-sliders" });
      this.command = element("code", {});
      this.link = button("Copy the link", { onclick: () => this.#copy() });
      this.pictures = {
        queue: new tidegate.Picture("Packets that wait in the queue"),
        windows: new tidegate.Picture("Windows of open flows, in packets"),
        completed: new tidegate.Picture("Sessions completed so far"),
        rate: new tidegate.Picture("Rate of the link, in Mbit/s"),
      };
      this.key = element("p", { className: "lab-key" });
      this.table = element("div", { className: "lab-results" });
      this.earlier = element("p", { className: "lab-earlier" });
      this.earlier.setAttribute("role", "status");
      const text = plain
        ? element("details", {}, element("summary", { textContent: "The scenario" }), this.editor.place, files)
        : this.editor.place;
      const choices = element("div", { className: "lab-choices" },
        labelled("First control", this.first), labelled("Beside it", this.second), labelled("At port", this.port),
        labelled("Seed", this.seed), labelled("Pace", this.pace));
      const bar = element("div", { className: "lab-bar" }, this.run, this.stop, this.link, this.progress);
      const shown = element("div", { className: "lab-pictures" }, ...Object.values(this.pictures).map((each) => each.place));
      const command = element("details", {}, element("summary", { textContent: "The same on a machine" }), element("pre", { tabIndex: 0 }, this.command));
      const left = element("div", { className: "lab-left" }, text, this.problems, ...(plain ? [] : [files]));
      const right = element("div", { className: "lab-right" }, choices, this.sliders, bar, this.status, this.speed, this.#shown(shown), command);
      place.classList.add("lab");
      if (plain) place.classList.add("lab-plain");
      place.replaceChildren(left, right);
      this.#drops(plain ? place : document);
    }

    // The results, with what says that they are of earlier settings.
    #shown(pictures) {
      labs += 1;
      this.earlier.id = `lab-earlier-${labs}`;
      this.results = element("div", { className: "lab-shown" }, this.earlier, this.key, pictures, this.table);
      this.results.setAttribute("role", "group");
      this.results.setAttribute("aria-label", "Results");
      this.results.setAttribute("aria-describedby", this.earlier.id);
      return this.results;
    }

    // Files may be dropped as well as chosen; a browser would leave the page for one.
    #drops(place) {
      place.addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
      place.addEventListener("drop", (event) => {
        if (!event.dataTransfer.files.length) return;
        event.preventDefault();
        this.#files(event.dataTransfer.files);
      });
    }

    // Shows an experiment: its text and what is changed of it.
    async open({ text, steps = {}, first = "", second = null, port = "", seed = "1", pace = "", ...more }) {
      if (this.going) this.engines.forEach((engine) => engine.stop());
      this.editor.text = text;
      this.steps = new Map(Object.entries(steps));
      this.wanted = { first, second, port };
      this.linked = new Set(CHOICES);
      this.lost = [];
      this.seed.value = seed;
      const offered = PACES.some(([each]) => each === pace);
      this.pace.value = offered ? pace : "";
      this.absent = Object.keys(more).map((name) => `The link holds ${name}, which this page does not know.`);
      if (!offered) this.absent.push(`The link asks for the pace ${pace}, which this page does not offer: a run goes as fast as possible.`);
      this.knobs = this.shownPort = null;
      this.runs = [];
      this.hashes = this.summaries = this.ran = null;
      this.#show();
      this.#clear();
      this.#mark();
      await this.#check();
    }

    // Takes away what the last run has left.
    #clear() {
      this.reportOpen = this.report ? this.report.place.open : false;
      this.report?.end();
      this.table.replaceChildren();
    }

    // The experiment as a link has it: only what differs from the text.
    experiment() {
      const found = { text: this.editor.text };
      const steps = this.#moved();
      if (steps.length) found.steps = Object.fromEntries(steps);
      if (this.first.value) found.first = this.first.value;
      if (this.second.value !== "-") found.second = this.second.value;
      if (this.port.value && this.port.value !== tidegate.defaultPort(this.checked)) found.port = this.port.value;
      if (this.seed.value !== "1") found.seed = this.seed.value;
      if (this.pace.value) found.pace = this.pace.value;
      return found;
    }

    #moved() { return [...this.steps].filter(([, step]) => step).sort(); }

    // What results hang on, which the pace does not change.
    #settings() {
      const { editor, first, second, port, seed } = this;
      return JSON.stringify([editor.text, this.#moved(), first.value, second.value, port.value, seed.value, this.filesRead]);
    }

    // Marks results of other settings than those that stand above them, for who does not see it too.
    #mark() {
      const old = this.ran !== null && this.ran !== this.#settings();
      if (old === this.old) return;
      this.old = old;
      this.results.classList.toggle("lab-old", old);
      this.results.setAttribute("aria-label", old ? "Results of earlier settings" : "Results");
      this.earlier.textContent = old ? "The settings were changed after Run was pressed: these results are of the settings before." : "";
      for (const picture of Object.values(this.pictures)) picture.describe(old);
      this.#progress();
    }

    #progress() {
      const runs = this.old && !this.going ? [] : this.runs || [];
      this.progress.value = runs.length ? Math.min(...runs.map((run) => run.now / run.duration)) : 0;
    }

    #soon() {
      this.#mark();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.#check(), CHECK_AFTER_MS);
    }

    #sliding() {
      return (this.knobs || []).filter(({ key }) => this.steps.get(key)).map((knob) => tidegate.sliderSetting(knob, this.steps.get(knob.key)));
    }

    #document(settings) { return { text: this.editor.text, name: "scenario.toml", settings }; }

    // Checks the text, and brings what can be chosen up to date with it.
    async #check() {
      clearTimeout(this.timer);
      const { text } = this.editor;
      const ask = (settings) => this.engines[0].ask({ do: "check", document: this.#document(settings) });
      let check = await ask([]);
      // the answer is of a text that is not there any more
      if (text !== this.editor.text) { await this.#check(); return; }
      this.sound = !check.error;
      if (this.sound) {
        this.checked = check;
        const knobs = tidegate.sliders(check.written);
        this.#fit(knobs);
        this.#knobs(knobs);
        await this.#controls(check);
        // each control has a scenario of its own: a variant may change anything, the duration too
        this.checks = await Promise.all(this.#menus().map((menu) => ask([...this.#sliding(), ...this.#chosen(menu).settings])));
        check = this.checks.find((each) => each.error) || this.checks.reduce((one, other) => other.memory_bytes > one.memory_bytes ? other : one);
      }
      if (!this.knobs) this.sliders.hidden = true;
      this.#told(check);
      this.#mark();
      this.#remember();
    }

    // Says what is wrong, or how large the run will be; whether it may run.
    #told(check) {
      const faulty = new Map();
      this.problems.replaceChildren();
      for (const { what, help, of, line } of check.problems || []) {
        const here = line && of === "scenario.toml";
        if (here) faulty.set(line, what);
        const where = here ? button(`Line ${line}`, { onclick: () => this.editor.go(line) }) : element("b", { textContent: of || "" });
        this.problems.append(element("p", { className: "lab-problem" }, where, ` ${what}. `, element("span", { textContent: help.split("\n")[0] })));
      }
      if (check.missing) {
        this.problems.append(element("p", { className: "lab-problem", textContent: `The scenario names ${check.missing.join(", ")}. Choose ${check.missing.length > 1 ? "these files" : "this file"} below the text.` }));
      } else if (check.error && !check.problems) {
        this.problems.append(element("p", { className: "lab-problem", textContent: check.error }));
      }
      const said = [...[...this.heard.values()].flat(), ...this.absent, ...this.lost, ...this.#replaced(), ...(check.warnings || [])];
      for (const warning of said) this.problems.append(element("p", { className: "lab-warning", textContent: warning }));
      this.#idle();
      this.editor.mark(faulty);
      this.runnable = !check.error && check.fits;
      this.#going(this.going);
      this.#command();
      if (check.error) { this.#say("The scenario cannot run as it is: see what is wrong with it."); return; }
      const flows = check.flows.reduce((sum, [, count]) => sum + count, 0);
      const about = `${check.name}: ${check.duration_s} s, about ${Math.round(flows).toLocaleString("en")} flows`;
      if (!check.fits) {
        this.#say(`Too large for a page: ${about} and ${size(check.memory_bytes)} of memory, where a page has 1 GB. Run it on a machine: ${this.command.textContent.replace(/\s+/g, " ").replaceAll("\\ ", "")}`);
        return;
      }
      this.#say(`${about}. At most ${size(check.memory_bytes)} of memory.`);
    }

    // A run begins or ends: there is one at a time.
    #going(on) {
      this.going = Boolean(on);
      this.run.disabled = this.going || !this.runnable;
      this.stop.disabled = !this.going;
    }

    #say(words) { if (this.status.textContent !== words) this.status.textContent = words; }

    // Brings steps that a link asks for to where sliders can stand.
    #fit(knobs) {
      for (const knob of knobs) {
        const asked = this.steps.get(knob.key) || 0, step = tidegate.sliderStep(asked);
        if (step === asked) continue;
        this.steps.set(knob.key, step);
        this.absent.push(`The link moves the slider "${knob.label}" to ${asked}, where it cannot stand (it goes from -${tidegate.STEPS} to ${tidegate.STEPS}): it is at ${step}, ${tidegate.sliderValue(knob, step)}.`);
      }
    }

    // Sliders that were moved, and whose keys a control sets itself.
    #replaced() {
      const moved = this.sound && this.knobs ? this.knobs.filter(({ key }) => this.steps.get(key)) : [];
      return this.#menus().map((menu) => this.#chosen(menu)).flatMap(({ label, settings }) => moved
        .filter((knob) => tidegate.replaced(knob, settings))
        .map((knob) => `The ${label} sets ${knob.key} itself: the slider "${knob.label}" has no effect on its run.`));
    }

    // Names what was moved, and has no slider in the text as it is now.
    #idle() {
      const gone = this.sound && this.knobs ? this.#moved().filter(([key]) => !this.knobs.some((knob) => knob.key === key)) : [];
      for (const [key] of gone) {
        const forget = button("Forget it", { onclick: () => { this.steps.delete(key); this.#soon(); } });
        this.problems.append(element("p", { className: "lab-warning" }, `A change of ${key}, by a slider or by the link, has no effect: this scenario has no slider for it. `, forget));
      }
    }

    #knobs(knobs) {
      const same = JSON.stringify(knobs) === JSON.stringify(this.knobs);
      this.knobs = knobs;
      if (same) return;
      this.sliders.replaceChildren(element("legend", { textContent: "Change without editing" }), ...knobs.map((knob) => {
        const slide = element("input", { type: "range", min: -tidegate.STEPS, max: tidegate.STEPS, step: 1, value: this.steps.get(knob.key) || 0 });
        const out = element("output", {});
        const show = () => {
          out.textContent = tidegate.sliderValue(knob, Number(slide.value));
          slide.setAttribute("aria-valuetext", out.textContent);
        };
        slide.addEventListener("input", () => { this.steps.set(knob.key, Number(slide.value)); show(); this.#soon(); });
        show();
        const field = labelled(knob.label, slide);
        field.append(out);
        return field;
      }));
      this.sliders.hidden = !knobs.length;
    }

    // Fills the menus: of all controls those with which the scenario can run.
    async #controls(check) {
      const ports = check.ports.filter((port) => !port.access).map((port) => port.name);
      const port = [this.wanted.port, this.shownPort].find((name) => ports.includes(name)) || tidegate.firstPort(check);
      const asked = tidegate.controls(this.schema, check, port);
      const key = JSON.stringify([this.editor.text, port]);
      if (key !== this.controlled) {
        const fit = await Promise.all(asked.map(({ settings }) => this.engines[0].ask({ do: "check", document: this.#document(settings) })));
        this.controls = asked.filter((_, place) => !fit[place].error);
        this.controlled = key;
        const options = (list) => list.map(({ id, label }) => element("option", { value: id, textContent: label }));
        this.first.replaceChildren(...options(this.controls));
        this.second.replaceChildren(element("option", { value: "-", textContent: "nothing" }), ...options(this.controls));
        this.port.replaceChildren(...ports.map((name) => element("option", { value: name, textContent: name })));
      }
      this.#choose(ports, port);
    }

    // Chooses what was chosen last, or what the link names, and says what of it is not there: a text
    // that has it again has it chosen again.
    #choose(ports, port) {
      const { wanted } = this;
      const there = (id) => this.controls.some((control) => control.id === id);
      this.port.value = this.shownPort = port;
      this.port.parentElement.hidden = this.port.options.length < 2;
      this.first.value = there(wanted.first) ? wanted.first : "";
      this.second.value = there(wanted.second) ? wanted.second : "-";
      this.lost = CHOICES.flatMap((name) => {
        const id = wanted[name];
        if (!id || id === "-") return [];
        if (name === "port" ? ports.includes(id) : there(id)) { this.linked.delete(name); return []; }
        return [this.#without(name, id)];
      });
    }

    // What is said of a choice that is not there: of the link's until something else was chosen.
    #without(name, id) {
      const linked = this.linked.has(name);
      if (name === "port") return linked ? `The link names ${id}, a port that this scenario does not have.` : `${id} was chosen as the port: this scenario does not have it now.`;
      return linked ? `The link names ${id}, a control that this scenario cannot run with or that is not there.`
        : `${id} was chosen as a control: this scenario cannot run with it now, or it is not there any more.`;
    }

    #chosen(menu) { return (this.controls || []).find(({ id }) => id === menu.value) || { label: "", settings: [] }; }

    #menus() { return [this.first, ...(this.second.value === "-" ? [] : [this.second])]; }

    #remember() {
      if (this.remembers) this.remembers(this.experiment());
    }

    #command() {
      const settings = [...this.#sliding(), ...this.#chosen(this.first).settings];
      const beside = [...this.#sliding(), ...this.#chosen(this.second).settings];
      const commands = [tidegate.command("scenario.toml", this.seed.value, settings)];
      if (this.second.value !== "-") commands.push(tidegate.command("scenario.toml", this.seed.value, beside));
      this.command.textContent = commands.join("\n");
    }

    async #files(list) {
      const named = /"([^"]+)"/g;
      const names = [...this.editor.text.matchAll(named)].map((found) => found[1]);
      this.filesRead += 1;
      for (const file of list) {
        const content = new Uint8Array(await file.arrayBuffer());
        const called = names.filter((name) => name === file.name || name.endsWith(`/${file.name}`));
        for (const name of new Set([file.name, ...called])) {
          for (const engine of this.engines) {
            const answer = await engine.file(name, content);
            this.heard.set(name, answer.error ? [answer.error] : answer.notes || []);
          }
        }
      }
      this.#soon();
    }

    // The worker of the second run: it is made when it is needed first.
    #other() {
      if (!this.engines[1]) this.engines[1] = new tidegate.Engine(this.own);
      return this.engines[1];
    }

    // Runs the first control and, if one is chosen, the other beside it, on the same flows.
    async start() {
      if (this.going) return;
      const before = this.runs;
      this.#going(true);
      this.cancelled = false;
      await this.#check();
      // Stop may have been pressed before there was a run
      if (!this.runnable || this.cancelled || before !== this.runs) { this.#going(false); return; }
      const menus = this.#menus();
      const pace = Number(this.pace.value) || null;
      const begun = performance.now();
      const runs = this.#begun(menus);
      this.hashes = this.summaries = null;
      const port = this.port.value;
      this.#clear();
      this.ran = this.#settings();
      this.ranWith = this.#words();
      this.#mark();
      this.#say("The simulation runs.");
      const ended = await Promise.all(menus.map((menu, number) => {
        const engine = number ? this.#other() : this.engines[0];
        const settings = [...this.#sliding(), ...this.#chosen(menu).settings];
        return engine.start(this.#document(settings), this.seed.value, pace, (news) => this.#seen(runs, number, news));
      }));
      this.#going(false);
      // another scenario may have been opened meanwhile
      if (runs !== this.runs) return;
      this.took = performance.now() - begun;
      await this.#ended(ended, runs, port, pace);
    }

    #begun(menus) {
      const moved = this.#sliding().length ? ", sliders moved" : "";
      this.runs = menus.map((menu, number) => {
        const { duration_s: duration, warmup_s: warmup, ports } = this.checks[number];
        const port = ports.findIndex(({ name }) => name === this.port.value);
        const { id, label } = this.#chosen(menu);
        return { label: id ? label : label + moved, duration, warmup, port, seen: [], now: 0, spent: 0, memory: 0 };
      });
      return this.runs;
    }

    // The seed of a run and what sliders changed, above its table.
    #words() {
      const moved = this.knobs.filter(({ key }) => this.steps.get(key));
      const changed = moved.map((knob) => {
        const not = this.#menus().map((menu) => this.#chosen(menu)).filter(({ settings }) => tidegate.replaced(knob, settings));
        return ` ${knob.label}: ${tidegate.sliderValue(knob, this.steps.get(knob.key))}${not.map(({ label }) => `, not for ${label}`).join("")}.`;
      });
      return `Seed ${this.seed.value}.${changed.join("")}`;
    }

    #seen(runs, number, { seen, now, spent, memory }) {
      if (runs !== this.runs) return;
      const run = runs[number];
      run.seen.push(...seen);
      Object.assign(run, { now, spent, memory });
      if (!this.firstPicture) this.firstPicture = performance.now();
      if (this.drawing) return;
      this.drawing = requestAnimationFrame(() => { this.drawing = 0; this.#show(); });
    }

    #show() {
      const runs = this.runs || [];
      const lines = tidegate.linesOf(runs), end = Math.max(...runs.map((run) => run.duration));
      for (const [name, picture] of Object.entries(this.pictures)) picture.show(lines[name], runs.length ? end : 1);
      this.#progress();
      this.key.replaceChildren(...runs.map(({ label }, number) => element("span", {}, element("i", { className: number ? "b" : "a" }), label)));
      const slow = runs.find((run) => run.now > 0 && run.spent > 1000);
      const left = slow && (slow.duration - slow.now) * slow.spent / slow.now / 1000;
      this.speed.textContent = left > 5 && !this.stop.disabled
        ? `About ${left > 90 ? `${Math.round(left / 60)} minutes` : `${Math.round(left)} s`} more. A machine is faster: see the command below.` : "";
    }

    // What the measures of runs that were stopped are of.
    #measured(ended, runs) {
      const windows = runs.map(({ label, warmup }, number) => ({ label, span: [warmup, ended[number].result.now_s] }));
      const words = windows.map(({ label, span }) => {
        const of = runs.length > 1 ? ` of ${label}` : "";
        return tidegate.hasWindow(span) ? ` The measures${of} are from ${inSeconds(span[0])} to ${inSeconds(span[1])}.`
          : ` There is nothing to measure${of}${span[0] ? `: the warm-up lasts until ${inSeconds(span[0])}` : ""}.`;
      });
      return words.join("");
    }

    async #ended(ended, runs, port, pace) {
      this.#show();
      for (const picture of Object.values(this.pictures)) picture.describe(this.old);
      const refused = ended.find((each) => each.refused);
      if (refused) {
        this.#say(refused.refused.error);
        return;
      }
      const failed = ended.find(({ result }) => result.error);
      if (failed) { this.#say(failed.result.error); return; }
      const stopped = ended.some((each) => each.stopped);
      const speeds = ended.map(({ result, spent }) => `${Math.round(result.now_s / Math.max(spent / 1000, 1e-3)).toLocaleString("en")} times real time`);
      const at = `${stopped ? "Stopped" : "Done"} at ${inSeconds(Math.min(...ended.map((each) => each.result.now_s)))}`;
      this.#say(`${at}${pace ? "" : `, ${speeds.join(" and ")}`}.${stopped ? this.#measured(ended, runs) : ""}`);
      this.hashes = ended.map(({ result }) => result.result_hash);
      await this.#tables(ended, runs, port);
    }

    async #tables(ended, runs, port) {
      const summaries = await Promise.all(ended.map(async ({ result }, number) => {
        const tables = {};
        for (const name of tidegate.SUMMARISED) {
          tables[name] = await this.engines[number].ask({ do: "table", name });
          if (tables[name].error) return tables[name];
        }
        return tidegate.summary(tables, [runs[number].warmup, result.now_s], port);
      }));
      if (runs !== this.runs) return;
      const without = summaries.find((each) => each.error);
      if (without) { this.#say(`The tables of the run cannot be read: ${without.error}`); return; }
      this.summaries = summaries;
      this.table.replaceChildren(...this.#measures(summaries), ...ended.map(({ result }, number) => this.#saves(result, number)));
      const told = ended.map(({ result }, number) => ({ label: runs[number].label, warmup: runs[number].warmup, duration: result.now_s }));
      this.report = new tidegate.Report((number, request) => this.engines[number].ask(request), told);
      this.table.append(this.report.place);
      this.report.place.open = this.reportOpen;
    }

    // The table of the measures; none where there is nothing to measure.
    #measures(summaries) {
      const found = tidegate.summaryRows(summaries);
      if (!found.length) return [];
      const head = element("tr", {}, ...["of", "measure", ...this.runs.map((run) => run.label)].map((words) => element("th", { scope: "col", textContent: words })));
      const rows = found.map(({ of, words, values }) => element("tr", {},
        element("td", { textContent: of }), element("th", { scope: "row", textContent: words }), ...values.map((value) => element("td", { textContent: value }))));
      const hash = element("tr", {}, element("td", {}), element("th", { scope: "row", textContent: "result_hash" }), ...this.hashes.map((each) => element("td", { textContent: each.slice(0, 10), title: each })));
      const table = element("table", {}, element("caption", { textContent: this.ranWith }), element("thead", {}, head), element("tbody", {}, ...rows, hash));
      return [element("div", { className: "lab-wide", tabIndex: 0, role: "region", ariaLabel: "Measures" }, table)];
    }

    // The tables of a run, to save.
    #saves({ tables }, number) {
      const names = ["flows", ...Object.keys(tables).filter((name) => name !== "flows")].filter((name) => tables[name] > 0);
      const which = element("select", {}, ...names.map((name) => element("option", { value: name, textContent: `${name}: ${tables[name].toLocaleString("en")} rows` })));
      const save = (form) => button(form.toUpperCase(), { ariaLabel: `Save the table as ${form.toUpperCase()}`, onclick: async () => {
        const text = await this.engines[number].text({ do: "table", name: which.value, form });
        const refused = text.error || (text.startsWith('{"error"') && JSON.parse(text).error);
        if (refused) { this.#say(refused); return; }
        const place = URL.createObjectURL(new Blob([text], { type: form === "csv" ? "text/csv" : "application/json" }));
        element("a", { href: place, download: `${which.value}.${form}` }).click();
        setTimeout(() => URL.revokeObjectURL(place), 1000);
      } });
      const of = this.runs.length > 1 ? ` of ${this.runs[number].label}` : "";
      const field = labelled(`Save a table${of}`, which);
      field.append(save("json"), save("csv"));
      return field;
    }

    async #copy() {
      const fragment = await tidegate.toFragment(this.experiment());
      if (!fragment) { this.#say("The scenario is too large for a link: send its text."); return; }
      const link = `${tidegate.playPage || location.href.split("#")[0]}#${fragment}`;
      try {
        await navigator.clipboard.writeText(link);
        this.#say("The link is copied: it holds the whole experiment, but for files of your own.");
      } catch {
        this.#say(`This browser does not let a page copy. The link: ${link}`);
      }
    }
  }

  tidegate.Lab = Lab;
})();
