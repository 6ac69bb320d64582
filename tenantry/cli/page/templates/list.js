// The list: every tenant with its entries. It is the view of narrow screens, and what is printed.
const STEP_TENANTS = 30, STEP_ENTRIES = 20, MOST_PRINTED = 1000;
const nodes = new Map(); // of the entries that are listed, by their index
let listed = STEP_TENANTS;

function drawList({ whole = false } = {}) {
  const groups = alikeRows(), room = whole ? groups.length : listed;
  let left = whole ? MOST_PRINTED : Infinity;
  nodes.clear();
  const sections = groups.slice(0, room).map((group) => {
    const section = left > 0 ? tenantNode(group, whole ? left : STEP_ENTRIES, whole) : null;
    left -= group.entries.length;
    return section;
  });
  const more = groups.length - room;
  const button = make("button", { type: "button", class: "more" }, `Show ${counted(Math.min(more, STEP_TENANTS), "more tenant")}`);
  button.addEventListener("click", () => {
    listed += STEP_TENANTS;
    drawList();
  });
  byId("list").replaceChildren(...sections.filter(Boolean), ...(more > 0 ? [button] : []), ...(left < 0 ? [make("p", {}, "The rest is left out on paper.")] : []));
}

// Tenants in which the same happens: { rows, entries }.
function alikeRows() {
  const found = new Map();
  for (const row of shown.rows) {
    const own = worstFirst(entriesOf[row].filter((entry) => passes(entry) && !isTold(entry)));
    const key = JSON.stringify([rows[row].l, own.map(likeness)]);
    const group = found.get(key);
    if (group) {
      group.rows.push(row);
      group.columns.push(own);
    } else found.set(key, { rows: [row], columns: [own] });
  }
  return [...found.values()].map((group) => ({ rows: group.rows, entries: group.columns[0].map((_, at) => joined(group.columns.map((own) => own[at]))) }));
}

// Whether the list says it elsewhere: a danger at its change, and what comes or goes with a cluster at the cluster.
const isTold = (entry) => [entry.told, ...(entry.about || []).map((at) => data.entries[at])].some((other) => other && passes(other));

const everywhere = (entry) => entry.of && sizeOf(entry.columns) >= entry.of;

function likeness(entry) {
  const name = entry.n === rows[entry.r].n ? "" : entry.n;
  return [entry.s, entry.k, name, entry.l, entry.v, entry.a, entry.dangers.map((danger) => danger.a), everywhere(entry) ? "" : entry.columns];
}

function joined(alike) {
  const [first] = alike;
  if (alike.length === 1) return { ...first, indices: [first.index] };
  const numbers = [...new Set(alike.flatMap((entry) => numbersIn(entry.columns)))].sort((a, b) => a - b);
  const objects = alike.flatMap((entry) => entry.o || []), most = 20;
  const left = alike.reduce((sum, entry) => sum + (entry.m || 0), Math.max(objects.length - most, 0));
  return {
    ...first,
    indices: alike.map((entry) => entry.index),
    columns: numbers.map((number) => [number, number]),
    of: everywhere(first) ? numbers.length : first.of,
    size: alike.reduce((sum, entry) => sum + sizeOf(entry.columns), 0),
    o: objects.length ? objects.slice(0, most) : undefined,
    m: left,
  };
}

function tenantNode({ rows: own, entries: found }, most, whole) {
  // Without a word for idle rows, the mildest state is the normal one: it is folded away.
  const calm = data.idle ? [] : found.filter((entry) => entry.s === 0);
  const loud = found.filter((entry) => !calm.includes(entry));
  const section = make("section", { class: "of-tenant" }, ...headingNodes(own, found), ...(rows[own[0]].l || []).map((note) => make("p", { class: "line" }, note)));
  appendEntries(section, loud, most);
  if (calm.length) section.append(calmNode(calm, most, whole));
  return section;
}

function headingNodes(own, found) {
  const placed = new Set(own.flatMap((row) => numbersIn(rows[row].p || [])));
  const names = own.map((row) => rows[row].n);
  const text = own.length <= 3 ? names.join(", ") : counted(own.length, "tenant");
  const heading = make("h3", { class: "tenant" }, text, placed.size ? make("small", {}, ` ${counted(placed.size, "cluster")}`) : "", data.idle ? "" : sharesNode(found));
  if (own.length <= 3) return [heading];
  const list = make("p", { class: "names" });
  return [heading, lazily(make("details", { class: "where" }, make("summary", {}, `${names.slice(0, 3).join(", ")} and ${own.length - 3} more`), list), () => list.append(names.join(", ")))];
}

function calmNode(calm, most, whole) {
  const size = calm.reduce((sum, entry) => sum + (entry.size || sizeOf(entry.columns)), 0);
  const details = make("details", { class: "calm" }, make("summary", {}, sign(0), `${size.toLocaleString("en")} ${states[0].label}`));
  return whole ? details : lazily(details, () => appendEntries(details, calm, most));
}

function appendEntries(node, entries, most) {
  for (const entry of entries.slice(0, most)) {
    const own = entryNode(entry, { brief: true });
    for (const index of entry.indices) nodes.set(index, own);
    node.append(own);
  }
  const left = entries.length - most;
  if (left <= 0) return;
  const button = make("button", { type: "button", class: "more" }, `Show ${counted(Math.min(left, most), "more entry", "more entries")}`);
  button.addEventListener("click", () => {
    button.remove();
    appendEntries(node, entries.slice(most), most);
  });
  node.append(button);
}

// Goes to an entry, or to the change that a danger belongs to, if it is listed.
function aim(entry) {
  const node = [entry.index, ...(entry.about || [])].map((index) => nodes.get(index)).find(Boolean);
  if (!node) return false;
  document.querySelectorAll(".aim").forEach((each) => each.classList.remove("aim"));
  node.classList.add("aim");
  node.tabIndex = -1;
  node.focus({ preventScroll: true });
  node.scrollIntoView({ block: "center" });
  return true;
}

// On paper the list stands in place of the map.
matchMedia("print").addEventListener("change", ({ matches }) => {
  if (matches) drawList({ whole: true });
  else refresh();
});
