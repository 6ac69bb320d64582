// An entry in full: what happens, where, which values change, and the objects behind it. The panel and the list share it.
function entryNode(entry) {
  const state = states[entry.s];
  const title = make("h3", {}, sign(entry.s), make("span", { class: "kind" }, entry.k, " "), entry.n || "", " ", make("span", { class: `state ${state.key}` }, state.label));
  return make("article", { class: `entry ${state.key}` }, title, whereNode(entry), ...linesOf(entry), valuesOf(entry), factsOf(entry), objectsOf(entry));
}

function whereNode(entry) {
  const list = numbersIn(entry.columns);
  if (list.length <= 3) return make("p", { class: "where" }, list.length ? `on ${placesOf(list, entry.of)}` : "");
  const names = make("p", { class: "names" });
  return lazily(make("details", { class: "where" }, make("summary", {}, `on ${placesOf(list, entry.of || list.length)}`), names), () => names.append(list.map(clusterOf).join(", ")));
}

// Fills details when they are opened for the first time.
function lazily(details, action) {
  details.addEventListener("toggle", action, { once: true });
  return details;
}

const linesOf = (entry) => (entry.l || []).map((line) => make("p", { class: "line" }, line));

function valuesOf(entry) {
  if (!entry.v) return null;
  return make("dl", { class: "values" }, ...entry.v.map(valueNode));
}

function valueNode([key, before, after, lines]) {
  if (lines) return make("div", {}, make("dt", {}, key), make("dd", { class: "long" }, ...lines.map(lineOfText)));
  const old = before === null ? null : make("del", {}, make("span", { class: "unseen" }, "before: "), before);
  const now = after === null ? null : make("ins", {}, make("span", { class: "unseen" }, "after: "), after);
  const arrow = old && now ? make("span", { class: "arrow", "aria-hidden": "true" }, "→") : null;
  return make("div", {}, make("dt", {}, key), make("dd", {}, old, arrow, now));
}

const lineOfText = (line) => make({ "+": "ins", "-": "del" }[line[0]] || "span", { class: "text-line" }, line || " ");

function factsOf(entry) {
  if (!entry.f) return null;
  return make("dl", { class: "facts" }, ...entry.f.map(([key, text]) => make("div", {}, make("dt", {}, key), make("dd", {}, text))));
}

function objectsOf(entry) {
  if (!entry.o) return null;
  const more = entry.m ? [make("li", {}, `and ${entry.m} more`)] : [];
  const list = make("ul", {});
  const summary = make("summary", {}, counted(entry.o.length + (entry.m || 0), "object"));
  return lazily(make("details", { class: "objects" }, summary, list), () => list.append(...entry.o.map((name) => make("li", {}, name)), ...more));
}
