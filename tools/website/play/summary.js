"use strict";
// The measures of a run, from its tables: those of `tidegate run`, defined in docs/metrics.md.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};

  // A percentile, linear between order statistics; null: of nothing.
  const percentile = (values, percent) => {
    if (!values.length) return null;
    const sorted = Float64Array.from(values).sort();
    const place = (sorted.length - 1) * percent / 100;
    const low = Math.floor(place), high = Math.ceil(place);
    return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
  };
  tidegate.percentile = percentile;
  const share = (part, whole) => whole ? part / whole : null;
  const sum = (values) => values.reduce((total, each) => total + each, 0);

  const ofClass = (flows, rows, [start, end]) => {
    const inside = (time) => time !== null && time >= start && time <= end;
    // a flow of UDP that lost data has an end, and is not complete
    const { fct_s: fct, size_bytes: size, delivered_bytes: got } = flows;
    const lost = (row) => fct[row] === null && size[row] !== null && got[row] < size[row];
    const closed = rows.filter((row) => inside(flows.closed_s[row]) && !lost(row));
    const arrived = rows.filter((row) => inside(flows.start_s[row]));
    const times = closed.map((row) => flows.fct_s[row]).filter((time) => time !== null);
    const of = (name) => sum(rows.map((row) => flows[name][row]));
    return {
      completed: closed.length,
      fct_p50_s: percentile(times, 50),
      fct_p95_s: percentile(times, 95),
      never_admitted_share: share(arrived.filter((row) => flows.admitted_s[row] === null).length, arrived.length),
      retransmitted_share: share(of("retransmitted_packets"), of("sent_packets")),
      throughput_bps: sum(rows.map((row) => flows.window_bytes[row])) * 8 / (end - start),
    };
  };

  // Whether there is anything to measure: a run may be stopped before its warm-up is over.
  tidegate.hasWindow = ([start, end]) => end > start;

  // The measures of each class and of a port: a list of words, and an object of numbers. There are
  // none where the run has not come to its window.
  tidegate.summary = (tables, window, port) => {
    const flows = { ...tables.flows, ...tables.flow_window };
    const { words, at } = flows.class;
    if (!tidegate.hasWindow(window)) return { classes: words.map((name) => ({ name })), port: { name: port } };
    const rows = words.map(() => []);
    at.forEach((code, row) => rows[code].push(row));
    const classes = words.map((name, code) => ({ name, ...ofClass(flows, rows[code], window) }));
    const place = (table) => table.port ? table.port.at.findIndex((code) => table.port.words[code] === port) : -1;
    const total = place(tables.port_totals), queue = place(tables.queues);
    const ofPort = (table, row, name) => row < 0 ? null : table[name][row];
    const udp = tables.udp.class ? tables.udp : { class: { words: [], at: [] } };
    udp.class.at.forEach((code, row) => {
      const found = classes.find((each) => each.name === udp.class.words[code]);
      if (found) Object.assign(found, { delay_p50_s: udp.delay_p50_s[row], delay_p95_s: udp.delay_p95_s[row] });
    });
    const pages = tables.pages.class ? tables.pages : { class: { words: [], at: [] } };
    for (const each of classes) {
      const loaded = pages.class.at.map((code, row) => [pages.class.words[code], row])
        .filter(([name, row]) => name === each.name && pages.loaded_s[row] !== null && pages.loaded_s[row] >= window[0] && pages.loaded_s[row] <= window[1]);
      if (loaded.length) each.page_load_p50_s = percentile(loaded.map(([, row]) => pages.load_time_s[row]), 50);
    }
    return {
      classes,
      port: {
        name: port,
        utilisation: ofPort(tables.port_totals, total, "utilisation"),
        queue_delay_mean_s: ofPort(tables.queues, queue, "queue_delay_mean_s"),
        queue_delay_p95_s: ofPort(tables.queues, queue, "queue_delay_p95_s"),
      },
    };
  };
  tidegate.SUMMARISED = ["flows", "flow_window", "port_totals", "queues", "udp", "pages"];

  const seconds = (value) => value < 1 ? `${Number((value * 1e3).toPrecision(3))} ms` : `${Number(value.toPrecision(3))} s`;
  const percent = (value) => `${Number((value * 100).toPrecision(3))} %`;
  const rate = (value) => value >= 1e6 ? `${Number((value / 1e6).toPrecision(3))} Mbit/s` : `${Number((value / 1e3).toPrecision(3))} kbit/s`;
  const count = (value) => value.toLocaleString("en");
  const MEASURES = [
    ["completed", "sessions completed", count],
    ["fct_p50_s", "time of a session, median", seconds],
    ["fct_p95_s", "time of a session, 95 % within", seconds],
    ["page_load_p50_s", "time of a page, median", seconds],
    ["delay_p50_s", "delay of packets, median", seconds],
    ["delay_p95_s", "delay of packets, 95 % within", seconds],
    ["throughput_bps", "data delivered", rate],
    ["never_admitted_share", "sessions never admitted", percent],
    ["retransmitted_share", "data sent again", percent],
  ];
  const OF_PORT = [
    ["utilisation", "link used", percent],
    ["queue_delay_mean_s", "wait in the queue, mean", seconds],
    ["queue_delay_p95_s", "wait in the queue, 95 % within", seconds],
  ];

  // The rows of a table: words, and what each of the summaries has for them.
  tidegate.summaryRows = (summaries) => {
    const rows = [];
    const add = (of, words, values, shown) => {
      if (values.every((value) => value === null || value === undefined || Number.isNaN(value))) return;
      rows.push({ of, words, values: values.map((value) => value === null || value === undefined ? "" : shown(value)) });
    };
    for (const [key, words, shown] of OF_PORT) add(summaries[0].port.name, words, summaries.map((each) => each.port[key]), shown);
    for (const { name } of summaries[0].classes) {
      for (const [key, words, shown] of MEASURES) {
        const values = summaries.map((each) => each.classes.find((one) => one.name === name)?.[key]);
        if (key === "completed" && values.every((value) => !value)) continue;
        if (key.endsWith("_share") && values.every((value) => !value)) continue;
        add(name, words, values, shown);
      }
    }
    return rows;
  };
})();
