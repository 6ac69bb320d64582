// An entry in full: what happens, where, which values change, and the objects behind it. The panel and the list share it.
function entryNode(entry, { brief = false } = {}) {
  const state = states[severity(entry)];
  const word = states[entry.s].label;
  const named = entry.n && entry.n !== rows[entry.r].n ? entry.n : "";
  const tags = entry.dangers.map(tagNode);
  const title = make("h3", {}, sign(severity(entry)), make("span", { class: "kind" }, entry.k, " "), named, " ", make("span", { class: `state ${state.key}` }, word), ...tags);
  const told = brief ? [] : entry.dangers.flatMap(linesOf);
  const what = make("div", { class: "what" }, ...linesOf(entry), ...told, valuesOf(entry));
  return make("article", { class: `entry ${state.key}` }, title, whereNode(entry), what, objectsOf(entry));
}

// A danger of a change; its sentence stands above the map.
function tagNode(danger) {
  const tag = make("a", { class: "tag", href: `#alert=${danger.a}`, title: data.alerts[danger.a].text }, danger.k);
  tag.addEventListener("click", (event) => {
    event.preventDefault();
    select({ alert: danger.a }, { focus: true });
  });
  return tag;
}

// How many apps are in each state, the worst first.
function sharesNode(entries, list) {
  const wanted = list ? new Set(list) : null, sums = states.map(() => 0);
  for (const entry of entries) sums[entry.s] += wanted ? numbersIn(entry.columns).filter((column) => wanted.has(column)).length : entry.size || sizeOf(entry.columns);
  const found = [...states.keys()].reverse().filter((at) => sums[at]);
  return make("span", { class: "shares" }, ...found.map((at) => make("span", {}, sign(at), ` ${sums[at].toLocaleString("en")} ${states[at].label}`)));
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

// The sentence of a danger is stored once, with its alert.
const linesOf = (entry) => (entry.l || (data.idle && entry.a !== undefined ? [data.alerts[entry.a].text] : [])).map((line) => make("p", { class: "line" }, line));

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

function objectsOf(entry) {
  if (!entry.o) return null;
  const more = entry.m ? [make("li", {}, `and ${entry.m} more`)] : [];
  const list = make("ul", {});
  const summary = make("summary", {}, counted(entry.o.length + (entry.m || 0), "object"));
  return lazily(make("details", { class: "objects" }, summary, list), () => list.append(...entry.o.map((name) => make("li", {}, name)), ...more));
}
