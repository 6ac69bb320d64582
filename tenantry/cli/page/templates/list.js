// The list: every tenant with its entries. It is the view of narrow screens, and what is printed.
const STEP_TENANTS = 30, STEP_ENTRIES = 20, MOST_PRINTED = 1000;
let listed = STEP_TENANTS;

function drawList({ whole = false } = {}) {
  const room = whole ? shown.rows.length : listed;
  let left = whole ? MOST_PRINTED : Infinity;
  const sections = shown.rows.slice(0, room).map((row) => {
    const section = left > 0 ? tenantNode(row, whole ? left : STEP_ENTRIES, whole) : null;
    left -= entriesOf[row].length;
    return section;
  });
  const more = shown.rows.length - room;
  const button = make("button", { type: "button", class: "more" }, `Show ${counted(Math.min(more, STEP_TENANTS), "more tenant")}`);
  button.addEventListener("click", () => {
    listed += STEP_TENANTS;
    drawList();
  });
  byId("list").replaceChildren(...sections.filter(Boolean), ...(more > 0 ? [button] : []), ...(left < 0 ? [make("p", {}, "The rest is left out on paper.")] : []));
}

function tenantNode(row, most, whole) {
  const found = worstFirst(entriesOf[row].filter(passes));
  // Without a word for idle rows, the mildest state is the normal one: it is folded away.
  const calm = data.idle ? [] : found.filter((entry) => entry.s === 0);
  const loud = found.filter((entry) => !calm.includes(entry));
  const heading = make("h3", { class: "tenant" }, rows[row].n, make("small", {}, ` ${counted(sizeOf(rows[row].p || []), "cluster")}`));
  const section = make("section", { class: "of-tenant" }, heading, ...(rows[row].l || []).map((note) => make("p", { class: "line" }, note)));
  appendEntries(section, loud, most);
  if (calm.length) section.append(calmNode(calm, most, whole));
  return section;
}

function calmNode(calm, most, whole) {
  const size = calm.reduce((sum, entry) => sum + sizeOf(entry.columns), 0);
  const details = make("details", { class: "calm" }, make("summary", {}, sign(0), `${size.toLocaleString("en")} ${states[0].label}`));
  return whole ? details : lazily(details, () => appendEntries(details, calm, most));
}

function appendEntries(node, entries, most) {
  node.append(...entries.slice(0, most).map(entryNode));
  const left = entries.length - most;
  if (left <= 0) return;
  const button = make("button", { type: "button", class: "more" }, `Show ${counted(Math.min(left, most), "more entry", "more entries")}`);
  button.addEventListener("click", () => {
    button.remove();
    appendEntries(node, entries.slice(most), most);
  });
  node.append(button);
}

// On paper the list stands in place of the map.
matchMedia("print").addEventListener("change", ({ matches }) => {
  if (matches) drawList({ whole: true });
  else refresh();
});
