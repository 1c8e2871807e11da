"use strict";
// The pictures of the report: the specifications that its own functions have written
// (tools/website/report_pictures.py), with the tables of the runs of this page.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const { element } = tidegate;
  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  const TABLES = ["flows", "ports", "class_rates", "pages", "flow_series", "class_series", "queue_series"];

  // The rows of a table of a run.
  const rowsOf = (table) => {
    const columns = Object.entries(table);
    if (!columns.length) return [];
    const [[, first]] = columns, count = (first.words ? first.at : first).length;
    return Array.from({ length: count }, (_, row) =>
      Object.fromEntries(columns.map(([name, column]) => [name, column.words ? column.words[column.at[row]] : column[row]])));
  };

  const known = (rows, name) => rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  const sum = (rows, name) => known(rows, name).reduce((total, value) => total + value, 0);
  const mean = (rows, name, scale = 1) => {
    const values = known(rows, name);
    return values.length ? scale * values.reduce((total, value) => total + value, 0) / values.length : null;
  };
  const quantile = (rows, name, percent) => tidegate.percentile(known(rows, name), percent);
  const grouped = (rows, key) => {
    const groups = new Map();
    for (const row of rows) {
      const of = key(row);
      if (!groups.has(of)) groups.set(of, []);
      groups.get(of).push(row);
    }
    return groups;
  };

  // The ports over time, in at most so many equal intervals.
  const ports = ({ ports: table }, { instants }) => {
    const rows = rowsOf(table).filter(({ port }) => !port.startsWith("access."));
    const times = [...new Set(rows.map((row) => row.time_s))].sort((one, other) => one - other);
    const width = (times[0] || 1) * Math.max(1, Math.ceil(times.length / instants));
    const groups = grouped(rows, ({ port, time_s: time }) => `${port} ${Math.floor(time / width - 1e-9)}`);
    return [...groups.values()].map((group) => ({
      port: group[0].port,
      time_s: Math.max(...known(group, "time_s")),
      utilisation: mean(group, "utilisation", 100),
      queue_mean_packets: mean(group, "queue_mean_packets"),
      queue_packets: group.at(-1).queue_packets,
      throughput_mbps: sum(group, "departed_bytes") * 8e-6 / width,
      ...Object.fromEntries(["data_dropped", "syn_arrived", "syn_refused", "marked"].map((name) => [`${name}_per_s`, sum(group, name) / width])),
    }));
  };

  // For each class and interval how many of its events it has a second; `more`: of those of one of them.
  const inIntervals = (rows, width, duration, events, more) => {
    const count = Math.ceil(duration / width);
    return [...grouped(rows, (row) => row.class)].flatMap(([name, mine]) => {
      const found = Array.from({ length: count }, (_, place) => ({ class: name, time_s: (place + 1) * width }));
      for (const [event, when] of Object.entries(events)) {
        const groups = grouped(mine.filter((row) => row[when] !== null), (row) => Math.floor(row[when] / width));
        found.forEach((row, place) => {
          const there = groups.get(place) || [];
          row[`${event}_per_s`] = there.length / width;
          if (more[event]) Object.assign(row, more[event](there));
        });
      }
      return found.filter((row) => row.time_s <= duration + 1e-9);
    });
  };

  const arrived = ({ class_rates: table }, width) => {
    const last = new Map();
    const rows = rowsOf(table).map((row) => {
      const span = row.time_s - (last.get(row.class) || 0);
      last.set(row.class, row.time_s);
      return { ...row, span, bits: row.arrived_bps * span };
    });
    return grouped(rows, (row) => `${row.class} ${Math.floor(row.time_s / width - 1e-9)}`);
  };

  // a flow of UDP that lost data has an end, and is not complete
  const lost = ({ fct_s: fct, size_bytes: size, delivered_bytes: got }) => fct === null && size !== null && got < size;
  const rowsOfFlows = (flows) => rowsOf(flows).map((row) => lost(row) ? { ...row, closed_s: null } : row);

  const classes = (tables, { instants }, { duration }) => {
    const width = Math.max(1, Math.ceil(duration / instants));
    const completed = (there) => ({ fct_mean_s: mean(there, "fct_s"), rate_mean_kbps: mean(there, "goodput_bps", 1e-3) });
    const rates = arrived(tables, width);
    const found = inIntervals(rowsOfFlows(tables.flows), width, duration, { offered: "start_s", admitted: "admitted_s", completed: "closed_s" }, { completed });
    for (const row of found) {
      const there = rates.get(`${row.class} ${Math.round(row.time_s / width) - 1}`);
      row.arrived_mbps = there ? sum(there, "bits") / sum(there, "span") * 1e-6 : null;
    }
    return found;
  };

  const pages = ({ pages: table }, { instants }, { duration }) => {
    const width = Math.max(1, Math.ceil(duration / Math.floor(instants / 4)));
    const loaded = (there) => ({ load_mean_s: mean(there, "load_time_s"), load_p95_s: quantile(there, "load_time_s", 95) });
    return inIntervals(rowsOf(table), width, duration, { started: "start_s", loaded: "loaded_s", given_up: "gave_up_s" }, { loaded });
  };

  const sizes = ({ flows }, { edges }, { warmup }) => {
    const rows = rowsOfFlows(flows).filter((row) => row.closed_s !== null && row.closed_s >= warmup && row.size_bytes !== null);
    const bin = ({ size_bytes: size }) => Math.min(Math.max(edges.filter((edge) => edge <= size).length, 1), edges.length - 1);
    return [...grouped(rows, bin)].sort(([one], [other]) => one - other).map(([place, group]) => ({
      size_bytes: Math.sqrt(edges[place - 1] * edges[place]),
      from_bytes: edges[place - 1],
      to_bytes: edges[place],
      flows: group.length,
      fct_mean_s: mean(group, "fct_s"),
      fct_p50_s: quantile(group, "fct_s", 50),
      fct_p95_s: quantile(group, "fct_s", 95),
      goodput_mean_kbps: mean(group, "goodput_bps", 1e-3),
    }));
  };

  const single = ({ flows }, { flows: most }) => {
    const rows = rowsOf(flows).filter((row) => row.fct_s !== null);
    const every = Math.max(1, Math.ceil(rows.length / most));
    return rows.filter((_, place) => place % every === 0).map((row) => ({
      class: row.class, start_s: row.start_s, fct_s: row.fct_s, size_bytes: row.size_bytes,
      syn_tries: row.syn_tries, timeouts: row.timeouts, again: row.retransmitted_packets,
      wait_s: row.admitted_s === null ? null : row.admitted_s - row.start_s,
      goodput_kbps: row.goodput_bps === null ? null : row.goodput_bps * 1e-3,
    }));
  };

  // What each of the series has for a row, beside its means.
  const SERIES = {
    flow: { keys: ["flow"], row: (row) => ({ ...row, flow: `${row.class}:${row.number}`, srtt_ms: row.srtt_s === null ? null : row.srtt_s * 1e3 }) },
    class: { keys: ["class"], row: (row) => row },
    queue: { keys: ["port", "class"], row: (row, whole) => ({ ...row, queue_share: whole > 0 ? row.queue_bytes / whole * 100 : null }) },
  };
  const series = (name, fields) => (tables, { instants }) => {
    const { keys, row: more } = SERIES[name];
    const table = rowsOf(tables[`${name}_series`]);
    const there = grouped(table, (row) => `${row.time_s} ${row.port}`);
    const rows = table.map((row) => ({
      ...more(row, sum(there.get(`${row.time_s} ${row.port}`), "queue_bytes")),
      ...("rate_bps" in row ? { rate_mbps: row.rate_bps === null ? null : row.rate_bps * 1e-6 } : {}),
    }));
    const times = [...new Set(rows.map((row) => row.time_s))].sort((one, other) => one - other);
    const ranks = new Map(times.map((time, rank) => [time, rank])), step = Math.ceil(times.length / (2 * instants));
    const groups = grouped(rows, (row) => `${keys.map((key) => row[key]).join(" ")} ${Math.floor(ranks.get(row.time_s) / step)}`);
    return [...groups.values()].map((group) => ({
      ...Object.fromEntries(keys.map((key) => [key, group[0][key]])),
      time_s: Math.max(...known(group, "time_s")),
      ...Object.fromEntries(fields.map((field) => [field, mean(group, field)])),
    }));
  };

  // The class with most to show first.
  const byCompletions = (rows) => {
    const every = [...grouped(rows, (row) => row.class).values()];
    return every.sort((one, other) => sum(other, "completed_per_s") - sum(one, "completed_per_s")).flat();
  };

  // The table of each picture, by its key.
  const COMPUTED = { ports, classes, "pages-time": pages, sizes, flows: single };
  const rowsFor = (key, titles, runs) => {
    const { limits } = tidegate.data.report;
    const of = COMPUTED[key] || series(key.replace("-series", ""), Object.keys(titles));
    const rows = runs.flatMap(({ label, tables, ...window }) => of(tables, limits, window).map((row) => ({ ...row, control: label })));
    return key === "classes" ? byCompletions(rows) : rows;
  };

  // A menu with what the runs have.
  const chosen = (param, options) => {
    const { bind } = param;
    const labels = options.map((each) => { const place = bind.options.indexOf(each); return place < 0 ? each : bind.labels[place]; });
    return { ...param, value: options.includes(param.value) ? param.value : options[0], bind: { ...bind, options, labels } };
  };
  const filled = ({ key, spec, split }, labels, rows) => {
    const { labels: standing } = tidegate.data.report;
    const found = JSON.parse(JSON.stringify(spec), (_, value) => standing.includes(value) ? labels[standing.indexOf(value)] : value);
    const titles = found.params.find(({ name }) => name === "titles");
    if (key.endsWith("-series")) {
      titles.value = Object.fromEntries(Object.entries(titles.value).filter(([field]) => rows.some((row) => row[field] !== null)));
    }
    const fields = Object.keys(titles.value);
    found.params = found.params.map((param) => {
      // `class` is no name in expressions
      const column = param.name === "which" ? "class" : param.name;
      if (split.includes(column)) return chosen(param, [...new Set(rows.map((row) => row[column]))]);
      if (param.name !== "field") return param;
      return fields.length > 1 ? chosen(param, fields) : { name: "field", value: fields[0] };
    });
    return found;
  };

  // The pictures of runs: each run has a label, its tables, and where it began to count and ended.
  tidegate.reportCharts = (runs) => {
    const labels = runs.map(({ label }, place) => place && label === runs[0].label ? `${label} (2)` : label);
    const named = runs.map((run, place) => ({ ...run, label: labels[place] }));
    return tidegate.data.report.charts[runs.length - 1].flatMap((chart) => {
      const titles = chart.spec.params.find(({ name }) => name === "titles").value;
      const rows = rowsFor(chart.key, titles, named);
      return rows.length ? [{ title: chart.title, note: chart.note, rows, needs: chart.needs, spec: filled(chart, labels, rows) }] : [];
    });
  };

  let library;
  // Vega is as large as the simulator: it is loaded when somebody wants to see these pictures.
  const loaded = () => {
    library ||= new Promise((resolve, reject) => {
      const script = element("script", { src: `${folder}vega.js`, onload: resolve });
      script.onerror = () => reject(new Error("the library that draws could not be loaded"));
      document.head.append(script);
    });
    return library;
  };

  // A specification in the colours of the page.
  const coloured = (spec, place) => {
    const style = getComputedStyle(place), colour = (name) => style.getPropertyValue(name).trim();
    const text = colour("--lab-text"), grid = colour("--lab-grid"), { config } = spec;
    return {
      ...spec,
      background: colour("--lab-ground"),
      config: {
        ...config,
        axis: { ...config.axis, labelColor: text, titleColor: text, domainColor: grid, tickColor: grid },
        axisX: { ...config.axisX, gridColor: grid },
        axisY: { ...config.axisY, gridColor: grid },
        legend: { ...config.legend, labelColor: text },
        title: { ...config.title, color: text },
      },
    };
  };

  // The pictures of the report in a part that is drawn when it is opened. `ask` asks the engine of a run.
  class Report {
    constructor(ask, runs) {
      this.ask = ask;
      this.runs = runs;
      this.views = [];
      this.inner = element("div", {});
      const help = element("p", { className: "lab-help", textContent: "Point at a picture for its numbers; drag to move it, Ctrl and the wheel zoom, a double click shows the whole." });
      this.place = element("details", { className: "lab-report" }, element("summary", { textContent: "The pictures of the report" }), help, this.inner);
      this.place.addEventListener("toggle", () => { if (this.place.open) this.draw(); });
      this.forget = tidegate.whenColoursChange(this);
    }

    async draw() {
      if (!this.place.open || !this.place.isConnected) return;
      this.#clear();
      try {
        await loaded();
        this.charts ||= tidegate.reportCharts(await Promise.all(this.runs.map((run, number) => this.read(run, number))));
        this.inner.replaceChildren();
        for (const { title, note, rows, needs, spec } of this.charts) await this.#one(title, note, { ...spec, datasets: { [needs]: rows } });
        this.place.dataset.drawn = String(this.charts.length);
      } catch (fault) { this.inner.replaceChildren(`These pictures cannot be drawn: ${fault.message}.`); }
    }

    async read(run, number) {
      const tables = {};
      for (const name of TABLES) {
        tables[name] = await this.ask(number, { do: "table", name });
        if (tables[name].error) throw new Error(tables[name].error);
      }
      return { ...run, tables };
    }

    async #one(title, note, spec) {
      const inner = element("div", { className: "lab-chart" });
      this.inner.append(element("figure", {}, element("figcaption", { textContent: title }), inner, element("p", { className: "lab-help", textContent: note })));
      const { view } = await vegaEmbed(inner, coloured(spec, this.place), { renderer: "canvas", actions: { export: true, source: false, compiled: false, editor: false }, downloadFileName: title });
      inner.querySelector("summary").setAttribute("aria-label", `Save the picture: ${title}`);
      this.views.push(view);
    }

    #clear() { this.views.splice(0).forEach((view) => view.finalize()); }

    end() { this.forget(); this.#clear(); this.charts = null; }
  }

  tidegate.Report = Report;
})();
