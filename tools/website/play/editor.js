"use strict";
// A field for the text of a scenario: numbers of lines, faults at their lines, and what may come next.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const TYPED_AT_LEAST = 2;
  let editors = 0;

  const element = (name, more = {}, ...inner) => {
    const made = Object.assign(document.createElement(name), more);
    made.append(...inner);
    return made;
  };
  tidegate.element = element;

  class Editor {
    constructor(schema, changed) {
      editors += 1;
      this.schema = schema;
      this.listId = `lab-list-${editors}`;
      this.field = element("textarea", { className: "lab-text", spellcheck: false, wrap: "off", autocapitalize: "off", id: `lab-text-${editors}` });
      this.field.setAttribute("autocomplete", "off");
      this.field.setAttribute("aria-describedby", `lab-keys-${editors}`);
      this.gutter = element("div", { className: "lab-gutter" });
      this.gutter.setAttribute("aria-hidden", "true");
      this.list = element("ul", { className: "lab-list", id: this.listId, hidden: true });
      this.list.tabIndex = 0; // it scrolls
      this.list.setAttribute("role", "listbox");
      this.list.setAttribute("aria-label", "What may stand here");
      const label = element("label", { textContent: "Scenario", htmlFor: this.field.id });
      const help = element("p", { className: "lab-help", id: `lab-keys-${editors}`, textContent: "Ctrl and space: what may stand here. Escape, then Tab: leave the field." });
      const ask = element("button", { type: "button", textContent: "What may stand here?", onclick: () => { this.field.focus(); this.suggest(); } });
      const below = element("div", { className: "lab-below" }, ask, help);
      const frame = element("div", { className: "lab-frame" }, this.gutter, this.field, this.list);
      this.place = element("div", { className: "lab-editor" }, label, frame, below);
      this.faulty = new Map();
      this.chosen = -1;
      this.leaves = false;
      this.field.addEventListener("input", (event) => { this.draw(); changed(); if (event.isTrusted) this.#typed(event); });
      this.field.addEventListener("scroll", () => { this.gutter.scrollTop = this.field.scrollTop; this.close(); });
      this.field.addEventListener("keydown", (event) => this.#key(event));
      this.field.addEventListener("blur", () => this.close());
      this.list.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        const item = event.target.closest("li");
        if (item) this.#take(Number(item.dataset.place));
      });
    }

    get text() { return this.field.value; }
    set text(text) { this.field.value = text; this.close(); this.draw(); }

    // Draws the numbers of the lines; those with a fault are marked.
    draw() {
      const count = this.field.value.split("\n").length;
      const lines = [];
      for (let line = 1; line <= count; line += 1) {
        const words = this.faulty.get(line);
        lines.push(element("span", { textContent: words ? `▸ ${line}` : line, className: words ? "faulty" : "", title: words || "" }));
      }
      this.gutter.replaceChildren(...lines);
      this.gutter.scrollTop = this.field.scrollTop;
    }

    // Marks lines: a map of their numbers to what is wrong there.
    mark(faulty) {
      this.faulty = faulty;
      this.field.setAttribute("aria-invalid", String(faulty.size > 0));
      this.draw();
    }

    // Moves to the beginning of a line.
    go(line) {
      const before = this.field.value.split("\n").slice(0, line - 1);
      const from = before.reduce((sum, each) => sum + each.length + 1, 0);
      const end = this.field.value.indexOf("\n", from);
      this.field.focus();
      this.field.setSelectionRange(from, end < 0 ? this.field.value.length : end);
      const height = parseFloat(getComputedStyle(this.field).lineHeight);
      this.field.scrollTop = Math.max((line - 4) * height, 0);
    }

    suggest() {
      const before = this.field.value.slice(0, this.field.selectionStart);
      const { typed, list } = tidegate.suggestions(this.schema, before);
      this.typed = typed;
      this.found = list;
      if (!list.length) { this.close(); return; }
      this.list.replaceChildren(...list.map(({ name, words }, place) => {
        const item = element("li", { id: `${this.listId}-${place}` }, element("b", { textContent: name }), ` ${words}`);
        item.setAttribute("role", "option");
        item.dataset.place = place;
        return item;
      }));
      this.list.hidden = false;
      this.#position(before);
      this.field.setAttribute("aria-controls", this.listId);
      this.#choose(0);
    }

    close() {
      this.list.hidden = true;
      this.field.removeAttribute("aria-activedescendant");
      this.field.removeAttribute("aria-controls");
    }

    #position(before) {
      const style = getComputedStyle(this.field);
      const height = parseFloat(style.lineHeight), wide = parseFloat(style.fontSize) * 0.6;
      const lines = before.split("\n");
      const top = lines.length * height - this.field.scrollTop + parseFloat(style.paddingTop);
      const left = (lines.at(-1).length - this.typed) * wide - this.field.scrollLeft + this.gutter.offsetWidth;
      this.list.style.top = `${Math.min(top, this.field.clientHeight)}px`;
      const most = this.gutter.offsetWidth + this.field.clientWidth - this.list.offsetWidth;
      this.list.style.left = `${Math.max(Math.min(left, most), 0)}px`;
    }

    #choose(place) {
      const items = [...this.list.children];
      this.chosen = (place + items.length) % items.length;
      items.forEach((item, at) => item.setAttribute("aria-selected", String(at === this.chosen)));
      this.field.setAttribute("aria-activedescendant", items[this.chosen].id);
      items[this.chosen].scrollIntoView({ block: "nearest" });
    }

    #take(place) {
      const { text } = this.found[place];
      const end = this.field.selectionStart;
      this.field.setSelectionRange(end - this.typed, end);
      this.insert(text);
      this.close();
    }

    // As if it were typed, so that it can be undone.
    insert(text) {
      this.field.focus();
      if (!document.execCommand("insertText", false, text)) {
        this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
        this.field.dispatchEvent(new Event("input"));
      }
    }

    #typed(event) {
      if (event.inputType !== "insertText") { this.close(); return; }
      const word = /[A-Za-z_-]*$/.exec(this.field.value.slice(0, this.field.selectionStart))[0];
      if (!this.list.hidden || word.length >= TYPED_AT_LEAST) this.suggest();
    }

    #key(event) {
      if (event.ctrlKey && event.key === " ") { event.preventDefault(); this.suggest(); return; }
      if (!this.list.hidden) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step) { event.preventDefault(); this.#choose(this.chosen + step); return; }
        if (event.key === "Enter" || event.key === "Tab") { event.preventDefault(); this.#take(this.chosen); return; }
        if (event.key === "Escape") { event.preventDefault(); this.close(); return; }
      }
      // Tab indents, but for who has pressed Escape: a keyboard has to get out of here
      if (event.key === "Tab" && !this.leaves && !event.shiftKey) { event.preventDefault(); this.insert("    "); }
      this.leaves = event.key === "Escape";
    }
  }

  tidegate.Editor = Editor;
})();
