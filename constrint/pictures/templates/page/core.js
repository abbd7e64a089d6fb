// Exact counts on embedded decision diagrams. No part of this file touches the page: it also runs in Node.

const PLAIN = 2 ** 53; // below it, doubles are exact integers
const TINY = 1e-280; // shares of existing solutions never round to 0

function isPrime(number) {
  for (let factor = 3; factor * factor <= number; factor += 2) if (number % factor === 0) return false;
  return number % 2 === 1;
}

// Moduli whose product exceeds a size: 2**53 itself where that is enough, otherwise primes below 2**26, whose
// products of two are exact in doubles.
function moduliFor(size) {
  if (size < BigInt(PLAIN)) return [PLAIN];
  const moduli = [];
  let product = 1n;
  for (let candidate = 2 ** 26 - 1; product <= size; candidate -= 2) {
    if (!isPrime(candidate)) continue;
    moduli.push(candidate);
    product *= BigInt(candidate);
  }
  return moduli;
}

function times(a, b, modulus, inverse) {
  const product = a * b;
  let rest = product - Math.floor(product * inverse) * modulus;
  if (rest < 0) rest += modulus;
  else if (rest >= modulus) rest -= modulus;
  return rest;
}

function inverseOf(a, modulus) { // by the extended Euclidean algorithm, in BigInt
  let [r, s, t, u] = [modulus, a % modulus, 0n, 1n];
  while (s) [r, s, t, u] = [s, r % s, u, t - (r / s) * u];
  return ((t % modulus) + modulus) % modulus;
}

// Chinese remainders: integers from their residues.
class Residues {
  constructor(size) {
    this.moduli = moduliFor(size);
    const whole = this.moduli.reduce((product, p) => product * BigInt(p), 1n);
    this.whole = whole;
    this.weights = this.moduli.map((p) => {
      const others = whole / BigInt(p);
      return (others * inverseOf(others, BigInt(p))) % whole;
    });
  }

  integer(residues) {
    if (residues.length === 1) return BigInt(residues[0]);
    let sum = 0n;
    for (let i = 0; i < residues.length; i++) sum += BigInt(residues[i]) * this.weights[i];
    return sum % this.whole;
  }
}

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function layersOf(group, bytes) {
  let at = 0;
  const next = () => {
    let number = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      number += (byte & 127) * scale;
      if (byte < 128) return number;
    }
  };
  const layers = group.nodes.map((nodes, k) => {
    const edges = group.edges[k];
    const first = new Uint32Array(nodes + 1);
    for (let node = 0; node < nodes; node++) first[node + 1] = first[node] + next();
    const value = new Uint32Array(edges);
    for (let node = 0; node < nodes; node++) {
      for (let edge = first[node], last = 0; edge < first[node + 1]; edge++) value[edge] = last += next();
    }
    const target = new Uint32Array(edges);
    for (let edge = 0, last = 0; edge < edges; edge++) {
      const code = next();
      target[edge] = last += code % 2 ? -(code + 1) / 2 : code / 2;
    }
    return { nodes, edges, first, value, target };
  });
  if (at !== bytes.length) throw new Error("the embedded diagram is damaged");
  return layers;
}

// One decision diagram: the solutions of a group of variables.
class Diagram {
  constructor(variables, layers, domains) {
    this.variables = variables;
    this.layers = layers;
    this.domains = domains; // number of values of each layer's variable
    this.layerOf = new Map(variables.map((v, k) => [v, k]));
    this.residues = new Residues(this.bound());
    this.size = this.count(variables.map(() => null));
  }

  bound() { // at least the number of paths: counted in doubles, with room for their rounding
    let digits = 0;
    let below = Float64Array.of(1);
    for (let k = this.layers.length - 1; k >= 0; k--) {
      const [weights, scale] = scaled(this.below(k, below, null, Infinity));
      below = weights;
      digits += Math.log2(scale);
    }
    return digits < 52 ? BigInt(PLAIN) - 1n : 1n << BigInt(Math.ceil(digits * (1 + 1e-9)) + 2);
  }

  // Paths from each node of layer k to the end, given those of the layer below.
  below(k, down, allowed, modulus) {
    const { nodes, first, value, target } = this.layers[k];
    const sums = new Float64Array(nodes);
    for (let node = 0; node < nodes; node++) {
      let sum = 0;
      for (let edge = first[node]; edge < first[node + 1]; edge++) {
        if (allowed !== null && !allowed[value[edge]]) continue;
        sum += down[target[edge]];
        if (sum >= modulus) sum -= modulus;
      }
      sums[node] = sum;
    }
    return sums;
  }

  downs(conditions, modulus) {
    const down = [Float64Array.of(1)];
    for (let k = this.layers.length - 1; k >= 0; k--) {
      down.unshift(this.below(k, down[0], conditions[k], modulus));
    }
    return down;
  }

  // Paths from the root to each node of layer k + 1, given those to layer k.
  above(k, up, allowed, modulus, nodes) {
    const { first, value, target } = this.layers[k];
    const reach = new Float64Array(nodes);
    for (let node = 0; node < up.length; node++) {
      const paths = up[node];
      if (!paths) continue;
      for (let edge = first[node]; edge < first[node + 1]; edge++) {
        if (allowed !== null && !allowed[value[edge]]) continue;
        const sum = reach[target[edge]] + paths;
        reach[target[edge]] = sum >= modulus ? sum - modulus : sum;
      }
    }
    return reach;
  }

  nodesBelow(k) {
    return k + 1 < this.layers.length ? this.layers[k + 1].nodes : 1;
  }

  count(conditions) {
    return this.residues.integer(this.residues.moduli.map((p) => this.downs(conditions, p)[0][0]));
  }

  // For each layer, the number of paths with each value under the conditions of all *other* layers.
  marginals(conditions) {
    const found = this.domains.map((count) => Array.from({ length: count }, () => []));
    for (const modulus of this.residues.moduli) {
      const inverse = 1 / modulus;
      const down = this.downs(conditions, modulus);
      let up = Float64Array.of(1);
      for (let k = 0; k < this.layers.length; k++) {
        const { nodes, first, value, target } = this.layers[k];
        const sums = new Float64Array(this.domains[k]);
        for (let node = 0; node < nodes; node++) {
          if (!up[node]) continue;
          for (let edge = first[node]; edge < first[node + 1]; edge++) {
            const sum = sums[value[edge]] + times(up[node], down[k + 1][target[edge]], modulus, inverse);
            sums[value[edge]] = sum >= modulus ? sum - modulus : sum;
          }
        }
        sums.forEach((sum, i) => found[k][i].push(sum));
        up = this.above(k, up, conditions[k], modulus, this.nodesBelow(k));
      }
    }
    return found.map((values) => values.map((residues) => this.residues.integer(residues)));
  }

  // Shares in doubles, layer by layer scaled to 1, with the scales: for samples, and for the shades of pairs.
  downShares(conditions) {
    const down = [Float64Array.of(1)];
    const scales = [];
    for (let k = this.layers.length - 1; k >= 0; k--) {
      const [weights, scale] = scaled(this.below(k, down[0], conditions[k], Infinity));
      down.unshift(weights);
      scales.unshift(scale);
    }
    return { down, scales };
  }

  upShares(conditions) {
    const up = [Float64Array.of(1)];
    const scales = [];
    for (let k = 0; k < this.layers.length; k++) {
      const [weights, scale] = scaled(this.above(k, up[k], conditions[k], Infinity, this.nodesBelow(k)));
      up.push(weights);
      scales.push(scale);
    }
    return { up, scales };
  }

  // The shades of all pairs of layer j with lower ones, by bins; `wanted` maps a layer to its values' bins.
  // Yields after each bin, and returns the tables by layer.
  *pairShades(conditions, down, { up, scales }, j, wanted) {
    const last = Math.max(...wanted.keys());
    const bins = wanted.get(j);
    const found = new Map();
    for (let k = j + 1; k <= last; k++) {
      if (!wanted.has(k)) continue;
      found.set(k, Array.from({ length: bins.count }, () => new Float64Array(wanted.get(k).count)));
    }
    for (let bin = 0; bin < bins.count; bin++) {
      const inside = Uint8Array.from(bins.of, (of, i) => (of === bin && (conditions[j] === null || conditions[j][i]) ? 1 : 0));
      if (!inside.includes(1)) continue;
      let reach = divide(this.above(j, up[j], inside, Infinity, this.nodesBelow(j)), scales[j]);
      for (let k = j + 1; k <= last; k++) {
        if (found.has(k)) this.shade(k, reach, conditions[k], down[k + 1], wanted.get(k).of, found.get(k)[bin]);
        reach = divide(this.above(k, reach, conditions[k], Infinity, this.nodesBelow(k)), scales[k]);
      }
      yield;
    }
    return found;
  }

  shade(k, reach, allowed, down, bins, sums) {
    const { nodes, first, value, target } = this.layers[k];
    for (let node = 0; node < nodes; node++) {
      if (!reach[node]) continue;
      for (let edge = first[node]; edge < first[node + 1]; edge++) {
        if (allowed !== null && !allowed[value[edge]]) continue;
        if (down[target[edge]]) sums[bins[value[edge]]] += Math.max(reach[node] * down[target[edge]], TINY);
      }
    }
  }

  // One solution, drawn uniformly, as places of values: `random` gives doubles in [0, 1).
  draw(conditions, { down, scales }, random) {
    const chosen = new Uint32Array(this.layers.length);
    let node = 0;
    for (let k = 0; k < this.layers.length; k++) {
      const { first, value, target } = this.layers[k];
      const [allowed, below] = [conditions[k], down[k + 1]];
      let rest = random() * down[k][node] * scales[k];
      let taken = -1;
      for (let edge = first[node]; edge < first[node + 1]; edge++) {
        const weight = allowed !== null && !allowed[value[edge]] ? 0 : below[target[edge]];
        if (!weight) continue;
        taken = edge;
        rest -= weight;
        if (rest < 0) break;
      }
      chosen[k] = value[taken];
      node = target[taken];
    }
    return chosen;
  }

  // All solutions in order, at most `most`.
  list(conditions, most) {
    const alive = this.downShares(conditions).down;
    const rows = [];
    const row = [];
    const visit = (k, node) => {
      if (rows.length === most) return;
      if (k === this.layers.length) {
        rows.push([...row]);
        return;
      }
      const { first, value, target } = this.layers[k];
      for (let edge = first[node]; edge < first[node + 1]; edge++) {
        if ((conditions[k] !== null && !conditions[k][value[edge]]) || !alive[k + 1][target[edge]]) continue;
        row.push(value[edge]);
        visit(k + 1, target[edge]);
        row.pop();
      }
    };
    visit(0, 0);
    return rows;
  }
}

function scaled(weights) {
  let most = 0;
  for (const weight of weights) if (weight > most) most = weight;
  return [divide(weights, most || 1), most || 1];
}

function divide(weights, scale) {
  for (let i = 0; i < weights.length; i++) if (weights[i] > 0) weights[i] = Math.max(weights[i] / scale, TINY);
  return weights;
}
