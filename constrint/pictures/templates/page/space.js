// The whole set: independent diagrams, the values of the variables, and conditions on them.
// A condition of a variable is null, or an array with 1 for each value that is allowed.

class Variable {
  constructor(facts) {
    this.name = facts.name;
    this.written = facts.written;
    this.ordered = facts.ordered;
    this.texts = facts.texts ?? Array.from({ length: facts.count }, (_, i) =>
      String(BigInt(facts.start) + BigInt(facts.step) * BigInt(i)));
    this.literals = facts.literals ?? this.texts;
    this.count = this.texts.length;
  }

  // What the user chose, in three notations. Contiguous values of an ordered variable become bounds.
  chosen(allowed) {
    const places = [];
    allowed.forEach((one, i) => one && places.push(i));
    const [from, to] = [places[0], places[places.length - 1]];
    return { places, from, to, isRange: this.ordered && places.length > 1 && to - from + 1 === places.length };
  }

  constraint(allowed) {
    const { places, from, to, isRange } = this.chosen(allowed);
    const literal = (i) => this.literals[i];
    if (places.length === 1) return `${this.written} == ${literal(from)}`;
    if (!isRange) return `${this.written} in {${places.map(literal).join(", ")}}`;
    if (from === 0) return `${this.written} <= ${literal(to)}`;
    if (to === this.count - 1) return `${this.written} >= ${literal(from)}`;
    return `${literal(from)} <= ${this.written} <= ${literal(to)}`;
  }

  given(allowed) {
    const { places, from, to, isRange } = this.chosen(allowed);
    const plain = this.literals === this.texts;
    if (plain && places.length === 1) return `${this.name}=${this.texts[from]}`;
    if (isRange) return `${this.name} in ${this.texts[from]}..${this.texts[to]}`;
    return `${this.name} in {${places.map((i) => this.literals[i]).join(", ")}}`;
  }

  python(allowed) {
    const { places, from } = this.chosen(allowed);
    const value = places.length === 1 ? this.literals[from] : `{${places.map((i) => this.literals[i]).join(", ")}}`;
    return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(this.name)
      ? `${this.name}=${value}` : `**{${JSON.stringify(this.name)}: ${value}}`;
  }
}

function shellQuoted(text) {
  return /^[\w=.,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// Reproducible random numbers in [0, 1) with 53 bits, by two draws of mulberry32.
function randomFrom(seed) {
  let state = seed >>> 0;
  const draw = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return () => ((draw() >>> 5) * 67108864 + (draw() >>> 6)) / PLAIN;
}

class Space {
  static async of(text) {
    const facts = JSON.parse(text);
    const variables = facts.variables.map((one) => new Variable(one));
    const diagrams = [];
    for (const group of facts.groups) {
      const layers = layersOf(group, await inflated(group.data));
      diagrams.push(new Diagram(group.variables, layers, group.variables.map((v) => variables[v].count)));
    }
    const space = new Space(variables, diagrams, facts.paired);
    if (space.size !== BigInt(facts.size)) throw new Error("the embedded diagram is damaged: its size is wrong");
    return space;
  }

  constructor(variables, diagrams, paired) {
    this.variables = variables;
    this.diagrams = diagrams;
    this.paired = paired;
    this.groupOf = new Map();
    diagrams.forEach((diagram, g) => diagram.variables.forEach((v) => this.groupOf.set(v, g)));
    this.size = diagrams.reduce((product, diagram) => product * diagram.size, 1n);
    this.known = diagrams.map(() => null);
    this.all = this.summary(this.free());
  }

  free() {
    return this.variables.map(() => null);
  }

  own(g, conditions) {
    return this.diagrams[g].variables.map((v) => conditions[v]);
  }

  count(conditions) {
    return this.diagrams.reduce((product, diagram, g) => product * diagram.count(this.own(g, conditions)), 1n);
  }

  // The size under the conditions, and for each variable the number of solutions with each value, its own
  // condition left aside: what one gets now for allowed values, and what others would add.
  summary(conditions) {
    const parts = this.diagrams.map((diagram, g) => {
      const own = this.own(g, conditions);
      const before = this.known[g];
      if (before !== null && own.every((one, k) => one === before.own[k])) return before;
      const marginals = diagram.marginals(own);
      const total = marginals[0].reduce((sum, n, i) => (own[0] === null || own[0][i] ? sum + n : sum), 0n);
      return (this.known[g] = { own, marginals, total });
    });
    const total = parts.reduce((product, part) => product * part.total, 1n);
    const counts = this.variables.map((_, v) => {
      const g = this.groupOf.get(v);
      const others = parts.reduce((product, part, h) => (h === g ? product : product * part.total), 1n);
      const own = parts[g].marginals[this.diagrams[g].layerOf.get(v)];
      return others === 1n ? own : own.map((n) => n * others);
    });
    return { total, counts };
  }

  // Shades of all pairs of some variables, pair by pair, in steps that keep the page responsive: yields
  // [v, w, table] or undefined, the rows being those of v; tables are in proportion to the numbers of solutions, and 0
  // where there is none. `binsOf` gives {of, count} for a variable.
  *shades(conditions, wanted, binsOf) {
    const { total, counts } = this.summary(conditions);
    if (!total) return;
    const relative = wanted.map((v) => {
      const bins = binsOf(v);
      const sums = Array.from({ length: bins.count }, () => 0n);
      counts[v].forEach((n, i) => {
        if (conditions[v] === null || conditions[v][i]) sums[bins.of[i]] += n;
      });
      return sums.map((n) => (n ? Math.max(quotient(n, total), TINY) : 0));
    });
    for (let i = 0; i < wanted.length; i++) {
      for (let j = i + 1; j < wanted.length; j++) {
        if (this.groupOf.get(wanted[i]) === this.groupOf.get(wanted[j])) continue;
        yield [wanted[i], wanted[j], relative[i].map((a) => relative[j].map((b) => (a && b ? Math.max(a * b, TINY) : 0)))];
      }
    }
    for (let g = 0; g < this.diagrams.length; g++) {
      const diagram = this.diagrams[g];
      const inside = wanted.filter((v) => this.groupOf.get(v) === g);
      if (inside.length < 2) continue;
      const own = this.own(g, conditions);
      const { down } = diagram.downShares(own);
      const shares = diagram.upShares(own);
      const bins = new Map(inside.map((v) => [diagram.layerOf.get(v), binsOf(v)]));
      for (const j of [...bins.keys()].sort((a, b) => a - b)) {
        for (const [k, table] of yield* diagram.pairShades(own, down, shares, j, bins)) {
          yield [diagram.variables[j], diagram.variables[k], table.map((row) => Array.from(row))];
        }
      }
    }
  }

  // Distinct solutions drawn uniformly; all, in order, if there are at most `most`.
  sample(conditions, most, seed) {
    const { total } = this.summary(conditions);
    if (!total) return [];
    if (total <= BigInt(most)) return this.list(conditions, most);
    const random = randomFrom(seed);
    const downs = this.diagrams.map((diagram, g) => diagram.downShares(this.own(g, conditions)));
    const rows = new Map();
    for (let tries = 0; rows.size < most && tries < 20 * most; tries++) {
      const row = new Uint32Array(this.variables.length);
      this.diagrams.forEach((diagram, g) => {
        diagram.draw(this.own(g, conditions), downs[g], random).forEach((i, k) => (row[diagram.variables[k]] = i));
      });
      rows.set(row.join(), row);
    }
    return [...rows.values()];
  }

  list(conditions, most) {
    let rows = [new Uint32Array(this.variables.length)];
    this.diagrams.forEach((diagram, g) => {
      const parts = diagram.list(this.own(g, conditions), most);
      rows = rows.flatMap((row) => parts.map((part) => {
        const longer = row.slice();
        part.forEach((i, k) => (longer[diagram.variables[k]] = i));
        return longer;
      }));
    });
    return rows;
  }

  // The conditions as text.

  conditioned(conditions) {
    return this.variables.map((_, v) => v).filter((v) => conditions[v] !== null);
  }

  asConstraints(conditions) {
    return this.conditioned(conditions).map((v) => this.variables[v].constraint(conditions[v])).join("\n");
  }

  asGiven(conditions) {
    return this.conditioned(conditions)
      .map((v) => `--given ${shellQuoted(this.variables[v].given(conditions[v]))}`).join(" ");
  }

  asPython(conditions) {
    return `given(${this.conditioned(conditions).map((v) => this.variables[v].python(conditions[v])).join(", ")})`;
  }
}

// The quotient of two integers of any size as a double; 0 below 2**-60.
function quotient(a, b) {
  return Number((a << 60n) / b) / 2 ** 60;
}
