"use strict";
// What a page changes of a scenario beside its text: sliders of a few keys, and controls to compare.
// Each is a list of settings, as `--set KEY=VALUE` gives them to the command line.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const STEPS = 40;

  const bare = (name) => /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
  const key = (path) => path.map(bare).join(".");
  const inline = (value) => {
    if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
    if (value !== null && typeof value === "object") {
      return `{ ${Object.entries(value).map(([name, each]) => `${bare(name)} = ${inline(each)}`).join(", ")} }`;
    }
    return JSON.stringify(value);
  };
  const at = (tree, path) => path.reduce((found, name) => found && found[name], tree);

  // The keys that have a slider, where the text of a scenario has them.
  const places = (written) => {
    const found = [];
    const link = (path, name) => {
      found.push([[...path, "rate"], `Rate of ${name}`], [[...path, "delay"], `One-way delay of ${name}`]);
      found.push([[...path, "buffer"], `Buffer of ${name}`]);
    };
    if (at(written, ["guests", "people"])) found.push([["guests", "people"], "People"]);
    const dumbbell = ["topology", "dumbbell", "bottleneck"];
    link(dumbbell, "the bottleneck");
    found.push([[...dumbbell, "reverse", "rate"], "Rate of the way back"]);
    for (const [name, each] of Object.entries(at(written, ["topology", "links"]) || {})) {
      if (each.buffer) link(["topology", "links", name], name);
    }
    for (const name of Object.keys(written.traffic || {})) {
      const arrivals = ["traffic", name, "arrivals"];
      found.push([[...arrivals, "poisson"], `Arrivals of ${name}`], [[...arrivals, "uniform"], `Flows of ${name}`]);
      found.push([["traffic", name, "transport", "udp", "rate"], `Rate of ${name}`]);
    }
    return found;
  };

  const shown = (number, whole) => {
    if (whole) return String(Math.max(Math.round(number), 1));
    return String(Number(number.toPrecision(3)));
  };

  // The sliders of a scenario: each with its key, its words, its value and its unit.
  tidegate.sliders = (written) => places(written).flatMap(([path, label]) => {
    const value = at(written, path);
    if (typeof value === "number") return [{ key: key(path), label, number: value, unit: "", text: false, whole: true }];
    const found = typeof value === "string" && /^([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(.*)$/.exec(value);
    if (!found || !Number(found[1])) return [];
    return [{ key: key(path), label, number: Number(found[1]), unit: found[2], text: true, whole: /^packets?$/.test(found[2]) }];
  });
  tidegate.STEPS = STEPS;

  // The value of a slider at a step: a tenth of what is written to ten times as much.
  tidegate.sliderValue = ({ number, unit, whole }, step) => shown(number * 10 ** (step / STEPS), whole) + unit;
  // A step that a slider can stand at, next to one that a link asks for.
  tidegate.sliderStep = (step) => Math.round(Math.min(Math.max(step, -STEPS), STEPS));
  // Whether settings replace what a slider sets: its own key, or a table that holds it.
  tidegate.replaced = (slider, settings) => settings.some(([name]) => slider.key === name || slider.key.startsWith(`${name}.`));
  tidegate.sliderSetting = (slider, step) => {
    const value = tidegate.sliderValue(slider, step);
    return [slider.key, slider.text ? JSON.stringify(value) : value];
  };

  const WHO = ["clients", "connections", "visits"];
  const OF_THE_PORT = { gate: ["admit", "opener", "refuse", "charge"], queue: [] };
  // A law asked for at a stage of a port, with those settings of the port that stay: the rule of
  // `--gate`, `--queue` and variants.
  const upon = (stage, asked, written) => {
    const same = asked.law === written.law;
    const kept = same ? { ...written } : {};
    let stands = { ...written };
    if (!same && WHO.includes(stands.admit)) delete stands.admit;
    else if (WHO.includes(asked.admit) && !WHO.includes(stands.admit ?? "clients")) {
      delete kept.admit;
      stands = Object.fromEntries(Object.entries(stands).map(([name, value]) => [name === "admit" ? "opener" : name, value]));
    }
    if (asked.law !== "none") {
      for (const name of OF_THE_PORT[stage]) if (name in stands) kept[name] = stands[name];
    }
    return { ...kept, ...asked };
  };

  const ofVariant = (written, { path, key: named, text, value }) => {
    const [where, port, stage] = path;
    const law = path.length === 3 && where === "port" && stage in OF_THE_PORT;
    if (!law || value === null || typeof value !== "object" || Array.isArray(value)) return [named, text];
    return [named, inline(upon(stage, value, at(written, ["port", port, stage]) || {}))];
  };

  // The port that controls are compared at: the bottleneck, or the only one; null: there are several.
  tidegate.defaultPort = (check) => {
    const names = check.ports.filter((port) => !port.access).map((port) => port.name);
    if (names.includes("bottleneck")) return "bottleneck";
    const forward = names.filter((name) => !name.endsWith(".reverse"));
    return forward.length === 1 ? forward[0] : null;
  };

  // The port that is shown until another one is chosen. Where no port is the bottleneck by its name,
  // and several send forward, it is the one that is offered most of what it can send; a share that is
  // not known is that of flows without end.
  tidegate.firstPort = (check) => {
    const names = check.ports.filter((port) => !port.access).map((port) => port.name);
    const most = check.offered.filter(({ port }) => names.includes(port))
      .sort((one, other) => (other.share ?? Number.MAX_VALUE) - (one.share ?? Number.MAX_VALUE));
    return tidegate.defaultPort(check) || most[0]?.port || names[0] || null;
  };

  const laws = (schema, stage) => schema.$defs[stage].oneOf.flatMap((each) => {
    const { law } = each.properties;
    return (law.enum || [law.const]).filter((name) => name !== "python");
  });

  // The controls that may be compared: each with a name, its words and its settings.
  tidegate.controls = (schema, check, port) => {
    const found = [{ id: "", label: "as written", option: "", settings: [] }];
    for (const { name, changes } of check.variants) {
      found.push({ id: `variant:${name}`, label: `variant ${name}`, option: "", settings: changes.map((each) => ofVariant(check.written, each)) });
    }
    for (const [stage, kind] of [["queue", "Queue"], ["gate", "Gate"]]) {
      if (port === null) break;
      const stands = at(check.written, ["port", port, stage]) || {};
      for (const law of laws(schema, kind)) {
        const setting = [key(["port", port, stage]), inline(upon(stage, { law }, stands))];
        found.push({ id: `${stage}:${law}`, label: `${stage} ${law}`, settings: [setting] });
      }
    }
    const tcp = Object.entries(check.effective.traffic || {}).filter(([name, each]) =>
      each.transport?.tcp && at(check.written, ["traffic", name]));
    for (const each of tcp.length ? schema.$defs.TcpControl.oneOf : []) {
      const settings = tcp.map(([name]) => [key(["traffic", name, "transport", "tcp", "control"]), JSON.stringify(each.const)]);
      found.push({ id: `tcp:${each.const}`, label: `TCP ${each.const}`, settings });
    }
    return found;
  };

  const quoted = (text) => /^[A-Za-z0-9_./:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  // The command that runs the same on a machine.
  tidegate.command = (file, seed, settings) => [
    `tidegate run ${quoted(file)}`,
    ...(seed === "1" ? [] : [`--seed ${quoted(seed)}`]),
    ...settings.map(([name, value]) => `--set ${quoted(`${name}=${value}`)}`),
  ].join(" \\\n    ");
})();
