// A line over the last hour. It is drawn at the size that it has, so that its words stay legible.

const HIGH = 150;
const MARGIN = { left: 44, right: 8, top: 10, bottom: 22 };
const HOUR_S = 3600;

function svg(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A round number above: 1, 2 or 5 times a power of ten.
export function roundAbove(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 2, 5, 10].map((digit) => digit * power).find((round) => round >= value * (1 - 1e-9));
}

export function short(value) {
  return Number(value.toPrecision(3)).toLocaleString("en");
}

export class Chart {
  // `least`: the scale reaches so far at least.
  constructor(name, unit, least) {
    this.name = name;
    this.unit = unit;
    this.least = least;
    this.picture = svg("svg", { role: "img" });
    this.caption = document.createElement("figcaption");
    this.figure = document.createElement("figure");
    this.figure.append(this.caption, this.picture);
    this.lines = [];
    this.bound = 0;
    new ResizeObserver(() => this.draw()).observe(this.figure);
  }

  // Lines of points [seconds ago, value], and a bound that is drawn where it is not zero.
  show(lines, bound = 0) {
    this.lines = lines;
    this.bound = bound;
    this.caption.replaceChildren(`${this.name}, ${this.unit}`);
    lines.filter(({ name }) => name).forEach(({ name, kind }, place) => {
      const word = document.createElement("span");
      word.className = kind;
      word.textContent = name;
      this.caption.append(place ? ", " : ": ", word);
    });
    if (bound) this.caption.append(`, the link ${short(bound)} (dashed)`);
    const told = lines.map(({ name, points }) => {
      const most = Math.max(0, ...points.map(([, value]) => value));
      return `${name ? `${name}: ` : ""}at most ${short(most)}, last ${points.length ? short(points.at(-1)[1]) : "nothing"}`;
    });
    this.picture.setAttribute("aria-label", `${this.name} in the last hour, ${this.unit}. ${told.join("; ")}.`);
    this.draw();
  }

  draw() {
    const wide = this.figure.clientWidth;
    if (wide === 0) return;
    this.picture.setAttribute("viewBox", `0 0 ${wide} ${HIGH}`);
    const right = wide - MARGIN.right, bottom = HIGH - MARGIN.bottom;
    const most = roundAbove(Math.max(this.bound, this.least, ...this.lines.flatMap(({ points }) => points.map(([, value]) => value))));
    const x = (ago) => right - (right - MARGIN.left) * Math.min(1, ago / HOUR_S);
    const y = (value) => bottom - (bottom - MARGIN.top) * value / most;
    const parts = [];
    for (const value of [0, most / 2, most]) {
      parts.push(svg("line", { class: "grid", x1: MARGIN.left, x2: right, y1: y(value), y2: y(value) }));
      parts.push(svg("text", { x: MARGIN.left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)));
    }
    for (const minutes of wide < 420 ? [60, 30, 0] : [60, 45, 30, 15, 0]) {
      const [anchor, word] = minutes === 60 ? ["start", "60 min ago"] : minutes === 0 ? ["end", "now"] : ["middle", String(minutes)];
      parts.push(svg("text", { x: x(60 * minutes), y: HIGH - 5, "text-anchor": anchor }, word));
    }
    if (this.bound) parts.push(svg("path", { class: "bound", d: `M${MARGIN.left},${y(this.bound)}H${right}` }));
    for (const { kind, points } of this.lines) {
      const path = points.map(([ago, value], place) => `${place ? "L" : "M"}${x(ago).toFixed(1)},${y(value).toFixed(1)}`);
      parts.push(svg("path", { class: kind, d: path.join("") }));
    }
    this.picture.replaceChildren(...parts);
  }
}
