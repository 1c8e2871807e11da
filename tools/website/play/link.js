"use strict";
// A whole experiment in the fragment of a link: JSON, compressed, in letters that a link may have.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const VERSION = "1";

  const through = async (bytes, stream) =>
    new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
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

  tidegate.toFragment = async (experiment) => {
    const bytes = new TextEncoder().encode(JSON.stringify(experiment));
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
