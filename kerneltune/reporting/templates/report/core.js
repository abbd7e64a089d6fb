// What the report's charts share: the trials, the objective's axis, places of values.
const sign = data.maximised ? -1 : 1;
const label = data.objective + (data.unit ? ` (${data.unit})` : "");
const unit = data.unit ? ` ${data.unit}` : "";

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
function valueAxis(values, more = {}) {
  const low = Math.min(...values), high = Math.max(...values);
  const wide = rated(values), edge = Math.abs(low === high ? (low || 1) * 0.1 : (high - low) * 0.05);
  const domain = wide ? [low / 1.06, high * 1.06] : [low - edge, high + edge];
  return { label, labelAnchor: "center", grid: true, tickFormat: number, ticks: ticksOf(domain, wide), type: wide ? "log" : "linear", domain, ...more };
}
// The same along the width, where labels stand side by side.
function along(values, width, more = {}) {
  const axis = valueAxis(values, more);
  const ticks = Array.isArray(axis.ticks) ? apart(axis.ticks, axis.domain, axis.type === "log", width) : 5;
  return { ...axis, ticks };
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
