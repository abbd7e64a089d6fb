// A triangle of heat maps. Shades are computed in slices, so that the page answers meanwhile; the number of
// solutions of a square is counted exactly when it is shown.

const MOST_BINS = 32;
const SLICE = 12; // milliseconds

class Pairs {
  constructor(state) {
    this.state = state;
    this.bins = new Map();
    this.maps = new Map();
    this.run = 0;
    this.chosen = state.space.paired.filter((v) => state.space.variables[v].count > 1);
    this.offerChoices();
    this.build();
    state.listen(() => this.update());
  }

  binsOf(v) {
    if (!this.bins.has(v)) this.bins.set(v, binsOf(this.state.space.variables[v].count, MOST_BINS));
    return this.bins.get(v);
  }

  offerChoices() {
    this.state.space.variables.forEach((variable, v) => {
      if (variable.count < 2) return;
      const box = element("input", { type: "checkbox", checked: this.chosen.includes(v) });
      box.addEventListener("change", () => {
        const chosen = new Set(this.chosen);
        box.checked ? chosen.add(v) : chosen.delete(v);
        this.chosen = [...chosen].sort((a, b) => a - b);
        this.build();
      });
      byId("paired").append(element("label", {}, box, ` ${variable.name}`));
    });
  }

  build() {
    const { variables } = this.state.space;
    const [rows, columns] = [this.chosen.slice(1), this.chosen.slice(0, -1)];
    const room = document.querySelector("main").clientWidth - 190;
    this.side = Math.max(44, Math.min(150, Math.floor(room / Math.max(1, columns.length)) - 3));
    const grid = byId("pairs");
    grid.style.gridTemplateColumns = `auto repeat(${columns.length}, ${this.side}px)`;
    grid.replaceChildren();
    this.maps.clear();
    const name = (v, kind) => element("div", { className: `name ${kind}`, textContent: variables[v].name, title: variables[v].name });
    rows.forEach((row, r) => {
      grid.append(name(row, "row-name"));
      columns.forEach((column, c) => grid.append(c <= r ? this.map(column, row) : element("span")));
    });
    if (rows.length) grid.append(element("span"), ...columns.map((column) => name(column, "column-name")));
    this.update();
  }

  map(column, row) {
    const canvas = element("canvas", { tabIndex: 0 });
    canvas.setAttribute("role", "img");
    const { variables } = this.state.space;
    canvas.setAttribute("aria-label", `Pairs of ${variables[column].name} and ${variables[row].name}`);
    sized(canvas, this.side, this.side);
    const map = { canvas, column, row, at: [0, 0] };
    this.maps.set(`${column} ${row}`, map);
    canvas.addEventListener("pointermove", (event) => {
      this.point(map, event);
      this.tell(map, event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("focusout", hideTip);
    canvas.addEventListener("click", (event) => {
      this.point(map, event);
      this.keep(map);
    });
    canvas.addEventListener("keydown", (event) => this.key(map, event));
    return canvas;
  }

  point(map, event) {
    const { left, top } = map.canvas.getBoundingClientRect();
    const bin = (share, v) => Math.max(0, Math.min(this.binsOf(v).count - 1, Math.floor(share * this.binsOf(v).count)));
    map.at = [bin((event.clientX - left) / this.side, map.column), bin(1 - (event.clientY - top) / this.side, map.row)];
  }

  places(v, bin) { // the values of a bin that are kept
    const { first } = this.binsOf(v);
    return range(first[bin], first[bin + 1]).filter((i) => this.state.isKept(v, i));
  }

  exact(map) {
    const conditions = this.state.conditions.slice();
    for (const [v, bin] of [[map.column, map.at[0]], [map.row, map.at[1]]]) {
      const places = this.places(v, bin);
      if (!places.length) return 0n;
      conditions[v] = new Uint8Array(this.state.space.variables[v].count);
      for (const i of places) conditions[v][i] = 1;
    }
    return this.state.space.count(conditions);
  }

  tell(map, x, y) {
    const { variables } = this.state.space;
    const what = [[map.column, map.at[0]], [map.row, map.at[1]]]
      .map(([v, bin]) => `${variables[v].name} = ${binName(variables[v], this.binsOf(v), bin)}`).join(", ");
    const count = this.exact(map);
    showTip(count ? `${what}\n${solutionsOf(count)}, ${percent(count, this.state.summary.total)}` : `${what}\nno solution`, x, y);
  }

  keep(map) {
    const [across, upwards] = [this.places(map.column, map.at[0]), this.places(map.row, map.at[1])];
    if (this.exact(map)) this.state.set([map.column, across], [map.row, upwards]);
  }

  key(map, event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };
    if (event.key in steps) {
      map.at = [map.column, map.row].map((v, i) =>
        Math.max(0, Math.min(this.binsOf(v).count - 1, map.at[i] + steps[event.key][i])));
    } else if (event.key === "Enter" || event.key === " ") {
      this.keep(map);
    } else {
      return;
    }
    event.preventDefault();
    const { left, top } = map.canvas.getBoundingClientRect();
    const [column, row] = [map.column, map.row].map((v) => this.side / this.binsOf(v).count);
    this.tell(map, left + (map.at[0] + 1) * column, top + this.side - map.at[1] * row);
  }

  async update() {
    const run = ++this.run;
    for (const map of this.maps.values()) map.stale = true;
    const wait = () => new Promise((resolve) => setTimeout(resolve));
    const late = setTimeout(() => (byId("pairs-state").textContent = "computing …"), 150);
    let begun = performance.now();
    for (const found of this.state.space.shades(this.state.conditions, this.chosen, (v) => this.binsOf(v))) {
      if (found !== undefined) this.draw(...found);
      if (performance.now() - begun < SLICE) continue;
      await wait();
      if (run !== this.run) {
        clearTimeout(late);
        return;
      }
      begun = performance.now();
    }
    clearTimeout(late);
    byId("pairs-state").textContent = "";
    for (const map of this.maps.values()) if (map.stale) this.draw(map.column, map.row, [[0]]);
    this.complete = run;
  }

  draw(v, w, table) {
    const turned = !this.maps.has(`${v} ${w}`);
    const map = this.maps.get(turned ? `${w} ${v}` : `${v} ${w}`);
    if (map === undefined) return;
    map.stale = false;
    map.table = turned ? table[0].map((_, i) => table.map((row) => row[i])) : table;
    const context = sized(map.canvas, this.side, this.side);
    const { ramp } = colours();
    const most = Math.max(...map.table.map((row) => Math.max(...row)));
    const [width, height] = [this.side / map.table.length, this.side / map.table[0].length];
    map.table.forEach((row, i) => row.forEach((share, j) => {
      if (!(share > 0)) return;
      context.fillStyle = ramp(Math.sqrt(share / most));
      context.fillRect(i * width, this.side - (j + 1) * height, Math.max(width - 0.5, 1), Math.max(height - 0.5, 1));
    }));
  }
}
