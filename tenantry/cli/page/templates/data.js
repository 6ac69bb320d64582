// The page's data, and how nodes are made: always by text, never by markup, so that no value can come alive.
const data = JSON.parse(document.getElementById("data").textContent);
const { states, rows, columns, facets } = data;
const byId = (id) => document.getElementById(id);

// What a cell holds: nothing is there; it is filtered out; it is idle; or FIRST plus the index of a state.
const ABSENT = 0, DIM = 1, IDLE = 2, FIRST = 3;

const entriesOf = rows.map(() => []);
for (const [index, entry] of data.entries.entries()) {
  entry.index = index;
  entry.columns = entry.c || [];
  entry.told = entry.t === undefined ? null : data.entries[entry.t];
  entry.text = `${entry.k} ${entry.n || ""}`.toLowerCase();
  entry.dangers = [];
  entriesOf[entry.r].push(entry);
}
// A danger that belongs to changes is shown with them.
for (const entry of data.entries) {
  for (const { dangers } of (entry.about || []).map((at) => data.entries[at])) if (!dangers.some((danger) => danger.a === entry.a)) dangers.push(entry);
}
const severity = (entry) => entry.dangers.reduce((worst, danger) => Math.max(worst, danger.s), entry.s);

const sizeOf = (ranges) => ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
const within = (ranges, column) => ranges.some(([first, last]) => first <= column && column <= last);
const numbersIn = (ranges) => ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
// How links name a column: clusters of several environments can have the same name.
const environments = facets.findIndex((facet) => facet.name === "environment");
const keyOf = (column) => (environments < 0 ? clusterOf(column) : `${facetOf(column, environments)}/${clusterOf(column)}`);
const clusterOf = (column) => columns[column][0];
const facetOf = (column, facet) => facets[facet].values[columns[column][facet + 1]];
const counted = (count, noun, nouns = `${noun}s`) => `${count.toLocaleString("en")} ${count === 1 ? noun : nouns}`;

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}

const sign = (state) => make("span", { class: `sign ${states[state].key}`, "aria-hidden": "true" }, states[state].sign);

// edge-1, edge-2; 479 of 501 clusters
function placesOf(list, of) {
  if (list.length <= 3) return list.map(clusterOf).join(", ");
  return of > list.length ? `${list.length} of ${counted(of, "cluster")}` : `all ${counted(list.length, "cluster")}`;
}
