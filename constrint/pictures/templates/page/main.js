// The head of the page: the number of solutions, the conditions, and copies of them.

function showHead(state) {
  const { space } = state;
  const { total } = state.summary;
  const chosen = space.conditioned(state.conditions);
  byId("total").textContent = solutionsOf(total);
  byId("share").textContent = chosen.length ? `of ${many(space.size)}: ${percent(total, space.size)}` : "no condition";
  byId("share-fill").style.width = `${100 * quotient(total, space.size)}%`;
  byId("chips").replaceChildren(...chosen.map((v) => {
    const chip = element("button", { type: "button", className: "chip", textContent: `${shortened(space.variables[v].constraint(state.conditions[v]))} ×` });
    chip.setAttribute("aria-label", `Remove the condition ${space.variables[v].constraint(state.conditions[v])}`);
    chip.addEventListener("click", () => state.set([v, null]));
    const item = element("span", {}, chip);
    item.setAttribute("role", "listitem");
    return item;
  }));
  for (const id of ["clear", "copy-constraints", "copy-given", "copy-python"]) byId(id).disabled = !chosen.length;
  byId("copied").textContent = "";
}

function shortened(text) {
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or an old browser
    const area = element("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  byId("copied").textContent = `copied: ${shortened(text.replaceAll("\n", "; "))}`;
}

async function start() {
  const state = new State(await Space.of(byId("set").textContent));
  showValues(state);
  const parallel = new Parallel(state);
  const pairs = new Pairs(state);
  const head = () => showHead(state);
  state.listen(head);
  head();
  byId("clear").addEventListener("click", () => state.clear());
  const copies = { constraints: "asConstraints", given: "asGiven", python: "asPython" };
  for (const [id, method] of Object.entries(copies)) {
    byId(`copy-${id}`).addEventListener("click", () => copy(state.space[method](state.conditions)));
  }
  let width = innerWidth;
  const redraw = () => {
    parallel.draw();
    pairs.build();
  };
  addEventListener("resize", () => {
    if (innerWidth !== width) redraw();
    width = innerWidth;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("scroll", hideTip, { passive: true });
  window.explorer = { state, parallel, pairs }; // for tests and for the browser's console
}

start().catch((problem) => {
  byId("problem").textContent = `This page could not be started: ${problem.message}. It needs a browser of 2023 or later.`;
  byId("problem").hidden = false;
});
