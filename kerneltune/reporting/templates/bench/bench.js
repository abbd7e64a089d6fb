// Searches compared on recorded measurements: how near they come, how soon, and all numbers as a table.
const paint = (k) => `var(--s${k % 8})`;
const dash = (k) => ["", "6 3", "2 3", "8 3 2 3"][Math.floor(k / 2) % 4];
const single = data.objectives.length === 1;
const measure = single ? "best found / best recorded" : "share of the front's hypervolume";
const named = data.strategies.map((one) => one.name);
const shown = (one, unit = "") => (one ? `${number(one.mean)}${one.high > one.low ? ` ± ${number(one.high - one.mean)}` : ""}${unit}` : "–");

document.title = `Searches on ${data.title}`;
byId("title").textContent = document.title;
byId("facts").textContent = `${data.objectives.join(", ")} of ${number(data.total)} recorded configurations; ${number(data.seeds)} `
  + `${data.seeds === 1 ? "run" : "runs"} of each search, means with intervals of 95 %.`;

const curves = section("curves", "What is found, and how soon",
  single ? "The best so far, relative to the best that is recorded: 1 is all there is. Bands are intervals of 95 % of the mean."
    : "The share of the recorded front's hypervolume that is dominated so far: 1 is all there is. Bands are intervals of 95 % of the mean.");
key(curves, data.strategies.map((one, k) => [one.name, paint(k)]));
{
  const rows = data.strategies.flatMap((one, k) => one.curve.map(([n, mean, low, high]) => ({ k, n, mean, low, high, name: one.name })));
  const tops = rows.map((row) => row.high), bottoms = rows.map((row) => row.low).filter((value) => value > 0);
  const log = single && Math.max(...tops) > 1.5;
  const domain = single ? [Math.min(1, ...bottoms), Math.max(...tops, 1.01)] : [0, Math.max(1, ...tops)];
  const tip = (row) => `${row.name}\nafter ${number(row.n)}: ${number(row.mean)} (${number(row.low)} to ${number(row.high)})`;
  chart(curves, "Convergence", `${measure} by the number of configurations tried, of ${named.join(", ")}.`, () => ({
    height: 360, marginLeft: 56, marginBottom: 42,
    x: { label: "configurations tried", labelAnchor: "center", tickFormat: number, ticks: 6 },
    y: { label: measure, labelAnchor: "center", grid: true, tickFormat: number, ticks: ticksOf(domain, log), type: log ? "log" : "linear", domain, clamp: true },
    marks: [
      single ? Plot.ruleY([1.05], { stroke: colour.dim, strokeDasharray: "2 4" }) : Plot.ruleY([0.95], { stroke: colour.dim, strokeDasharray: "2 4" }),
      ...data.strategies.map((_, k) => Plot.areaY(rows.filter((row) => row.k === k), { x: "n", y1: "low", y2: "high", fill: paint(k), fillOpacity: 0.15 })),
      ...data.strategies.map((_, k) => Plot.line(rows.filter((row) => row.k === k), { x: "n", y: "mean", stroke: paint(k), strokeWidth: 2, strokeDasharray: dash(k), curve: "step-after" })),
      Plot.tip(rows, Plot.pointer({ x: "n", y: "mean", title: tip })),
    ],
  }));
  curves.append(element("p", {}, single ? "The dotted line is 5 % above the best." : "The dotted line is 95 % of the hypervolume."));
}

const until = section("until", "Configurations until within 5 %", "Only of runs that come so near; their number stands beside the name. Lines are intervals of 95 % of the mean.");
{
  const rows = data.strategies.filter((one) => one.evaluations).map((one) => ({ ...one.evaluations, label: `${one.name}, ${one.near} of ${one.seeds}`, paint: paint(named.indexOf(one.name)) }));
  if (rows.length)
    chart(until, "Configurations until within 5 %", rows.map((row) => `${row.label}: ${shown(row)}`).join("; ") + ".", () => ({
      height: 46 + 30 * rows.length, marginLeft: room(rows.map((row) => row.label)), marginBottom: 40,
      x: { label: "configurations tried", labelAnchor: "center", grid: true, zero: true, tickFormat: number, ticks: 6 },
      y: { label: null, domain: rows.map((row) => row.label) },
      marks: [
        Plot.ruleY(rows, { y: "label", x1: (row) => Math.max(0, row.low), x2: "high", stroke: "paint", strokeWidth: 3 }),
        Plot.dot(rows, { x: "mean", y: "label", fill: "paint", r: 5 }),
        Plot.tip(rows, Plot.pointerY({ x: "mean", y: "label", title: (row) => `${row.label}\n${shown(row)}` })),
      ],
    }));
  else until.append(element("p", {}, "No run came within 5 %."));
}

const numbers = section("numbers", "All numbers");
table(numbers, "The searches", ["search", "within 5 %", "configurations until then", measure, "recorded seconds of a run"],
  data.strategies.map((one) => [one.name, `${one.near} of ${one.seeds}`, shown(one.evaluations), shown(one.ratio), shown(one.seconds, " s")]), 0);
