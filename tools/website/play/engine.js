"use strict";
// The page's side of a worker: questions with answers, and a run that tells what can be seen of it.
(() => {
  const tidegate = window.tidegate = window.tidegate || {};
  const ofBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  let unpacked;

  // The module lies in the page's data, compressed: it is unpacked once for all workers.
  const module = () => {
    unpacked ||= new Response(
      new Blob([ofBase64(tidegate.data.module)]).stream().pipeThrough(new DecompressionStream("gzip")),
    ).arrayBuffer();
    return unpacked;
  };

  class Engine {
    constructor() {
      // from a text, as a page that is opened as a file may not load a worker from another file
      const place = URL.createObjectURL(new Blob([tidegate.data.worker], { type: "text/javascript" }));
      this.worker = new Worker(place);
      this.waiting = new Map();
      this.number = 0;
      this.run = null;
      this.worker.onmessage = ({ data }) => this.#heard(data);
      this.worker.onerror = (event) => this.#broken(event.message);
      const files = Object.entries(tidegate.data.files).map(([name, text]) => [name, ofBase64(text)]);
      this.loaded = module().then((bytes) => this.#asked({ do: "load", bytes, files }));
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
        return;
      }
      if (!this.run || data.run !== this.run.number) return;
      if (data.do === "seen") this.run.seen(data);
      if (data.do === "ended") {
        const { ended } = this.run;
        this.run = null;
        ended(data);
      }
    }

    #broken(message) {
      for (const resolve of this.waiting.values()) resolve({ error: message });
      this.waiting.clear();
      if (this.run) this.run.ended({ refused: { error: message }, broken: true });
      this.run = null;
    }

    async ask(request) { await this.loaded; return this.#asked({ do: "ask", request }); }
    async text(request) { await this.loaded; return this.#asked({ do: "text", request }); }
    async file(name, content) { await this.loaded; return this.#asked({ do: "file", name, content }); }

    // Runs a document; `seen` hears of its course, and the promise ends with it.
    async start(document, seed, pace, seen) {
      await this.loaded;
      this.number += 1;
      const number = this.number;
      return new Promise((ended) => {
        this.run = { number, seen, ended };
        this.worker.postMessage({ do: "run", run: number, document, seed, pace });
      });
    }

    stop() { this.worker.postMessage({ do: "stop" }); }
    end() { this.worker.terminate(); }
  }

  tidegate.Engine = Engine;
})();
