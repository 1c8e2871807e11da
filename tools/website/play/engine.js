"use strict";
// The page's side of a worker: questions with answers, and a run that tells what can be seen of it.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const ofBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  let unpacked;

  // The module lies in the page's data, compressed: it is unpacked once for all workers.
  const module = async () => {
    if (!window.DecompressionStream || !window.WebAssembly) {
      throw new Error("This browser is too old for the simulator: it needs Chromium 103, Firefox 113 or Safari 16.4, or a later one.");
    }
    unpacked ||= new Response(
      new Blob([ofBase64(tidegate.data.module)]).stream().pipeThrough(new DecompressionStream("gzip")),
    ).arrayBuffer();
    return unpacked;
  };

  class Engine {
    // `own`: the files that the user has handed in, by name; it may be shared.
    constructor(own = new Map()) {
      this.own = own;
      this.number = 0;
      this.#begin();
    }

    #begin() {
      // from a text, as a page that is opened as a file may not load a worker from another file
      const place = URL.createObjectURL(new Blob([tidegate.data.worker], { type: "text/javascript" }));
      this.worker = new Worker(place);
      this.waiting = new Map();
      this.run = null;
      this.works = false;
      this.worker.onmessage = ({ data }) => this.#heard(data);
      this.worker.onerror = (event) => this.#broken(event.message);
      const ready = Object.entries(tidegate.data.files).map(([name, text]) => [name, ofBase64(text)]);
      const files = [...ready, ...this.own];
      this.loaded = module()
        .then((bytes) => this.#asked({ do: "load", bytes, files }))
        .catch((fault) => ({ error: fault.message }))
        .then((answer) => { this.works = !answer.error; return answer; });
    }

    #asked(message) {
      this.number += 1;
      const id = this.number;
      return new Promise((resolve) => {
        this.waiting.set(id, resolve);
        this.worker.postMessage({ ...message, id });
      });
    }

    #heard(data) {
      if (data.do === "answer") {
        this.waiting.get(data.id)(data.answer);
        this.waiting.delete(data.id);
        if (data.answer.broken) this.#broken(data.answer.error);
        return;
      }
      if (!this.run || data.run !== this.run.number) return;
      if (data.do === "seen") this.run.seen(data);
      if (data.do === "ended") {
        const { ended } = this.run;
        this.run = null;
        ended(data);
        if (data.broken) this.#broken(data.refused.error);
      }
    }

    // After a panic the module answers nothing more: another worker takes its place.
    #broken(message) {
      for (const resolve of this.waiting.values()) resolve({ error: message });
      this.waiting.clear();
      if (this.run) this.run.ended({ refused: { error: message }, broken: true });
      this.run = null;
      if (!this.works) return;
      this.worker.terminate();
      this.#begin();
    }

    async #once(message) {
      const { error } = await this.loaded;
      return error ? { error } : this.#asked(message);
    }

    ask(request) { return this.#once({ do: "ask", request }); }
    text(request) { return this.#once({ do: "text", request }); }
    async file(name, content) {
      const answer = await this.#once({ do: "file", name, content });
      if (!answer.error) this.own.set(name, content);
      return answer;
    }

    // Runs a document; `seen` hears of its course, and the promise ends with it.
    async start(document, seed, pace, seen) {
      const { error } = await this.loaded;
      if (error) return { refused: { error } };
      this.number += 1;
      const number = this.number;
      return new Promise((ended) => {
        this.run = { number, seen, ended };
        this.worker.postMessage({ do: "run", run: number, document, seed, pace });
      });
    }

    // A run may wait for the module still.
    async stop() { await this.loaded; this.worker.postMessage({ do: "stop" }); }
    end() { this.worker.terminate(); }
  }

  tidegate.Engine = Engine;
})();
