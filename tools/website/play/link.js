"use strict";
// A whole experiment in the fragment of a link: JSON, compressed, in letters that a link may have.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const VERSION = "1";
  // The largest experiment of a link: a short link may unpack to more than a page has room for.
  const MOST_BYTES = 4e6;

  const through = async (bytes, stream) => {
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
    const parts = [];
    let count = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value);
      count += part.value.length;
      if (count > MOST_BYTES) {
        await reader.cancel();
        throw new Error("it is too large for a link");
      }
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  };
  const letters = (bytes) => {
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  const bytesOf = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

  const WORDS = ["first", "second", "port", "seed", "pace"];
  // Whether it is what `toFragment` is given: a link may have been written by anybody.
  const isExperiment = (found) => {
    const { text, steps = {} } = found;
    return typeof text === "string" && WORDS.every((name) => typeof (found[name] ?? "") === "string" && found[name] !== null)
      && typeof steps === "object" && steps !== null && Object.values(steps).every(Number.isFinite);
  };

  // null: the experiment is too large for a link.
  tidegate.toFragment = async (experiment) => {
    const bytes = new TextEncoder().encode(JSON.stringify(experiment));
    if (bytes.length > MOST_BYTES) return null;
    return VERSION + letters(await through(bytes, new CompressionStream("deflate-raw")));
  };

  // The experiment of a fragment; null: it holds none, or one that cannot be read.
  tidegate.fromFragment = async (fragment) => {
    const text = fragment.replace(/^#/, "");
    if (!text.startsWith(VERSION)) return null;
    try {
      const bytes = await through(bytesOf(text.slice(VERSION.length)), new DecompressionStream("deflate-raw"));
      const found = JSON.parse(new TextDecoder().decode(bytes));
      return isExperiment(found) ? found : null;
    } catch {
      return null;
    }
  };
})();
