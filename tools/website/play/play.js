"use strict";
// The page: a menu of ready scenarios, and the experiment that its link holds.
(() => {
  const { data, Lab } = window.tidegate;
  const menu = document.getElementById("gallery");
  const broken = document.getElementById("broken");
  const words = document.getElementById("about");
  for (const { title } of data.gallery) menu.append(Object.assign(document.createElement("option"), { textContent: title }));
  const START = { slug: "cubic-and-bbr", second: "variant:fq-codel" };
  const ofText = (text) => data.gallery.find((card) => card.text === text);

  // The address of the page: it holds the experiment, or the name of one that is too large for it.
  class Address {
    constructor() {
      this.count = 0;
      this.large = new Map();
      this.last = null;
      this.at = this.#place();
    }

    #place() { return JSON.stringify([location.hash, history.state?.large]); }

    // Whether somebody went to another place of the history than the page has written.
    moved() {
      const before = this.at;
      this.at = this.#place();
      return before !== this.at;
    }

    // What is ready late, after another experiment was opened, is not written over that one.
    async remember(experiment) {
      this.count += 1;
      const mine = this.count;
      const fragment = await tidegate.toFragment(experiment);
      if (mine === this.count) this.#write(experiment, fragment);
    }

    #write(experiment, fragment) {
      this.large.delete(history.state?.large);
      // a name that no other visit of the page has given
      const large = fragment ? null : `${performance.timeOrigin} ${this.count}`;
      if (large) this.large.set(large, experiment);
      history.replaceState(large && { large }, "", fragment ? `#${fragment}` : location.pathname);
      this.at = this.#place();
    }

    // Leaves an experiment of one's own for another one: the way back leads to it.
    async leave(experiment) {
      const fragment = await tidegate.toFragment(experiment);
      this.count += 1;
      this.#write(experiment, fragment);
      this.last = experiment;
      history.pushState(null, "", location.pathname);
      this.at = this.#place();
    }

    // The experiment of this place of the history; null: it has none.
    async found() { return this.large.get(history.state?.large) || tidegate.fromFragment(location.hash); }
  }

  const begin = async () => {
    const linked = await tidegate.fromFragment(location.hash);
    const card = data.gallery.find(({ slug }) => slug === START.slug) || data.gallery[0];
    const given = linked || { text: card.text, second: START.second };
    const address = new Address();
    const lab = new Lab(document.getElementById("lab"), given);
    window.tidegate.lab = lab;

    const about = (text) => {
      const found = ofText(text);
      const back = address.last ? " Your own scenario is kept: go back, or choose “your own”." : "";
      words.textContent = found ? found.sentence + back : "";
      menu.selectedIndex = found ? data.gallery.indexOf(found) + 1 : 0;
    };
    about(given.text);
    lab.remembers = async (experiment) => {
      await address.remember(experiment);
      about(lab.editor.text);
    };
    menu.addEventListener("change", async () => {
      const chosen = data.gallery[menu.selectedIndex - 1];
      const now = lab.experiment();
      if (!chosen && !address.last) { about(now.text); return; }
      if (!ofText(now.text)) await address.leave(now);
      await lab.open(chosen ? { text: chosen.text } : address.last);
    });
    // a step in the history may be told of by both
    const come = async () => {
      if (!address.moved()) return;
      const found = await address.found();
      broken.hidden = Boolean(found);
      if (found) await lab.open(found);
    };
    addEventListener("popstate", come);
    addEventListener("hashchange", come);
    broken.hidden = location.hash.length < 2 || Boolean(linked);
    await lab.ready;
    document.body.dataset.ready = "yes";
  };
  begin();
})();
