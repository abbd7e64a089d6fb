// What all charts share: numbers as people read them, the trials, sections, and charts that follow their width.
const byId = (id) => document.getElementById(id);
const sign = data.maximised ? -1 : 1;
const label = data.objective + (data.unit ? ` (${data.unit})` : "");
const unit = data.unit ? ` ${data.unit}` : "";
const colour = { mark: "var(--mark)", best: "var(--best)", other: "var(--other)", dim: "var(--dim)", line: "var(--line)" };

function number(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isSafeInteger(value)) return value.toLocaleString("en");
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toPrecision(3);
  return (+value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 });
}
const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`);

// The trials of each store or device: those with the objective, the best first.
const series = data.series.map((one, place) => {
  const trials = one.trials.map((trial, turn) => ({ ...trial, turn, place }));
  const good = trials.filter((trial) => trial.value !== null);
  const ranked = [...good].sort((a, b) => sign * (a.value - b.value));
  return { ...one, trials, good, ranked, best: ranked[0] };
});
const [first, second] = series;
const good = first.good;
const best = first.best;
const named = (trial) => data.parameters.map((name, k) => `${name} = ${trial.at[k]}`).join("\n");
const told = (trial) => `${number(trial.value)}${unit}\n${named(trial)}`;
const near = (trial) => Math.abs(trial.value / series[trial.place].best.value - 1) <= 0.05;
const jitter = (turn) => ((turn * 0.6180339887) % 1) - 0.5;

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}
function section(id, title, words) {
  const node = element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title` }, title));
  if (words) node.append(element("p", {}, words));
  byId("main").append(node);
  return node;
}
function table(parent, caption, head, rows, words) {
  const cell = (value, k) => element("td", k === words ? { class: "words" } : {}, number(value));
  parent.append(
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      element("table", {}, element("caption", {}, caption),
        element("thead", {}, element("tr", {}, ...head.map((one, k) => element("th", k === words ? { scope: "col", class: "words" } : { scope: "col" }, one)))),
        element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))))));
}
function key(parent, entries) {
  const item = ([name, paint]) => element("li", {}, element("i", { style: `background: ${paint}` }), name);
  parent.append(element("ul", { class: "key" }, ...entries.map(item)));
}

// A chart with a name for screen readers; it is drawn again when the width of its place changes.
function chart(parent, name, words, options, least = 0) {
  const place = element("div", least ? { class: "scroll wide", tabindex: "0", role: "region", "aria-label": `${name}, to be scrolled` } : {});
  parent.append(place);
  let width = 0;
  const draw = () => {
    const wanted = Math.max(Math.floor(place.clientWidth), least, 240);
    if (wanted === width) return;
    width = wanted;
    redraw();
  };
  const redraw = () => {
    const svg = Plot.plot({ width, style: { background: "none" }, ...options(width) });
    const drawn = svg.tagName === "FIGURE" ? svg.querySelector("svg") : svg;
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", `${name}. ${words}`);
    for (const part of drawn.querySelectorAll("g[aria-label]")) part.removeAttribute("aria-label");
    place.replaceChildren(svg);
  };
  draw();
  new ResizeObserver(draw).observe(place);
  return redraw;
}
// Room for the longest of some labels, so that none is cut.
const room = (labels) => 14 + 6.7 * Math.max(0, ...labels.map((one) => String(one).length));
const rated = (values) => values.every((value) => value > 0) && Math.max(...values) > 1.5 * Math.min(...values);
// Round numbers along an axis; a logarithmic one has few of its own where it spans less than a decade.
function ticksOf([low, high], wide) {
  if (!wide) return 5;
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const step of high / low > 100 ? [1, 3] : high / low > 10 ? [1, 2, 5] : high / low > 3 ? [1, 1.5, 2, 3, 4, 5, 7] : [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9]) found.push(step * 10 ** power);
  return found.filter((value) => value >= low && value <= high);
}
function valueAxis(values, more = {}) {
  const low = Math.min(...values), high = Math.max(...values);
  const wide = rated(values), edge = Math.abs(low === high ? (low || 1) * 0.1 : (high - low) * 0.05);
  const domain = wide ? [low / 1.06, high * 1.06] : [low - edge, high + edge];
  return { label, labelAnchor: "center", grid: true, tickFormat: number, ticks: ticksOf(domain, wide), type: wide ? "log" : "linear", domain, ...more };
}
// A parameter's values: numbers by size, everything else in the order of its first trial.
function placesOf(k, trials) {
  const values = [...new Set(trials.map((trial) => trial.at[k]))];
  if (values.every((value) => typeof value === "number")) values.sort((a, b) => a - b);
  return { values, index: new Map(values.map((value, i) => [value, i])) };
}
function rankCorrelation(xs, ys) {
  const ranks = (values) => {
    const order = values.map((value, i) => [value, i]).sort((a, b) => a[0] - b[0]), found = new Array(values.length);
    for (let i = 0, j; i < order.length; i = j) {
      for (j = i; j < order.length && order[j][0] === order[i][0]; ) j++;
      for (let k = i; k < j; k++) found[order[k][1]] = (i + j - 1) / 2;
    }
    return found;
  };
  const a = ranks(xs), b = ranks(ys), middle = (xs.length - 1) / 2;
  const sum = (term) => a.reduce((total, _, i) => total + term(i), 0);
  const both = Math.sqrt(sum((i) => (a[i] - middle) ** 2) * sum((i) => (b[i] - middle) ** 2));
  return both > 0 ? sum((i) => (a[i] - middle) * (b[i] - middle)) / both : null;
}
