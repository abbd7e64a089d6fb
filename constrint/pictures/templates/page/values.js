// A card with bars for each variable that varies.

const MOST_BARS = 64;
const MOST_CARDS = 60;

class Card {
  constructor(state, v) {
    this.state = state;
    this.v = v;
    this.variable = state.space.variables[v];
    this.bins = binsOf(this.variable.count, MOST_BARS);
    this.all = this.sums(state.space.all.counts[v]);
    this.at = 0; // the bar that the keyboard is on
    this.anchor = 0; // where a range began
    this.facts = element("span");
    this.bars = range(0, this.bins.count).map((bin) => this.bar(bin));
    this.box = element("div", { className: "bars" }, ...this.bars.map((bar) => bar.box));
    this.box.setAttribute("role", "listbox");
    this.box.setAttribute("aria-multiselectable", "true");
    this.box.setAttribute("aria-label", `Values of ${this.variable.name}`);
    this.node = element("div", { className: "card variable" },
      element("h3", {}, element("b", { textContent: this.variable.name, title: this.variable.name }), this.facts),
      this.box,
      element("div", { className: "ends" },
        element("span", { textContent: this.variable.texts[0] }),
        element("span", { textContent: this.variable.texts[this.variable.count - 1] })));
    this.listen();
    this.update();
  }

  bar(bin) {
    const [ghost, now] = ["ghost", "now"].map((className) => element("i", { className }));
    const box = element("div", { className: "bar", tabIndex: bin ? -1 : 0 }, ghost, now);
    box.setAttribute("role", "option");
    box.setAttribute("aria-label", `${this.variable.name} = ${binName(this.variable, this.bins, bin)}`);
    const most = this.all.reduce((a, b) => (a > b ? a : b), 1n);
    ghost.style.height = `${100 * quotient(this.all[bin], most)}%`;
    return { box, now };
  }

  sums(counts) {
    const sums = Array.from({ length: this.bins.count }, () => 0n);
    counts.forEach((n, i) => (sums[this.bins.of[i]] += n));
    return sums;
  }

  places(from, to) { // the values of bars from … to, in either direction
    return range(this.bins.first[Math.min(from, to)], this.bins.first[Math.max(from, to) + 1]);
  }

  isKept(bin) {
    return this.places(bin, bin).every((i) => this.state.isKept(this.v, i));
  }

  text(bin) {
    const count = this.now[bin];
    const { total } = this.state.summary;
    const what = `${this.variable.name} = ${binName(this.variable, this.bins, bin)}`;
    return this.isKept(bin)
      ? `${what}\n${solutionsOf(count)}, ${percent(count, total)}`
      : `${what}: not kept\nwould give ${solutionsOf(count)}`;
  }

  update() {
    const { counts } = this.state.summary;
    this.now = this.sums(counts[this.v]);
    const most = this.now.reduce((a, b) => (a > b ? a : b), 1n);
    const conditioned = this.state.conditions[this.v] !== null;
    this.bars.forEach(({ box, now }, bin) => {
      const kept = this.isKept(bin);
      now.style.height = this.now[bin] ? `max(1.5px, ${100 * quotient(this.now[bin], most)}%)` : "0";
      box.classList.toggle("dropped", !kept);
      box.classList.toggle("kept", kept && conditioned);
      box.setAttribute("aria-selected", String(kept && conditioned));
    });
    const possible = counts[this.v].filter((n, i) => n && this.state.isKept(this.v, i)).length;
    this.facts.textContent = `${possible} of ${this.variable.count} values`;
    this.node.classList.toggle("conditioned", conditioned);
  }

  binAt(event) {
    const { left, width } = this.box.getBoundingClientRect();
    const bin = Math.floor(((event.clientX - left) / width) * this.bins.count);
    return Math.max(0, Math.min(this.bins.count - 1, bin));
  }

  listen() {
    let from = null;
    let to = null;
    let isRange = false;
    this.box.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      from = to = this.binAt(event);
      isRange = false;
      this.box.setPointerCapture(event.pointerId);
      this.focus(from);
      event.preventDefault();
    });
    this.box.addEventListener("pointermove", (event) => {
      const bin = this.binAt(event);
      if (from !== null && bin !== to) {
        to = bin;
        isRange = true;
        this.state.set([this.v, this.places(from, to)]);
      }
      showTip(this.text(bin), event.clientX, event.clientY);
    });
    this.box.addEventListener("pointerup", (event) => {
      if (from !== null && !isRange) this.state.toggle(this.v, this.places(from, from));
      from = to = null;
      showTip(this.text(this.at), event.clientX, event.clientY);
    });
    this.box.addEventListener("pointercancel", () => (from = to = null));
    this.box.addEventListener("pointerleave", hideTip);
    this.box.addEventListener("focusout", hideTip);
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  focus(bin) {
    this.bars[this.at].box.tabIndex = -1;
    this.at = bin;
    this.bars[bin].box.tabIndex = 0;
    this.bars[bin].box.focus({ preventScroll: true });
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      const next = Math.max(0, Math.min(this.bins.count - 1, this.at + steps[event.key]));
      if (!event.shiftKey) this.anchor = next;
      this.focus(next);
      if (event.shiftKey) this.state.set([this.v, this.places(this.anchor, next)]);
    } else if (event.key === " " || event.key === "Enter") {
      this.anchor = this.at;
      this.state.toggle(this.v, this.places(this.at, this.at));
    } else if (event.key === "Escape") {
      this.state.set([this.v, null]);
    } else {
      return;
    }
    event.preventDefault();
    const { box } = this.bars[this.at];
    const { left, bottom } = box.getBoundingClientRect();
    box.setAttribute("aria-label", this.text(this.at).replace("\n", ": "));
    showTip(this.text(this.at), left, bottom);
  }
}

function showValues(state) {
  const { variables } = state.space;
  const varying = variables.map((_, v) => v).filter((v) => variables[v].count > 1);
  const fixed = variables.filter((one) => one.count === 1);
  byId("fixed").textContent = fixed.length ? `Always: ${fixed.map((one) => `${one.name} = ${one.texts[0]}`).join(", ")}` : "";
  const cards = [];
  const add = (list) => list.forEach((v) => {
    cards.push(new Card(state, v));
    byId("values").append(cards[cards.length - 1].node);
  });
  add(varying.slice(0, MOST_CARDS));
  const more = byId("more");
  more.hidden = varying.length <= MOST_CARDS;
  more.textContent = `Show the other ${varying.length - MOST_CARDS} variables`;
  more.addEventListener("click", () => {
    add(varying.slice(MOST_CARDS));
    more.hidden = true;
  });
  state.listen(() => cards.forEach((card) => card.update()));
}
