"use strict";
// "Run it here" under a scenario: without this script a link to the page that runs scenarios, with it
// a laboratory in place. What that needs is loaded when it is first asked for.
(() => {
  const own = document.currentScript.src;
  const base = own.slice(0, own.lastIndexOf("/") + 1);
  const SCRIPTS = ["data", "editor", "completion", "settings", "summary", "pictures", "link", "engine", "report", "lab"];
  let loaded, placed = 0;

  const load = () => {
    loaded ||= SCRIPTS.reduce((before, name) => before.then(() => new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: `${base}play/${name}.js`, onload: resolve });
      script.onerror = () => reject(new Error(`could not load ${script.src}`));
      document.head.append(script);
    })), Promise.resolve()).then(() => { window.tidegate.playPage = new URL("../play/index.html", base).href; });
    return loaded;
  };

  const run = async (link) => {
    const place = document.createElement("section");
    placed += 1;
    place.setAttribute("aria-label", `${link.textContent} (${placed})`);
    link.closest(".run-here").replaceWith(place);
    document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${base}play/lab.css` }));
    try {
      await laboratory(place, link);
    } catch (fault) {
      const page = Object.assign(document.createElement("a"), { href: link.href, textContent: "the page that runs scenarios" });
      place.replaceChildren(`The scenario does not run here (${fault.message}). It may run on `, page, ".");
    }
  };

  const laboratory = async (place, link) => {
    await load();
    const experiment = await window.tidegate.fromFragment(new URL(link.href).hash);
    const lab = new window.tidegate.Lab(place, experiment, true);
    window.tidegate.lab = lab;
    await lab.ready;
    lab.run.focus();
    await lab.start();
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest(".run-here a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    run(link);
  });
})();
