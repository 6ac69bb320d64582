// The panel: the details of a cell, a tenant, a cluster, a folded group, or of something that stands above the map.
const MOST_ENTRIES = 100;
let selection = null; // { row, columns } of the map, or { alert }

function select(chosen, { focus = false } = {}) {
  selection = chosen;
  const { title, where, notes, entries } = describe(chosen);
  byId("panel-title").textContent = title;
  byId("panel-where").textContent = where;
  const left = entries.length - MOST_ENTRIES;
  byId("panel-body").replaceChildren(
    ...(data.idle || entries.length < 2 ? [] : [sharesNode(entries, chosen.columns)]),
    ...notes.map((note) => make("p", { class: "line" }, note)),
    ...entries.slice(0, MOST_ENTRIES).flatMap((entry, at) => [...tenantHeading(chosen, entry, entries[at - 1]), entryNode(entry)]),
    ...(entries.length ? [] : [make("p", { class: "line" }, data.idle ? "Nothing else changes here." : "Nothing is here.")]),
    ...(left > 0 ? [make("p", { class: "line" }, `and ${left} more: choose a tenant or a cluster to see them`)] : []),
  );
  byId("panel").hidden = false;
  byId("panel").scrollTop = 0;
  document.body.classList.add("with-panel");
  if (focus) byId("panel-title").focus();
  save();
}

// Entries of several tenants get a heading for each.
function tenantHeading(chosen, entry, before) {
  const several = chosen.row === undefined || chosen.row === null;
  return several && (!before || before.r !== entry.r) ? [make("h3", { class: "tenant" }, rows[entry.r].n)] : [];
}

function describe(chosen) {
  if (chosen.alert !== undefined) {
    const { label, text, entries } = data.alerts[chosen.alert];
    const found = [...new Set(entries.map((at) => data.entries[at]).flatMap(withOthers))];
    return { title: label, where: "", notes: [text], entries: found.filter((entry) => entry.a !== chosen.alert) };
  }
  const { row, columns: list } = chosen;
  if (row === null) return { title: nameOf(list), where: aboutColumns(list), notes: [], entries: rows.flatMap((_, at) => entriesAt(at, list)) };
  const notes = rows[row].l || [];
  if (list === null) return { title: rows[row].n, where: `on ${counted(sizeOf(rows[row].p || []), "cluster")}`, notes, entries: worstFirst(entriesOf[row]) };
  return { title: rows[row].n, where: `on ${nameOf(list)}${aboutColumns(list)}`, notes, entries: entriesAt(row, list) };
}

// Below a danger stands what changes in the same places.
function withOthers(entry) {
  const list = numbersIn(entry.columns);
  if (!data.idle) return [{ ...entry, a: undefined }];
  return entry.about ? entry.about.map((at) => data.entries[at]) : entriesAt(entry.r, list).filter((each) => each.s !== entry.s);
}

const nameOf = (list) => (list.length === 1 ? clusterOf(list[0]) : counted(list.length, "cluster"));

function aboutColumns(list) {
  const shared = facets.map((facet, at) => [facet.name, new Set(list.map((column) => facetOf(column, at)))]);
  const known = shared.filter(([, values]) => values.size === 1 && ![...values].includes(""));
  return known.map(([name, [value]]) => ` · ${name} ${value}`).join("");
}

function closePanel() {
  if (byId("panel").hidden) return false;
  const inside = byId("panel").contains(document.activeElement);
  byId("panel").hidden = true;
  document.body.classList.remove("with-panel");
  selection = null;
  if (inside) (view.mode === "map" ? byId("map") : byId("filter")).focus();
  save();
  return true;
}
