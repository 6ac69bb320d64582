// The controls above the map, and the start.
function refresh() {
  compute();
  const list = view.mode === "list", empty = !shown.rows.length;
  grid.hidden = list || empty;
  byId("keys").hidden = list || empty;
  byId("list").hidden = !list || empty;
  byId("nothing").hidden = !empty;
  byId("nothing").textContent = view.query.trim() ? `Nothing matches "${view.query.trim()}".` : "Nothing to show.";
  byId("show-map").setAttribute("aria-pressed", String(!list));
  byId("show-list").setAttribute("aria-pressed", String(list));
  for (const id of ["by-label", "fold"]) byId(id).hidden = list || view.by < 0;
  byId("fold").textContent = anyFolded() ? "Unfold all" : "Fold all";
  if (empty) return;
  if (list) drawList();
  else {
    layOut();
    draw();
  }
}

const anyFolded = () => shown.groups.some((group) => !group.open);

function setQuery(text) {
  view.query = text;
  listed = STEP_TENANTS;
  if (byId("filter").value !== text) byId("filter").value = text;
  cursor.row = Math.min(cursor.row, 0);
  refresh();
  byId("spoken").textContent = `${counted(shown.rows.length, "tenant")} shown`;
  save();
}

function setMode(mode) {
  view.mode = mode;
  refresh();
  save();
}

// A button for each state that occurs: what the signs mean, how often, and whether they are shown.
function drawStates() {
  const sums = states.map(() => 0);
  // Of changes, each is counted once, and each danger as it stands above the map; of apps, each on each cluster.
  for (const entry of data.entries) sums[entry.s] += data.idle ? (entry.a === undefined && !entry.told ? 1 : 0) : sizeOf(entry.columns) || 1;
  for (const { entries } of data.idle ? data.alerts : []) if (entries.length) sums[data.entries[entries[0]].s] += 1;
  const buttons = [...states.keys()].reverse().filter((at) => sums[at]).map((at) => stateButton(at, sums[at]));
  byId("states").replaceChildren(...buttons, ...(data.idle ? [idleButton()] : []));
}

function stateButton(at, sum) {
  const button = make("button", { type: "button", class: "chip" }, sign(at), `${states[at].label} `, make("small", {}, sum.toLocaleString("en")));
  return pressed(button, () => view.shown.has(at), () => (view.shown.delete(at) ? null : view.shown.add(at)));
}

function idleButton() {
  const button = make("button", { type: "button", class: "chip" }, make("span", { class: "sign", "aria-hidden": "true" }, "·"), data.idle);
  return pressed(button, () => view.idle, () => (view.idle = !view.idle));
}

function pressed(button, isOn, change) {
  button.setAttribute("aria-pressed", String(isOn()));
  button.addEventListener("click", () => {
    change();
    button.setAttribute("aria-pressed", String(isOn()));
    refresh();
    save();
  });
  return button;
}

function followLink() {
  const found = restore();
  byId("filter").value = view.query;
  byId("by").value = view.by;
  drawStates();
  refresh();
  if (found.has("alert") && data.alerts[found.get("alert")]) return showAlert(Number(found.get("alert")));
  const row = found.has("tenant") ? rows.findIndex(({ n }) => n === found.get("tenant")) : null;
  const list = columnsNamed(found);
  if (row === -1 || (row === null && !list.length)) return closePanel();
  goTo(row, list[0]);
  select({ row, columns: list.length ? list : null });
}

function showAlert(number) {
  const entry = data.entries[data.alerts[number].entries[0]];
  if (entry) goTo(entry.r, entry.columns.length ? entry.columns[0][0] : undefined);
  if (view.mode === "list" && entry && aim(entry)) {
    closePanel();
    selection = { alert: number };
    return save();
  }
  select({ alert: number });
}

// Unlike the bare link, it keeps the filter.
function followAlert(event) {
  event.preventDefault();
  showAlert(Number(event.currentTarget.hash.slice("#alert=".length)));
}

// Moves the cursor to a cell of the fleet, if the cell is shown.
function goTo(row, column) {
  if (view.mode !== "map" || !shown.rows.length) return;
  const at = shown.rows.indexOf(row), position = shown.positions.findIndex((each) => each.columns.includes(column));
  move(row === null ? -1 : Math.max(at, 0), Math.max(position, row === null ? 0 : -1));
}

// Copies a command; where the browser forbids that, it is marked, ready to be copied.
async function copy(button) {
  const code = button.previousElementSibling;
  getSelection().selectAllChildren(code);
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    if (!document.execCommand("copy")) return;
  }
  button.textContent = "Copied";
  byId("spoken").textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

function start() {
  document.querySelectorAll(".copy").forEach((button) => (button.hidden = false));
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copy");
    if (button) copy(button);
  });
  byId("fleet").hidden = false;
  byId("by").append(...facets.map((facet, at) => make("option", { value: at }, facet.name)));
  byId("by").addEventListener("change", () => {
    view.by = Number(byId("by").value);
    view.open = null;
    refresh();
    save();
  });
  byId("filter").addEventListener("input", () => setQuery(byId("filter").value));
  byId("fold").addEventListener("click", () => {
    view.open = new Set(anyFolded() ? shown.groups.map(rawName) : []);
    refresh();
    save();
  });
  byId("show-map").addEventListener("click", () => setMode("map"));
  byId("show-list").addEventListener("click", () => setMode("list"));
  byId("close").addEventListener("click", closePanel);
  addEventListener("hashchange", followLink);
  document.querySelectorAll("a.alert").forEach((link) => link.addEventListener("click", followAlert));
  new ResizeObserver(() => {
    if (view.mode !== "map" || !shown.rows.length) return;
    layOut();
    draw();
  }).observe(grid);
  followLink();
  if (matchMedia("print").matches) drawList({ whole: true });
}

start();
