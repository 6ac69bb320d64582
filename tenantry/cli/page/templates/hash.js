// The address after `#` says what is shown, so that a link leads back to it.
function save() {
  const found = new URLSearchParams();
  if (view.query.trim()) found.set("filter", view.query.trim());
  if (view.by > 0) found.set("by", facets[view.by].name);
  if (view.open) found.set("open", JSON.stringify([...view.open]));
  if (view.shown.size < states.length) found.set("states", [...view.shown].map((at) => states[at].key).join(","));
  if (view.idle) found.set("idle", "1");
  if (view.mode !== usualMode()) found.set("view", view.mode);
  if (selection) saveSelection(found);
  try {
    history.replaceState(null, "", `#${found}`);
  } catch {
    // A page without an address of its own, such as one inside a frame, has no links either.
  }
}

function saveSelection(found) {
  if (selection.alert !== undefined) return found.set("alert", selection.alert);
  if (selection.row !== null) found.set("tenant", rows[selection.row].n);
  const list = selection.columns || [];
  if (list.length === 1) found.set("cluster", keyOf(list[0]));
  if (list.length > 1) found.set("group", view.by < 0 ? "" : facetOf(list[0], view.by));
}

function restore() {
  const found = new URLSearchParams(location.hash.slice(1));
  view.query = found.get("filter") || "";
  const by = facets.findIndex((facet) => facet.name === found.get("by"));
  if (by >= 0) view.by = by;
  view.open = found.has("open") ? new Set(parsed(found.get("open"))) : null;
  if (found.has("states")) view.shown = new Set(found.get("states").split(",").map((key) => states.findIndex((state) => state.key === key)).filter((at) => at >= 0));
  view.idle = found.get("idle") === "1";
  view.mode = ["map", "list"].includes(found.get("view")) ? found.get("view") : usualMode();
  return found;
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

// The columns that a link names.
function columnsNamed(found) {
  const every = columns.map((_, at) => at);
  if (found.has("cluster")) return every.filter((column) => [keyOf(column), clusterOf(column)].includes(found.get("cluster")));
  if (!found.has("group")) return [];
  return view.by < 0 ? every : every.filter((column) => facetOf(column, view.by) === found.get("group"));
}

const usualMode = () => (innerWidth < 640 ? "list" : data.view);
