"use strict";
// Runs scenarios in node by the module of the pages: `node run_in_node.js module.js MODULE`, with the
// scenarios as JSON on standard input; prints the digest of each.
const fs = require("fs");
const vm = require("vm");

const [, , script, file] = process.argv;
vm.runInThisContext(fs.readFileSync(script, "utf8"));

(async () => {
  const found = {};
  for (const { slug, text, files } of JSON.parse(fs.readFileSync(0, "utf8"))) {
    const module = await tidegateModule(fs.readFileSync(file));
    for (const [name, content] of Object.entries(files)) module.file(name, Buffer.from(content, "base64"));
    const document = { text, name: slug };
    const begun = module.ask({ do: "start", document, seed: "1" });
    if (begun.error) throw new Error(`${slug}: ${begun.error}`);
    while (!module.ask({ do: "advance", events: 1000000 }).done);
    found[slug] = module.ask({ do: "finish" }).result_hash;
  }
  console.log(JSON.stringify(found));
})();
