"use strict";
// Pictures that move while a run goes on: lines over simulated time, on a canvas.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const MARGIN = { left: 52, right: 10, top: 8, bottom: 24 };
  const HEIGHT = 190;

  // Round numbers from 0 to `most`, about four of them.
  const ticks = (most) => {
    const raw = most / 4, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((each) => each * power >= raw);
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, place) => place * step);
  };
  const short = (value) => value >= 1e6 ? `${Number((value / 1e6).toPrecision(3))}M`
    : value >= 1e4 ? `${Number((value / 1e3).toPrecision(3))}k` : String(Number(value.toPrecision(4)));

  class Picture {
    // `title`: what is shown, with its unit.
    constructor(title) {
      const { element } = tidegate;
      this.title = title;
      this.canvas = element("canvas", { className: "lab-canvas" });
      this.canvas.setAttribute("role", "img");
      this.place = element("figure", {}, element("figcaption", { textContent: title }), this.canvas);
      this.lines = [];
      this.end = 1;
      this.describe();
      all.add(this);
      new ResizeObserver(() => this.draw()).observe(this.canvas);
    }

    // `lines`: each with `name`, `colour` (a variable of the style), `thin` and `points` of time and value.
    show(lines, end) {
      this.lines = lines;
      this.end = end;
      this.draw();
    }

    // For those who do not see it: where each line stands at its end, and its highest point.
    // `earlier`: it is of other settings than those that stand above it.
    describe(earlier = false) {
      const said = this.lines.filter(({ points, thin }) => points.length && !thin).map(({ name, points }) => {
        const values = points.map(([, value]) => value);
        return `${name}: ${short(values.at(-1))} at the end, at most ${short(Math.max(...values))}`;
      });
      const thin = this.lines.filter((line) => line.thin && line.points.length).length;
      if (thin) said.push(`${thin} flows`);
      this.canvas.setAttribute("aria-label", `${this.title}${earlier ? ", of earlier settings" : ""}. ${said.join(". ") || "Nothing yet"}.`);
    }

    draw() {
      const { canvas } = this;
      const wide = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
      if (!wide) return;
      canvas.width = wide * ratio;
      canvas.height = HEIGHT * ratio;
      const pen = canvas.getContext("2d");
      pen.scale(ratio, ratio);
      const style = getComputedStyle(canvas);
      const colour = (name) => style.getPropertyValue(name).trim();
      const highest = Math.max(...this.lines.flatMap(({ points }) => points.map(([, value]) => value)), 0);
      const most = (highest || 1) * 1.05;
      const right = wide - MARGIN.right, bottom = HEIGHT - MARGIN.bottom;
      const x = (time) => MARGIN.left + (right - MARGIN.left) * time / this.end;
      const y = (value) => bottom - (bottom - MARGIN.top) * value / most;
      this.#axes(pen, { wide, right, bottom, x, y, most, colour });
      pen.lineJoin = "round";
      for (const { points, colour: named, thin, dashed } of this.lines) {
        pen.strokeStyle = colour(named);
        pen.lineWidth = thin ? 1 : 1.8;
        pen.globalAlpha = thin ? 0.65 : 1;
        pen.setLineDash(dashed ? [5, 3] : []);
        pen.beginPath();
        points.forEach(([time, value], place) => place ? pen.lineTo(x(time), y(value)) : pen.moveTo(x(time), y(value)));
        pen.stroke();
      }
    }

    #axes(pen, { right, bottom, x, y, most, colour }) {
      pen.font = `12px ${getComputedStyle(this.canvas).fontFamily}`;
      pen.fillStyle = colour("--lab-soft");
      pen.strokeStyle = colour("--lab-grid");
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      for (const value of ticks(most)) {
        pen.beginPath();
        pen.moveTo(MARGIN.left, y(value));
        pen.lineTo(right, y(value));
        pen.stroke();
        pen.fillText(short(value), MARGIN.left - 6, y(value));
      }
      pen.textAlign = "center";
      pen.textBaseline = "top";
      for (const time of ticks(this.end)) {
        pen.fillText(`${short(time)}${time === 0 ? " s" : ""}`, Math.min(x(time), right - 10), bottom + 6);
      }
    }
  }

  // Colours are those of the page: where it turns dark or light, pictures are drawn anew.
  const all = new Set();
  const again = () => { for (const picture of all) picture.draw(); };
  // For what is drawn besides; it returns what ends that.
  tidegate.whenColoursChange = (drawn) => { all.add(drawn); return () => all.delete(drawn); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new MutationObserver(again).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });

  tidegate.Picture = Picture;

  // The lines of each picture from what was seen of the runs; `port`: its place among the ports of a run.
  tidegate.linesOf = (runs) => {
    const all = { queue: [], rate: [], completed: [], windows: [] };
    runs.forEach(({ label, seen, port }, number) => {
      const line = (points, more = {}) => ({ name: label, colour: number ? "--lab-b" : "--lab-a", dashed: number > 0, points, ...more });
      const at = (glance) => glance.ports.find((each) => each.port === port);
      all.queue.push(line(seen.filter(at).map((glance) => [glance.now_s, at(glance).queue_packets])));
      all.completed.push(line(seen.map((glance) => [glance.now_s, glance.classes.reduce((sum, each) => sum + each.completed, 0)])));
      const rates = seen.slice(1).map((glance, place) => {
        const before = seen[place], span = glance.now_s - before.now_s;
        return at(glance) && span > 0 ? [glance.now_s, (at(glance).departed_bytes - at(before).departed_bytes) * 8 / span / 1e6] : null;
      });
      all.rate.push(line(rates.filter(Boolean)));
      const flows = new Map();
      for (const { now_s: now, windows } of seen) {
        for (const { flow, cwnd_packets: cwnd } of windows) {
          if (!flows.has(flow)) flows.set(flow, []);
          flows.get(flow).push([now, cwnd]);
        }
      }
      for (const points of flows.values()) if (points.length > 1) all.windows.push(line(points, { thin: true, dashed: false }));
    });
    return all;
  };
})();
