"use strict";
// The page: a menu of ready scenarios, and the experiment that its link holds.
(() => {
  const { data, Lab } = window.tidegate;
  const menu = document.getElementById("gallery");
  const broken = document.getElementById("broken");
  const words = document.getElementById("about");
  for (const { title } of data.gallery) menu.append(Object.assign(document.createElement("option"), { textContent: title }));
  const START = { slug: "cubic-and-bbr", second: "variant:fq-codel" };

  const about = (card) => {
    words.textContent = card ? card.sentence : "";
    menu.selectedIndex = card ? data.gallery.indexOf(card) + 1 : 0;
  };
  const ofText = (text) => data.gallery.find((card) => card.text === text);

  const begin = async () => {
    const linked = await tidegate.fromFragment(location.hash);
    const card = data.gallery.find(({ slug }) => slug === START.slug) || data.gallery[0];
    const given = linked || { text: card.text, second: START.second };
    const lab = new Lab(document.getElementById("lab"), given);
    window.tidegate.lab = lab;
    about(ofText(given.text));
    let known = location.hash;
    lab.remembers = async (experiment) => {
      const fragment = await tidegate.toFragment(experiment);
      known = fragment ? `#${fragment}` : location.pathname;
      history.replaceState(null, "", known);
      about(ofText(experiment.text));
    };
    menu.addEventListener("change", () => {
      const chosen = data.gallery[menu.selectedIndex - 1];
      if (chosen) lab.open({ text: chosen.text });
    });
    addEventListener("hashchange", async () => {
      if (location.hash === known) return;
      const found = await tidegate.fromFragment(location.hash);
      broken.hidden = Boolean(found);
      if (found) await lab.open(found);
    });
    broken.hidden = location.hash.length < 2 || Boolean(linked);
    await lab.ready;
    document.body.dataset.ready = "yes";
  };
  begin();
})();
