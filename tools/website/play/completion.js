"use strict";
// What may stand at a place of a scenario: keys and values, from the schema of scenarios.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};

  // Every form that a part of the schema may have.
  const forms = (schema, part) => {
    if (!part || typeof part !== "object") return [];
    if (part.$ref) return forms(schema, schema.$defs[part.$ref.replace("#/$defs/", "")]);
    const more = [...(part.oneOf || []), ...(part.anyOf || []), ...(part.allOf || [])];
    return [part, ...more.flatMap((each) => forms(schema, each))];
  };

  const below = (schema, parts, key) => parts.flatMap((part) => {
    if (key === 0) return part.items ? forms(schema, part.items) : [];
    const named = part.properties && part.properties[key];
    if (named) return forms(schema, named);
    return typeof part.additionalProperties === "object" ? forms(schema, part.additionalProperties) : [];
  });

  const KEY = /^\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.?)/;
  // The parts of a dotted key.
  const split = (text) => {
    const found = [];
    let rest = text;
    for (let match = KEY.exec(rest); match; match = KEY.exec(rest)) {
      found.push(match[1] ?? match[2] ?? match[3]);
      rest = rest.slice(match[0].length);
      if (!match[4]) break;
    }
    return found;
  };

  // A variant changes any key of the document: its own path is the one behind its name.
  const unvaried = (path) => path[0] === "variant" ? path.slice(2) : path;

  // Where the end of a text is: the path of the table or key there, what has been typed of a word,
  // and whether that is a key or a value.
  const place = (before) => {
    const lines = before.split("\n");
    let table = [];
    for (const line of lines.slice(0, -1)) {
      const head = /^\s*\[\[?([^\]]+)\]\]?/.exec(line);
      if (head) table = split(head[1]).concat(/^\s*\[\[/.test(line) ? [0] : []);
    }
    const line = lines.at(-1);
    const head = /^\s*\[\[?([^\]]*)$/.exec(line);
    if (head && !line.includes("=")) {
      const typed = /[^.\s]*$/.exec(head[1])[0];
      return { path: split(head[1].slice(0, head[1].length - typed.length)), typed, key: true, table: true };
    }
    const path = [...table], open = [];
    let word = "", quote = "", value = false;
    for (const letter of line) {
      if (quote) { if (letter === quote) quote = ""; else word += letter; continue; }
      if (letter === '"' || letter === "'") { quote = letter; word = ""; continue; }
      if (letter === "#") return null;
      if (letter === "=") { const named = split(word); path.push(...named); open.push(named.length); word = ""; value = true; }
      else if (letter === "{") { open.push("{"); word = ""; value = false; }
      else if (letter === "[") { open.push("["); path.push(0); word = ""; value = true; }
      else if (letter === "," || letter === "}" || letter === "]") {
        while (open.length && typeof open.at(-1) === "number") path.splice(path.length - open.pop());
        if (letter !== ",") { if (open.pop() === "[") path.pop(); }
        word = "";
        value = open.at(-1) === "[";
      } else word += letter;
    }
    const typed = value ? word.trim() : /[^.\s]*$/.exec(word)[0];
    const dotted = value ? [] : split(word.slice(0, word.length - typed.length));
    return { path: [...path, ...dotted], typed, key: !value, quoted: Boolean(quote) };
  };

  const said = (part) => (part.description || "").split(/[.:;](?=\s)/)[0];

  const keys = (schema, parts) => {
    const found = new Map();
    for (const part of parts) {
      for (const [name, each] of Object.entries(part.properties || {})) {
        if (!found.has(name)) found.set(name, said(each) || said(forms(schema, each).find(said) || {}));
      }
    }
    return found;
  };

  const values = (parts) => {
    const found = new Map();
    for (const part of parts) {
      const some = part.const !== undefined ? [part.const] : part.enum || (part.type === "boolean" ? [true, false] : []);
      for (const each of some) if (!found.has(each)) found.set(each, said(part));
      if (part.default !== undefined && typeof part.default !== "object" && !found.has(part.default)) found.set(part.default, "the default");
      for (const each of part.examples || []) if (!found.has(each)) found.set(each, "for example");
    }
    return found;
  };

  // What may stand where `before` ends: how many letters it replaces, and a list of texts and words.
  tidegate.suggestions = (schema, before) => {
    const at = place(before);
    if (!at) return { typed: 0, list: [] };
    let parts = forms(schema, schema);
    for (const key of unvaried(at.path)) parts = below(schema, parts, key);
    const all = at.key ? keys(schema, parts) : values(parts);
    const list = [];
    for (const [name, words] of all) {
      if (!String(name).startsWith(at.typed)) continue;
      const text = at.key || at.quoted || typeof name !== "string" ? String(name) : JSON.stringify(name);
      list.push({ text: at.key && !at.table ? `${text} = ` : text, name: String(name), words });
    }
    return { typed: at.typed.length, list: list.sort((one, other) => one.name < other.name ? -1 : 1) };
  };
})();
