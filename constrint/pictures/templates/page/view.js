// What all parts of the page share: elements, numbers as text, tooltips, colours, bins, and the state.

const byId = (id) => document.getElementById(id);

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function many(number) { // exact; beyond 30 digits shortened, with the length
  const digits = String(number);
  if (digits.length <= 30) return digits.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${digits[0]}.${digits.slice(1, 7)}… × 10^${digits.length - 1}`;
}

function percent(a, b) {
  if (!b) return "none";
  const share = 100 * quotient(a, b);
  if (!share && a) return "under 10⁻¹⁵ %";
  return `${share >= 0.01 || !share ? share.toFixed(2) : share.toExponential(2)} %`;
}

const solutionsOf = (number) => `${many(number)} ${number === 1n ? "solution" : "solutions"}`;

// At most `most` runs of values, each as long as the others or shorter by one.
function binsOf(count, most) {
  const bins = Math.min(count, most);
  const of = Array.from({ length: count }, (_, i) => Math.floor((i * bins) / count));
  const first = Array.from({ length: bins + 1 }, (_, bin) => Math.ceil((bin * count) / bins));
  return { count: bins, of, first };
}

function binName(variable, bins, bin) {
  const [from, to] = [bins.first[bin], bins.first[bin + 1] - 1];
  return from === to ? variable.texts[from] : `${variable.texts[from]} … ${variable.texts[to]}`;
}

function showTip(text, x, y) {
  const tip = byId("tip");
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - width - 4))}px`;
  tip.style.top = `${y + height + 24 > innerHeight ? Math.max(4, y - height - 10) : y + 16}px`;
}

function hideTip() {
  byId("tip").hidden = true;
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const parts = (name) => [1, 3, 5].map((i) => parseInt(read(name).slice(i, i + 2), 16));
  const between = (name) => {
    const [low, high] = [parts(`${name}-0`), parts(`${name}-1`)];
    return (share, alpha = 1) => `rgba(${low.map((c, i) => Math.round(c + (high[i] - c) * share)).join()},${alpha})`;
  };
  return { read, ramp: between("ramp"), lines: between("line") };
}

// A canvas that is sharp on every screen; returns its context in CSS pixels.
function sized(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

// The conditions and what follows from them. Parts of the page listen for changes.
class State {
  constructor(space) {
    this.space = space;
    this.conditions = space.free();
    this.summary = space.all;
    this.listeners = [];
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  isKept(v, i) {
    return this.conditions[v] === null || this.conditions[v][i] === 1;
  }

  // Conditions of several variables at once: [variable, places or null] each.
  set(...changes) {
    this.conditions = this.conditions.slice();
    for (const [v, places] of changes) {
      const { count } = this.space.variables[v];
      const allowed = new Uint8Array(count);
      for (const i of places ?? []) allowed[i] = 1;
      const kept = allowed.reduce((sum, one) => sum + one, 0);
      this.conditions[v] = kept && kept < count ? allowed : null;
    }
    this.summary = this.space.summary(this.conditions);
    for (const listener of this.listeners) listener();
  }

  clear() {
    this.set(...this.space.variables.map((_, v) => [v, null]));
  }

  kept(v) {
    const places = [];
    if (this.conditions[v] !== null) this.conditions[v].forEach((one, i) => one && places.push(i));
    return places;
  }

  // Keep these places as well; drop them where all are kept already.
  toggle(v, places) {
    const kept = new Set(this.kept(v));
    const drop = places.every((i) => kept.has(i));
    for (const i of places) drop ? kept.delete(i) : kept.add(i);
    this.set([v, [...kept]]);
  }
}

function range(from, to) {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
