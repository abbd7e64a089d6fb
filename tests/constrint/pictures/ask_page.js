// Answers questions to embedded sets in Node: reads {document, conditions, paired, seeds}
// cases, writes what the page shows.
const { readFileSync } = require("node:fs");
const vm = require("node:vm");

const [folder] = process.argv.slice(2);
const code = ["core.js", "space.js"].map((name) => readFileSync(`${folder}/${name}`, "utf8")).join("\n");
vm.runInThisContext(`"use strict";\n${code}\nglobalThis.Space = Space;`);

function answers(space, chosen, paired, seeds) {
  const conditions = space.variables.map((variable, v) => {
    if (chosen[v] === null) return null;
    const allowed = new Uint8Array(variable.count);
    for (const i of chosen[v]) allowed[i] = 1;
    return allowed;
  });
  const { total, counts } = space.summary(conditions);
  const bins = space.variables.map(({ count }) => ({ count, of: Array.from({ length: count }, (_, i) => i) }));
  const every = paired ?? space.variables.map((_, v) => v);
  const only = (v, i) => {
    const allowed = new Uint8Array(space.variables[v].count);
    allowed[i] = 1;
    return allowed;
  };
  const pairs = [];
  for (const found of space.shades(conditions, every, (v) => bins[v])) {
    if (found === undefined) continue;
    const [v, w, shades] = found;
    const exact = shades.map((row, i) => row.map((_, j) => {
      if (conditions[v] && !conditions[v][i] || conditions[w] && !conditions[w][j]) return "0";
      return String(space.count(conditions.with(v, only(v, i)).with(w, only(w, j))));
    }));
    pairs.push({ v, w, shades, exact });
  }
  const sample = seeds.flatMap((seed) =>
    space.sample(conditions, 40, seed).map((row) => Array.from(row, (i, v) => space.variables[v].texts[i])));
  return {
    total: String(total),
    counted: String(space.count(conditions)),
    counts: counts.map((list) => list.map(String)),
    pairs,
    sample,
    constraints: space.asConstraints(conditions),
    given: space.asGiven(conditions),
    python: space.asPython(conditions),
  };
}

(async () => {
  const found = [];
  for (const { document, conditions, paired, seeds } of JSON.parse(readFileSync(0, "utf8"))) {
    const space = await Space.of(JSON.stringify(document));
    found.push(conditions.map((chosen) => answers(space, chosen, paired, seeds ?? [1])));
  }
  process.stdout.write(JSON.stringify(found));
})();
