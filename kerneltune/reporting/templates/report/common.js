// What the pages share: numbers as people read them, sections, tables, and charts that follow their width.
const byId = (id) => document.getElementById(id);
const colour = { mark: "var(--mark)", best: "var(--best)", other: "var(--other)", dim: "var(--dim)", line: "var(--line)" };

function number(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isSafeInteger(value)) return value.toLocaleString("en");
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toPrecision(3);
  return (+value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 });
}
const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)} %`);

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
// Ticks along a width, of which none is so near the last one that their labels would touch.
function apart(ticks, [low, high], wide, width) {
  const place = (value) => width * (wide ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  const kept = [];
  for (const tick of ticks)
    if (!kept.length || place(tick) - place(kept[kept.length - 1]) >= 14 + 6.7 * number(tick).length) kept.push(tick);
  return kept;
}
