// Parallel coordinates, fronts, failures, predictions, resources and the roofline.
{
  const place = section("coordinates", "Parallel coordinates", "Each line is a configuration. Keep values by the lists below.");
  const axes = data.parameters.map((name, k) => ({ name, k, ...placesOf(k, good) }));
  const kept = axes.map(() => ""), values = good.map((t) => t.value);
  const low = Math.min(...values), high = Math.max(...values), log = rated(values) ? Math.log : (v) => v;
  const share = (value) => (high === low ? 0.5 : (log(value) - log(low)) / (log(high) - log(low)));
  const height = (axis, t) => (axis.values.length < 2 ? 0.5 : axis.index.get(t.at[axis.k]) / (axis.values.length - 1) + Math.min(0.08, 0.25 / (axis.values.length - 1)) * jitter(t.turn));
  const inside = (t) => axes.every((axis, i) => kept[i] === "" || String(t.at[axis.k]) === kept[i]);
  const filters = place.appendChild(element("div", { class: "filters" }));
  const said = element("p", { role: "status", id: "kept" });
  const selects = axes.map((axis, i) => {
    const select = element("select", { id: `keep-${i}` }, element("option", { value: "" }, "any"), ...axis.values.map((value) => element("option", { value: String(value) }, String(value))));
    select.addEventListener("change", () => { kept[i] = select.value; update(); });
    filters.append(element("label", { for: `keep-${i}` }, axis.name, select));
    return select;
  });
  const all = filters.appendChild(element("button", { type: "button", id: "all" }, "Keep all"));
  all.addEventListener("click", () => { kept.fill(""); for (const select of selects) select.value = ""; update(); });
  place.append(said);
  key(place, [["within 5 % of the best", colour.best], ["others", colour.mark]]);
  const names = [...axes.map((axis) => axis.name), label];
  const redraw = chart(place, "Parallel coordinates", `${names.length} axes: ${names.join(", ")}.`, () => {
    const shown = [...first.ranked].reverse().filter(inside);
    const lines = shown.flatMap((t) => [...axes.map((axis, i) => ({ x: i, y: height(axis, t), t })), { x: axes.length, y: share(t.value), t }]);
    const some = (values) => values.map((value, i) => ({ value, i })).filter(({ i }) => values.length <= 14 || i % Math.ceil(values.length / 14) === 0);
    const ticks = axes.flatMap((axis, x) => some(axis.values).map(({ value, i }) => ({ x, y: axis.values.length < 2 ? 0.5 : i / (axis.values.length - 1), text: String(value) })));
    const own = [0, 0.25, 0.5, 0.75, 1].map((y) => ({ x: axes.length, y, text: number(log === Math.log ? Math.exp(Math.log(low) + y * (Math.log(high) - Math.log(low))) : low + y * (high - low)) }));
    return {
      height: 380, marginTop: 40, marginLeft: 20 + room(axes.length ? axes[0].values : []), marginRight: 20 + room(own.map((one) => one.text)), marginBottom: 16,
      x: { axis: null, domain: [0, axes.length] }, y: { axis: null, domain: [-0.06, 1.06] },
      marks: [
        Plot.ruleX(names.map((_, i) => i), { stroke: colour.line, strokeWidth: 1.5 }),
        Plot.line(lines, { x: "x", y: "y", z: (d) => d.t.turn, stroke: (d) => (near(d.t) ? colour.best : colour.mark), strokeOpacity: (d) => (near(d.t) ? 0.9 : 0.22), strokeWidth: (d) => (near(d.t) ? 1.8 : 1) }),
        Plot.text(names, { x: (_, i) => i, y: 1.06, text: (d) => d, dy: -14, fontWeight: 600, lineWidth: 9, textOverflow: null, lineAnchor: "bottom" }),
        Plot.text([...ticks, ...own], { x: "x", y: "y", text: "text", textAnchor: (d) => (d.x === axes.length ? "start" : "end"), dx: 0, stroke: "var(--plot-background)", strokeWidth: 4, fill: "currentColor", frameAnchor: "middle" }),
        Plot.tip(lines, Plot.pointer({ x: "x", y: "y", title: (d) => told(d.t) })),
      ],
    };
  }, 96 * (axes.length + 1));
  function update() {
    said.textContent = `${good.filter(inside).length} of ${good.length} configurations shown.`;
    redraw();
  }
  said.textContent = `${good.length} of ${good.length} configurations shown.`;
}

for (const front of data.fronts) {
  const place = section(`front-${front.name}`, `Pareto front of ${data.objective} and ${front.name}`, "No other configuration is better in both.");
  const points = good.filter((t) => typeof t.objectives[front.name] === "number");
  const best = new Set(front.turns), other = points.map((t) => t.objectives[front.name]);
  const on = points.filter((t) => best.has(t.turn)).sort((a, b) => a.value - b.value);
  key(place, [["on the front", colour.best], ["others", colour.mark]]);
  chart(place, `Pareto front of ${data.objective} and ${front.name}`, `${on.length} of ${points.length} configurations are on it.`, (width) => ({
    height: 300, marginLeft: 20 + room(other.map(number)), marginBottom: 42,
    x: along(points.map((t) => t.value), width - 40 - room(other.map(number))),
    y: valueAxis(other, { label: front.name + (front.unit ? ` (${front.unit})` : "") }),
    marks: [
      Plot.dot(points, { x: "value", y: (t) => t.objectives[front.name], r: 3, fill: colour.mark, fillOpacity: 0.5 }),
      Plot.line(on, { x: "value", y: (t) => t.objectives[front.name], stroke: colour.best, curve: "step-after" }),
      Plot.dot(on, { x: "value", y: (t) => t.objectives[front.name], r: 4.5, fill: colour.best }),
      Plot.tip(points, Plot.pointer({ x: "value", y: (t) => t.objectives[front.name], title: (t) => `${front.name} ${number(t.objectives[front.name])}\n${told(t)}` })),
    ],
  }));
}

const failures = first.trials.filter((t) => t.failure);
if (failures.length) {
  const counts = new Map();
  for (const t of failures) { const why = t.failure.split("\n")[0]; counts.set(why, (counts.get(why) || 0) + 1); }
  const place = section("failures", "Failed and feasible", `${failures.length} of ${first.trials.length} configurations failed.`);
  table(place, "Reasons", ["configurations", "reason"], [...counts].sort((a, b) => b[1] - a[1]).slice(0, 20).map(([why, n]) => [n, why]), 1);
  key(place, [["measured", colour.mark], ["failed", colour.best]]);
  const charts = place.appendChild(element("div", { class: "charts" }));
  data.parameters.forEach((name, k) => {
    const { values } = placesOf(k, first.trials);
    if (values.length < 2 || values.length > 40) return;
    const counted = values.flatMap((value) => {
      const own = first.trials.filter((t) => t.at[k] === value), lost = own.filter((t) => t.failure).length;
      return [{ value: String(value), state: "failed", count: lost }, { value: String(value), state: "measured", count: own.length - lost }];
    });
    const card = charts.appendChild(element("div", {}, element("h3", {}, name)));
    chart(card, `Failed and measured by ${name}`, counted.filter((c) => c.state === "failed" && c.count).map((c) => `${c.value}: ${c.count} failed`).join(", ") || "None failed.", () => ({
      height: 60 + 22 * values.length, marginLeft: room(values.map(String)), marginBottom: 40,
      x: { label: "configurations", labelAnchor: "center", grid: true, ticks: 4, tickFormat: "d" }, y: { label: null, domain: values.map(String) },
      marks: [Plot.barX(counted, { x: "count", y: "value", fill: (c) => (c.state === "failed" ? colour.best : colour.mark), order: "state", tip: true, title: (c) => `${name} = ${c.value}: ${c.count} ${c.state}` })],
    }));
  });
}

if (second) {
  const mine = new Map(good.map((t) => [JSON.stringify(t.at), t]));
  const both = second.good.map((t) => ({ t, own: mine.get(JSON.stringify(t.at)) })).filter((pair) => pair.own);
  if (both.length > 1) {
    const xs = both.map((p) => p.own.value), ys = both.map((p) => p.t.value), agreement = rankCorrelation(xs, ys);
    const place = section("beside", "The same configurations, side by side", `${both.length} were measured in both; rank correlation ${agreement === null ? "unknown" : agreement.toFixed(2)}. First: ${first.title}. Second: ${second.title}.`);
    chart(place, "Side by side", `${first.title} against ${second.title}.`, (width) => ({
      height: 340, marginLeft: 20 + room(ys.map(number)), marginBottom: 42,
      x: along(xs, width - 40 - room(ys.map(number)), { label: `${label}, first` }), y: valueAxis(ys, { label: `${label}, second` }),
      marks: [Plot.dot(both, { x: (p) => p.own.value, y: (p) => p.t.value, fill: colour.mark, fillOpacity: 0.6 }), Plot.tip(both, Plot.pointer({ x: (p) => p.own.value, y: (p) => p.t.value, title: (p) => `${number(p.own.value)} and ${told(p.t)}` }))],
    }));
  }
}

const predictions = good.filter((t) => t.predicted > 0 && t.value > 0);
if (predictions.length > 1) {
  const xs = predictions.map((t) => t.predicted), ys = predictions.map((t) => t.value), agreement = rankCorrelation(xs, ys);
  const place = section("predicted", "Predicted and measured", `What the search expected before each measurement: ${predictions.length} predictions; rank correlation ${agreement === null ? "unknown" : agreement.toFixed(2)}.`);
  const ends = [Math.max(Math.min(...xs), Math.min(...ys)), Math.min(Math.max(...xs), Math.max(...ys))];
  const isTime = ends[0] < ends[1];
  if (isTime) key(place, [["measured", colour.mark], ["both are equal", colour.best]]);
  chart(place, "Predicted and measured", `Rank correlation ${agreement === null ? "unknown" : agreement.toFixed(2)}.`, (width) => ({
    height: 340, marginLeft: 20 + room(ys.map(number)), marginBottom: 42,
    x: along(xs, width - 40 - room(ys.map(number)), { label: isTime ? `predicted ${label}` : "predicted cost" }), y: valueAxis(ys, { label: `measured ${label}` }),
    marks: [
      ...(isTime ? [Plot.line([ends, ends].map((_, i) => ends[i]), { x: (v) => v, y: (v) => v, stroke: colour.best, strokeWidth: 2 })] : []),
      Plot.dot(predictions, { x: "predicted", y: "value", r: 3, fill: colour.mark, fillOpacity: 0.6 }),
      Plot.tip(predictions, Plot.pointer({ x: "predicted", y: "value", title: (t) => `predicted ${number(t.predicted)}\n${told(t)}` })),
    ],
  }));
}

const resources = [...new Set(first.ranked.slice(0, 20).flatMap((t) => Object.keys(t.resources)))];
if (resources.length) {
  const place = section("resources", "Resources of a block and its SM");
  const of = (part, whole) => (part ? `${((100 * part) / whole).toFixed(0)} %` : null);
  const shares = !data.roof ? [] : [
    ["warps of the SM", (r) => of((r.blocks_per_sm * r.threads) / 32, data.roof.warps)],
    ["registers of the SM", (r) => of(r.blocks_per_sm * r.threads * r.registers, data.roof.registers)],
    ["shared memory of the SM", (r) => of(r.blocks_per_sm * r.shared_memory, data.roof.shared)]];
  const units = { shared_memory: "shared memory (bytes)", spills: "spills (bytes)", blocks_per_sm: "blocks per SM", registers: "registers a thread", threads: "threads a block" };
  table(place, "Of the best configurations", ["place", label, ...resources.map((n) => units[n] || n), ...shares.map((s) => s[0])],
    first.ranked.slice(0, 20).map((t, i) => [i + 1, t.value, ...resources.map((n) => t.resources[n]), ...shares.map((s) => s[1](t.resources))]));
}

const rates = good.filter((t) => t.objectives.gflops > 0 && t.objectives.gbs > 0);
if (rates.length) {
  const at = (t) => t.objectives.gflops / t.objectives.gbs, xs = rates.map(at), ys = rates.map((t) => t.objectives.gflops);
  const roof = data.roof && data.roof.flops && Math.max(...ys) <= 1.05 * data.roof.flops ? data.roof : null;
  const words = roof ? `The roofs are ${number(roof.bandwidth)} GB/s of memory and ${number(roof.flops)} GFLOP/s of float32 without tensor cores.`
    : data.roof && data.roof.flops ? "There are no roofs: the rates exceed those of float32 without tensor cores." : "There are no roofs: the peak rates of this device are not known.";
  const place = section("roofline", "Roofline", words);
  const ridge = roof ? roof.flops / roof.bandwidth : null, spread = [Math.min(...xs, ridge ?? Infinity) / 2, Math.max(...xs, ridge ?? 0) * 2];
  const line = roof ? [spread[0], ridge, spread[1]].map((x) => ({ x, y: Math.min(x * roof.bandwidth, roof.flops) })) : [];
  const heights = [...ys, ...line.map((p) => p.y)];
  chart(place, "Roofline", words, (width) => ({
    height: 340, marginLeft: 20 + room(heights.map(number)), marginRight: 24, marginBottom: 42,
    x: { type: "log", label: "arithmetic intensity (FLOP a byte)", labelAnchor: "center", domain: spread, grid: true, ticks: apart(ticksOf(spread, true), spread, true, width - 44 - room(heights.map(number))), tickFormat: number },
    y: valueAxis(heights, { type: "log", label: "GFLOP/s" }),
    marks: [
      Plot.line(line, { x: "x", y: "y", stroke: colour.best, strokeWidth: 2.5 }),
      Plot.dot(rates, { x: at, y: (t) => t.objectives.gflops, r: 3, fill: colour.mark, fillOpacity: 0.6 }),
      Plot.tip(rates, Plot.pointer({ x: at, y: (t) => t.objectives.gflops, title: (t) => `${number(t.objectives.gflops)} GFLOP/s, ${number(t.objectives.gbs)} GB/s\n${told(t)}` })),
    ],
  }));
}
