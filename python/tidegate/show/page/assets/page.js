"use strict";
// Draws the charts of the page, sorts its tables, and switches controls on and off.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const views = new Map();
  const hidden = new Map();
  const faults = [];
  const note = (what) => { faults.push(String(what)); document.body.dataset.faults = faults.join(" | "); };
  window.addEventListener("error", (event) => note(event.message));
  window.addEventListener("unhandledrejection", (event) => note(event.reason));

  // The columns of a table as rows; a column of words has each word once, and the place of each row's word.
  const rows = new Map();
  const rowsOf = (name) => {
    if (!rows.has(name)) {
      const columns = Object.entries(data[name]);
      const value = (column, place) => column.words ? column.words[column.at[place]] : column[place];
      const first = columns.length ? columns[0][1] : [];
      const count = (first.words ? first.at : first).length;
      rows.set(name, Array.from({ length: count }, (_, place) =>
        Object.fromEntries(columns.map(([key, column]) => [key, value(column, place)]))));
    }
    return rows.get(name);
  };

  const draw = async (place) => {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "under way";
    const spec = JSON.parse(place.querySelector("script").textContent);
    spec.datasets = { [place.dataset.needs]: rowsOf(place.dataset.needs) };
    const inner = document.createElement("div");
    place.append(inner);
    inner.style.width = "100%";
    try {
      const result = await vegaEmbed(inner, spec, { renderer: "canvas", actions: { export: true, source: false, compiled: false, editor: false }, downloadFileName: place.id });
      views.set(place, result.view);
      place.dataset.drawn = "yes";
      await switched(place);
    } catch (error) { place.dataset.drawn = "no"; note(error); }
    const all = document.querySelectorAll(".chart");
    document.body.dataset.drawn = `${[...all].filter((each) => each.dataset.drawn === "yes").length} of ${all.length}`;
  };

  const switched = async (place) => {
    const view = views.get(place), off = hidden.get(place.dataset.part);
    if (view && off && place.dataset.switched) await view.signal("hidden", [...off]).runAsync();
  };

  for (const bar of document.querySelectorAll(".bar")) {
    hidden.set(bar.dataset.part, new Set());
    bar.addEventListener("change", (event) => {
      const off = hidden.get(bar.dataset.part), box = event.target;
      box.checked ? off.delete(box.value) : off.add(box.value);
      for (const place of views.keys()) if (place.dataset.part === bar.dataset.part) switched(place);
      for (const cell of document.querySelectorAll("[data-control]"))
        if (cell.dataset.part === bar.dataset.part) cell.hidden = off.has(cell.dataset.control);
    });
  }

  // The number or the text by which a cell is sorted.
  const key = (cell) => {
    if (!cell) return "";
    const given = cell.dataset.value;
    return given === undefined ? cell.textContent.trim() : given === "" ? null : Number(given);
  };
  const before = (left, right) => {
    if (left === null || right === null) return (left === null) - (right === null);
    return typeof left === "number" && typeof right === "number"
      ? left - right : String(left).localeCompare(String(right), undefined, { numeric: true });
  };
  for (const table of document.querySelectorAll("table.sorts")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      // Lines stay under the heading of their group: their names say nothing without it.
      const body = table.tBodies[0], groups = [[]];
      for (const row of body.rows) {
        if (row.classList.contains("group")) groups.push([]);
        groups.at(-1).push(row);
      }
      for (const list of groups) {
        const heading = list[0]?.classList.contains("group") ? [list.shift()] : [];
        list.sort((one, other) => {
          const left = key(one.cells[place]), right = key(other.cells[place]);
          const order = before(left, right);
          return left === null || right === null ? order : down ? -order : order;
        });
        body.append(...heading, ...list);
      }
    }));
  }

  for (const filters of document.querySelectorAll(".filters")) {
    const table = document.getElementById(filters.dataset.table);
    const apply = () => {
      const wanted = filters.querySelector("button[aria-pressed=true]").dataset.verdict;
      const words = filters.querySelector("input").value.toLowerCase();
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = (wanted && row.dataset.verdict !== wanted) || !row.textContent.toLowerCase().includes(words);
        shown += !row.hidden;
      }
      filters.querySelector("output").textContent = `${shown} shown`;
    };
    filters.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      for (const each of filters.querySelectorAll("button")) each.setAttribute("aria-pressed", String(each === button));
      apply();
    });
    filters.querySelector("input").addEventListener("input", apply);
    apply();
  }

  // The queue of a port, played: a bar for each control, which grows from the link at its right.
  const element = (name, parent, more) => parent.appendChild(Object.assign(document.createElement(name), more));
  const short = (value) => value >= 100 ? Math.round(value).toLocaleString("en") : String(Number((value || 0).toPrecision(2)));
  const motion = (place) => {
    const [button, slider, out, select] = ["button", "input", "output", "select"].map((name) => place.querySelector(name));
    const tanks = place.querySelector(".tanks"), hues = place.dataset.hues.split(" "), part = place.dataset.part;
    const palette = [...place.querySelectorAll(".key i")].map((each) => each.style.background);
    const classes = place.dataset.classes ? data[place.dataset.classes].class.words : [""];
    const controls = data[place.dataset.needs].control.words;
    let times, shown, longest, timer;
    // The last row at or before a time: the rows of one control are in the order of time.
    const at = (rows, time) => {
      let low = 0, high = rows.length;
      while (low < high) { const half = (low + high) >> 1; if (rows[half].time_s <= time + 1e-9) low = half + 1; else high = half; }
      return rows[low - 1] || {};
    };
    const show = () => {
      const time = times[slider.value];
      out.textContent = `${time.toFixed(time < 10 ? 2 : 1)} s`;
      for (const { control, tank, bars, words, lost, ports, queues } of shown) {
        tank.hidden = Boolean(hidden.get(part) && hidden.get(part).has(control));
        const now = at(ports, time);
        const waiting = queues.map((rows) => at(rows, time).queue_packets || 0);
        waiting.forEach((count, number) => { bars[number].style.width = `${100 * count / longest}%`; });
        words.textContent = `${short(waiting.reduce((sum, each) => sum + each, 0))} packets wait, link used ${short(now.utilisation)} %`;
        lost.textContent = now.data_dropped_per_s > 0 ? ` ${short(now.data_dropped_per_s)}/s lost` : "";
      }
    };
    const stop = () => { clearInterval(timer); timer = undefined; button.textContent = "Play"; };
    const build = () => {
      stop();
      const of = (name) => rowsOf(name).filter((row) => row.port === select.value);
      const all = of(place.dataset.needs), split = place.dataset.classes ? of(place.dataset.classes) : all;
      times = [...new Set(all.map((row) => row.time_s))].sort((one, other) => one - other);
      tanks.replaceChildren();
      shown = controls.map((control, number) => {
        const tank = element("div", tanks, { className: "tank" });
        Object.assign(tank.dataset, { part, control });
        element("b", tank, { textContent: control });
        const queue = element("div", tank, { className: "queue" });
        const mine = split.filter((row) => row.control === control);
        const queues = classes.map((name) => name ? mine.filter((row) => row.class === name) : mine);
        const bars = classes.map((name, place) => element("i", queue, { title: name, style: `background:${name ? palette[place] : hues[number]}` }));
        const words = element("span", tank, {});
        const text = element("span", words, {}), lost = element("span", words, { className: "lost" });
        return { control, tank, bars, words: text, lost, queues, ports: all.filter((row) => row.control === control) };
      });
      const sums = new Map();
      for (const row of split) sums.set(`${row.control} ${row.time_s}`, (sums.get(`${row.control} ${row.time_s}`) || 0) + (row.queue_packets || 0));
      longest = Math.max(...sums.values(), 1e-9);
      slider.max = times.length - 1;
      slider.value = Math.min(slider.value, slider.max);
      show();
    };
    const step = () => {
      if (Number(slider.value) >= Number(slider.max)) { stop(); return; }
      slider.value = Number(slider.value) + 1;
      show();
    };
    button.addEventListener("click", () => {
      if (timer !== undefined) { stop(); return; }
      if (slider.value === slider.max) slider.value = 0;
      button.textContent = "Pause";
      timer = setInterval(step, Math.min(Math.max(20000 / times.length, 50), 250));
    });
    slider.addEventListener("input", () => { stop(); show(); });
    select.addEventListener("change", build);
    build();
  };
  for (const place of document.querySelectorAll(".motion")) try { motion(place); } catch (error) { note(error); }

  const charts = [...document.querySelectorAll(".chart")];
  const everything = () => charts.reduce((former, place) => former.then(() => draw(place)), Promise.resolve());
  window.tidegate = { views, everything };
  window.addEventListener("beforeprint", everything);
  if (location.hash === "#all" || !("IntersectionObserver" in window)) { everything(); return; }
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { watch.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "400px" });
  charts.forEach((place) => watch.observe(place));
})();
