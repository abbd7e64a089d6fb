// The sections of the report, in order; each is left out where there is nothing to show.
byId("title").textContent = first.title;
document.title = `${first.title}: tuning report`;
byId("facts").textContent = series.map((one) => `${second ? one.title + ": " : ""}${one.trials.length} configurations tried, `
  + `${one.trials.length - one.good.length} failed; best ${number(one.best.value)}${unit}; last measured ${one.last}`
  + (one.identities > 1 ? `; ${one.identities} versions of the kernel or of its measurement` : "")).join(". ");

for (const one of series) {
  const place = section(one === first ? "best" : "best-other", second ? `Best configurations: ${one.title}` : "Best configurations");
  table(place, `The ${Math.min(20, one.ranked.length)} best of ${one.title}, by ${data.objective}`,
    ["place", label, "behind the best", "spread of its times", "relative error", ...data.parameters],
    one.ranked.slice(0, 20).map((t, i) => [i + 1, t.value, percent(Math.abs(t.value / one.best.value - 1)), percent(t.spread),
      t.error === null ? null : t.error.toExponential(1), ...t.at.map(String)]));
}

{
  const place = section("convergence", "Convergence", "Every configuration in the order of its measurement; the line is the best so far.");
  const steps = series.map((one) => {
    let so = null;
    const found = [];
    for (const t of one.good) { if (so === null || sign * t.value < sign * so) so = t.value; found.push({ turn: t.turn + 1, so }); }
    return found.length && found.at(-1).turn < one.trials.length ? [...found, { turn: one.trials.length, so }] : found;
  });
  const paints = [[colour.mark, colour.best], [colour.other, colour.other]];
  const values = series.flatMap((one) => one.good.map((t) => t.value));
  key(place, series.flatMap((one, i) => [[second ? `measured: ${one.title}` : "measured", paints[i][0]], [second ? `best so far: ${one.title}` : "best so far", paints[i][1]]]));
  chart(place, "Convergence", `${good.length} measured; the best is ${number(best.value)}${unit}.`, (width) => ({
    height: Math.min(360, Math.max(240, width / 3)), marginLeft: 20 + room(values.map(number)), marginBottom: 42,
    x: { label: "trial", labelAnchor: "center", tickFormat: "d", ticks: Math.min(10, width / 70), domain: [0, Math.max(...series.map((one) => one.trials.length)) + 1] },
    y: valueAxis(values),
    marks: series.flatMap((one, i) => [
      Plot.dot(one.good, { x: (t) => t.turn + 1, y: "value", r: 3, fill: paints[i][0], fillOpacity: 0.6 }),
      Plot.line(steps[i], { x: "turn", y: "so", curve: "step-after", stroke: paints[i][1], strokeWidth: 2.5, strokeDasharray: i ? "6 3" : null }),
      Plot.tip(one.good, Plot.pointer({ x: (t) => t.turn + 1, y: "value", title: told })),
    ]),
  }));
}

if (data.importance.length) {
  const rows = data.importance.flatMap((one) => data.measures.filter((m) => one[m.key] !== null).map((m) => ({ name: one.name, measure: m.name, share: one[m.key] })));
  const place = section("importance", "Importance of parameters", data.measures.map((m) => `${m.name}: ${m.meaning}`).join(" "));
  const paints = [colour.mark, colour.other];
  key(place, data.measures.map((m, i) => [m.name, paints[i]]));
  chart(place, "Importance of parameters", data.importance.map((one) => `${one.name} ${percent(one.variance)}`).join(", "), () => ({
    height: 60 + 34 * data.importance.length, marginLeft: room(data.importance.map((one) => one.name)), marginRight: 50, marginBottom: 40,
    x: { label: "share (%)", labelAnchor: "center", domain: [0, Math.max(0.01, ...rows.map((r) => r.share))], tickFormat: (v) => number(100 * v), grid: true, ticks: 5 },
    y: { axis: null, domain: data.measures.map((m) => m.name), padding: 0.1 },
    fy: { label: null, domain: data.importance.map((one) => one.name), axis: "left" },
    marks: [
      Plot.barX(rows, { x: "share", y: "measure", fy: "name", fill: (r) => paints[data.measures.findIndex((m) => m.name === r.measure)], tip: true, title: (r) => `${r.name}: ${percent(r.share)}\n${r.measure}` }),
      Plot.text(rows, { x: "share", y: "measure", fy: "name", text: (r) => percent(r.share), dx: 6, textAnchor: "start" }),
    ],
  }));
}

{
  const place = section("parameters", "Each parameter", "Points are spread a little, so that equal ones are seen; the tick is the best of a value.");
  key(place, [["measured", colour.mark], ["best of a value", colour.best], ...(second ? [[second.title, colour.other]] : [])]);
  const charts = place.appendChild(element("div", { class: "charts" }));
  const all = series.flatMap((one) => one.good), values = all.map((t) => t.value);
  data.parameters.forEach((name, k) => {
    const { values: at, index } = placesOf(k, all);
    const shown = at.map(String), tilted = room(shown) * shown.length > 260;
    const least = at.map((value) => all.filter((t) => t.place === 0 && t.at[k] === value).reduce((a, b) => (a === null || sign * b.value < sign * a.value ? b : a), null)).filter(Boolean);
    const card = charts.appendChild(element("div", {}, element("h3", {}, name)));
    const every = Math.ceil(at.length / 16);
    chart(card, `${data.objective} by ${name}`, `The best value is ${least.length ? best.at[k] : "unknown"}.`, () => ({
      height: 210 + (tilted ? Math.min(90, room(shown)) : 0), marginLeft: 20 + room(values.map(number)), marginBottom: tilted ? 24 + Math.min(100, room(shown) * 0.75) : 40,
      x: { label: name, labelAnchor: "center", labelOffset: tilted ? 20 + Math.min(100, room(shown) * 0.75) : 34, domain: [-0.6, at.length - 0.4], ticks: at.map((_, i) => i).filter((i) => i % every === 0), tickFormat: (i) => shown[i], tickRotate: tilted ? -40 : 0 },
      y: valueAxis(values),
      marks: [
        Plot.dot(all, { x: (t) => index.get(t.at[k]) + 0.5 * jitter(t.turn), y: "value", r: 2.5, fill: (t) => (t.place ? colour.other : colour.mark), fillOpacity: 0.55 }),
        Plot.link(least, { x1: (t) => index.get(t.at[k]) - 0.35, x2: (t) => index.get(t.at[k]) + 0.35, y1: "value", y2: "value", stroke: colour.best, strokeWidth: 2.5 }),
        Plot.tip(all, Plot.pointer({ x: (t) => index.get(t.at[k]) + 0.5 * jitter(t.turn), y: "value", title: told })),
      ],
    }));
  });
}
