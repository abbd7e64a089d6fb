// Parallel coordinates of samples, as wide as the page.

const MOST_AXES = 40;
const HEIGHT = 320;
const [TOP, BOTTOM, SIDE, LEAST_STEP] = [34, 14, 56, 74];

class Parallel {
  constructor(state) {
    this.state = state;
    const { variables } = state.space;
    this.axes = variables.map((_, v) => v).filter((v) => variables[v].count > 1).slice(0, MOST_AXES);
    this.canvas = byId("parallel");
    this.seed = 1;
    this.near = null; // the sample under the pointer
    this.colourBy = this.axes[0];
    for (const v of this.axes) byId("colour-by").append(element("option", { value: v, textContent: variables[v].name }));
    this.listen();
    state.listen(() => this.soon());
    this.sample();
  }

  soon() { // samples follow the counts, once for all changes of a moment
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.sample());
  }

  sample() {
    const { space, conditions } = this.state;
    this.rows = space.sample(conditions, Number(byId("sample-size").value), this.seed);
    const random = randomFrom(7);
    this.jitter = this.rows.map(() => this.axes.map(() => random() - 0.5));
    this.near = null;
    this.shown = conditions;
    const all = BigInt(this.rows.length) === this.state.summary.total;
    const left = space.variables.filter((one) => one.count > 1).length - this.axes.length;
    byId("sample-facts").textContent = (all ? `all ${solutionsOf(this.state.summary.total)}` : `${this.rows.length} of ${solutionsOf(this.state.summary.total)}`)
      + (left ? `; the first ${this.axes.length} variables that vary` : "");
    this.canvas.setAttribute("aria-label", `Parallel coordinates of ${this.rows.length} sampled solutions; the table below lists the first`);
    this.fillTable();
    this.draw();
  }

  fillTable() {
    const { variables } = this.state.space;
    const shown = this.axes.slice(0, 30);
    byId("table").replaceChildren(
      element("tr", {}, ...shown.map((v) => element("th", { textContent: variables[v].name, scope: "col" }))),
      ...this.rows.slice(0, 20).map((row) =>
        element("tr", {}, ...shown.map((v) => element("td", { textContent: variables[v].texts[row[v]] })))));
  }

  slot(a) {
    return (HEIGHT - TOP - BOTTOM) / this.state.space.variables[this.axes[a]].count;
  }

  x(a) {
    return SIDE + a * this.step;
  }

  y(a, i, jitter) {
    return HEIGHT - BOTTOM - (i + 0.5 + 0.6 * jitter) * this.slot(a);
  }

  draw() {
    const { variables } = this.state.space;
    if (!this.axes.length) return;
    const room = this.canvas.parentElement.clientWidth - 24;
    this.step = Math.max(LEAST_STEP, (room - 2 * SIDE) / Math.max(1, this.axes.length - 1));
    const context = sized(this.canvas, Math.max(room, 2 * SIDE + this.step * (this.axes.length - 1)), HEIGHT);
    const { read, lines } = colours();
    const colouring = this.rows.map((row) => row[this.colourBy]);
    const [low, high] = [Math.min(...colouring), Math.max(...colouring)];
    const shade = (row) => (row[this.colourBy] - low) / Math.max(1, high - low);
    const alpha = Math.max(0.12, Math.min(0.7, 60 / (this.rows.length || 1)));
    context.lineWidth = 1.2;
    this.rows.forEach((row, r) => {
      context.strokeStyle = lines(shade(row), alpha);
      this.line(context, row, r);
    });
    if (this.near !== null) {
      context.strokeStyle = read("ink");
      context.lineWidth = 3;
      this.line(context, this.rows[this.near], this.near);
    }
    context.font = "12px system-ui, sans-serif";
    this.axes.forEach((v, a) => this.axis(context, variables[v], a, read));
    if (this.rows.length) this.ramp(variables[this.colourBy], low, high, lines);
  }

  line(context, row, r) {
    context.beginPath();
    this.axes.forEach((v, a) => context.lineTo(this.x(a), this.y(a, row[v], this.jitter[r][a])));
    context.stroke();
  }

  axis(context, variable, a, read) {
    const [x, slot, v] = [this.x(a), this.slot(a), this.axes[a]];
    context.lineWidth = 1;
    context.strokeStyle = read("out");
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, HEIGHT - BOTTOM);
    context.stroke();
    if (this.state.conditions[v] !== null) {
      context.lineWidth = 5;
      context.strokeStyle = read("accent");
      for (const i of this.state.kept(v)) {
        context.beginPath();
        context.moveTo(x, this.y(a, i, -0.7));
        context.lineTo(x, this.y(a, i, 0.7));
        context.stroke();
      }
    }
    const write = (text, y, colour, width) => {
      let words = text;
      while (words.length > 1 && context.measureText(words).width > width) words = `${words.slice(0, -2)}…`;
      context.lineWidth = 3;
      context.strokeStyle = read("card");
      context.strokeText(words, x, y);
      context.fillStyle = colour;
      context.fillText(words, x, y);
    };
    context.textAlign = "center";
    write(variable.name, a % 2 && this.step < 130 ? 25 : 11, read("ink"), this.step < 130 ? 2 * this.step - 24 : this.step - 12);
    context.textAlign = "left";
    const every = Math.max(1, Math.ceil(14 / slot));
    context.save();
    context.translate(7, 4);
    for (let i = 0; i < variable.count; i += every) write(variable.texts[i], this.y(a, i, 0), read("quiet"), this.step - 16);
    context.restore();
  }

  ramp(variable, low, high, lines) {
    const bar = element("i");
    bar.style.background = `linear-gradient(to right, ${lines(0)}, ${lines(1)})`;
    byId("ramp").replaceChildren(element("span", {}, `${variable.name}: ${variable.texts[low]}`, bar, variable.texts[high]));
  }

  place(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  axisAt(x) {
    const a = Math.max(0, Math.min(this.axes.length - 1, Math.round((x - SIDE) / this.step)));
    return Math.abs(x - this.x(a)) <= Math.min(20, this.step / 4) ? a : null;
  }

  valueAt(a, y) {
    const { count } = this.state.space.variables[this.axes[a]];
    return Math.max(0, Math.min(count - 1, Math.floor((HEIGHT - BOTTOM - y) / this.slot(a))));
  }

  nearest(x, y) {
    const a = Math.floor((x - SIDE) / this.step);
    if (a < 0 || a >= this.axes.length - 1) return null;
    const t = (x - this.x(a)) / this.step;
    let best = null;
    let least = 9;
    this.rows.forEach((row, r) => {
      const [from, to] = [a, a + 1].map((b) => this.y(b, row[this.axes[b]], this.jitter[r][b]));
      const distance = Math.abs(from + t * (to - from) - y);
      if (distance < least) [best, least] = [r, distance];
    });
    return best;
  }

  listen() {
    let from = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = this.place(event);
      const a = this.axisAt(x);
      if (event.button || a === null) return;
      from = [a, this.valueAt(a, y), null];
      this.canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const [x, y] = this.place(event);
      if (from !== null) {
        const i = this.valueAt(from[0], y);
        if (i === from[2] || (from[2] === null && i === from[1])) return;
        from[2] = i;
        this.state.set([this.axes[from[0]], range(Math.min(from[1], i), Math.max(from[1], i) + 1)]);
        return;
      }
      this.hover(x, y, event);
    });
    this.canvas.addEventListener("pointerup", () => {
      if (from !== null && from[2] === null) this.state.toggle(this.axes[from[0]], [from[1]]);
      from = null;
    });
    this.canvas.addEventListener("pointercancel", () => (from = null));
    this.canvas.addEventListener("pointerleave", () => {
      hideTip();
      this.highlight(null);
    });
    byId("sample-size").addEventListener("change", () => this.sample());
    byId("again").addEventListener("click", () => {
      this.seed += 1;
      this.sample();
    });
    byId("colour-by").addEventListener("change", (event) => {
      this.colourBy = Number(event.target.value);
      this.draw();
    });
  }

  hover(x, y, event) {
    const { variables } = this.state.space;
    const a = this.axisAt(x);
    if (a !== null && y >= TOP) {
      const [v, i] = [this.axes[a], this.valueAt(a, y)];
      this.highlight(null);
      const count = solutionsOf(this.state.summary.counts[v][i]);
      showTip(`${variables[v].name} = ${variables[v].texts[i]}\n${this.state.isKept(v, i) ? count : `would give ${count}`}`, event.clientX, event.clientY);
      return;
    }
    const near = this.nearest(x, y);
    this.highlight(near);
    if (near === null) hideTip();
    else showTip(this.axes.map((v) => `${variables[v].name} = ${variables[v].texts[this.rows[near][v]]}`).join("\n"), event.clientX, event.clientY);
  }

  highlight(near) {
    if (near === this.near) return;
    this.near = near;
    this.draw();
  }
}
