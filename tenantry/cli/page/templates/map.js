// The map. Only the cells that can be seen are in the document, so its size does not depend on the fleet's.
const ROW = 34, NARROW = 34, MIDDLE = 56, BROAD = 110, FOLDED = 104, GROUP = 34, AROUND = 3;
const grid = byId("map"), canvas = byId("canvas");
const cursor = { row: 0, column: 0 }; // positions; row -1: the clusters, -2: the groups; column -1: the tenants
const SIGN = 44, LETTER = 7.1, BROADEST = 340; // the room for a sign, and for each letter of what a cell says
let whole = [0, 0]; // the widths of the window and of the map without the panel
let layout; // { left, head, names, widths, edges, wide, broad }
let drawn = "";

function layOut() {
  const left = Math.min(Math.max(110, 28 + 8.2 * longest(shown.rows.map((row) => rows[row].n))), innerWidth < 640 ? 132 : 260);
  const single = shown.positions.filter((position) => !position.folded);
  const name = longest(single.map((position) => clusterOf(position.columns[0])));
  const many = shown.positions.length - single.length;
  const room = widthOfMap() - left - FOLDED * many - 2;
  const share = single.length ? Math.floor(room / single.length) : 0;
  // Names stand upright if they have no room side by side; names of what changes are shown in broad cells.
  const wide = share >= Math.max(name * 7.8 + 20, NARROW);
  const words = Math.min(SIGN + LETTER * longest(shown.rows.map((row) => withoutTold(entriesOf[row]).map(toldInCell).join(", "))), BROADEST);
  const each = Math.max(NARROW, Math.min(share, Math.max(words, wide ? Math.max(name * 8 + 26, BROAD * 1.5) : MIDDLE)));
  // Groups take the room that single columns leave, so that a short map is not squeezed to one side.
  const folded = FOLDED + (many ? Math.min(Math.max((room - single.length * each) / many, 0), Math.max(words + NARROW - FOLDED, 90)) : 0);
  const names = single.length === 0 ? 0 : wide ? 30 : Math.min(28 + name * 7, 150);
  const widths = shown.positions.map((position) => (position.folded ? folded : each));
  const edges = [left];
  for (const width of widths) edges.push(edges[edges.length - 1] + width);
  layout = { left, head: GROUP + names, names, widths, edges, wide, broad: each >= BROAD };
  canvas.style.width = `${edges[edges.length - 1]}px`;
  canvas.style.height = `${layout.head + shown.rows.length * ROW}px`;
  grid.setAttribute("aria-rowcount", shown.rows.length + 2);
  grid.setAttribute("aria-colcount", shown.positions.length + 1);
  cursor.row = Math.min(cursor.row, shown.rows.length - 1);
  cursor.column = Math.min(cursor.column, shown.positions.length - 1);
}

// An open panel makes the map scroll, and not its cells narrow: what they say stays.
function widthOfMap() {
  const isOpen = document.body.classList.contains("with-panel");
  if (!isOpen || whole[0] !== innerWidth) whole = [innerWidth, grid.clientWidth];
  return Math.max(...whole.slice(1), grid.clientWidth);
}

const longest = (names) => names.reduce((most, name) => Math.max(most, name.length), 0);

// The rows and columns that can be seen, and some around them.
function visible() {
  const top = Math.floor(grid.scrollTop / ROW), height = Math.ceil(grid.clientHeight / ROW);
  const from = layout.edges.findIndex((edge) => edge > grid.scrollLeft + layout.left - NARROW);
  const after = layout.edges.findIndex((edge) => edge > grid.scrollLeft + grid.clientWidth);
  return {
    firstRow: Math.max(top - AROUND, 0),
    lastRow: Math.min(top + height + AROUND, shown.rows.length) - 1,
    first: Math.max((from < 0 ? layout.edges.length : from) - 1 - AROUND, 0),
    last: Math.min((after < 0 ? layout.edges.length : after) + AROUND, shown.positions.length) - 1,
  };
}

function draw({ again = true } = {}) {
  if (view.mode !== "map" || !shown.rows.length) return;
  const seen = visible(), key = JSON.stringify([seen, cursor]);
  if (!again && key === drawn) return;
  drawn = key;
  const body = [];
  for (let row = seen.firstRow; row <= seen.lastRow; row++) body.push(rowNode(row, seen));
  canvas.replaceChildren(headNode(seen), ...body);
  grid.setAttribute("aria-activedescendant", cellId(cursor.row, cursor.column));
}

const cellId = (row, column) => `cell_${row}_${column}`;
const isAt = (row, column) => cursor.row === row && cursor.column === column;

function placed(node, left, width, row, column) {
  node.style.left = `${left}px`;
  node.style.width = `${width}px`;
  return marked(node, row, column);
}

function marked(node, row, column) {
  node.id = cellId(row, column);
  node.dataset.row = row;
  node.dataset.column = column;
  node.classList.toggle("at", isAt(row, column));
  return node;
}

function headNode(seen) {
  const groups = make("div", { class: "groups", role: "row", "aria-rowindex": 1 });
  const names = make("div", { class: "clusters", role: "row", "aria-rowindex": 2 });
  const corner = make("div", { class: "corner", role: "presentation" });
  corner.style.width = `${layout.left}px`;
  groups.append(corner, ...groupNodes(seen));
  for (let at = seen.first; at <= seen.last; at++) if (!shown.positions[at].folded) names.append(clusterNode(at));
  const head = make("div", { class: `head${layout.wide ? " wide" : ""}${layout.broad ? " broad" : ""}`, role: "rowgroup" }, groups, names);
  head.style.height = `${layout.head}px`;
  names.style.height = `${layout.names}px`;
  return head;
}

function groupNodes(seen) {
  const found = [];
  for (let at = 0; at < shown.positions.length; ) {
    const { group } = shown.positions[at];
    const end = at + (group.open ? group.columns.length : 1);
    if (end > seen.first && at <= seen.last) found.push(groupNode(group, at, end));
    at = end;
  }
  return found;
}

function groupNode(group, begin, end) {
  const many = group.columns.length > 1 && view.by >= 0;
  const size = group.open ? "" : ` ${group.columns.length}`;
  const label = make("span", { class: "group-name" }, many ? make("span", { class: "fold", "aria-hidden": "true" }, group.open ? "▾" : "▸") : null, group.name, make("small", {}, size));
  label.style.left = `${layout.left + 8}px`;
  const last = end === shown.positions.length;
  label.style.maxWidth = `${Math.max(layout.edges[end], last ? grid.clientWidth : 0) - layout.edges[begin] - 12}px`;
  const described = `${group.name}, ${counted(group.columns.length, "cluster")}`;
  const attributes = { class: "group", role: "columnheader", "aria-colindex": begin + 2, "aria-colspan": end - begin, "aria-label": described, title: described };
  const node = make("div", { ...attributes, "aria-expanded": many ? String(group.open) : null }, label);
  const column = cursor.row === -2 && cursor.column >= begin && cursor.column < end ? cursor.column : begin;
  return placed(node, layout.edges[begin], layout.edges[end] - layout.edges[begin], -2, column);
}

function clusterNode(at) {
  const name = clusterOf(shown.positions[at].columns[0]);
  const node = make("div", { class: "cluster", role: "columnheader", "aria-colindex": at + 2, title: name }, make("span", {}, name));
  node.classList.toggle("along", cursor.column === at);
  return placed(node, layout.edges[at], layout.widths[at], -1, at);
}

function rowNode(at, seen) {
  const row = shown.rows[at];
  const name = make("div", { class: "tenant", role: "rowheader", "aria-colindex": 1, title: rows[row].n }, make("span", {}, rows[row].n));
  name.style.width = `${layout.left}px`;
  name.classList.toggle("along", cursor.row === at);
  const node = make("div", { class: "row", role: "row", "aria-rowindex": at + 3 }, marked(name, at, -1));
  node.style.top = `${layout.head + at * ROW}px`;
  for (let column = seen.first; column <= seen.last; column++) node.append(cellNode(at, row, column));
  return node;
}

function cellNode(at, row, column) {
  const position = shown.positions[column];
  const worst = worstIn(shown.cells, row, position.columns);
  const state = worst >= FIRST ? states[worst - FIRST] : null;
  const node = make("div", { class: "cell", role: "gridcell", "aria-colindex": column + 2, "aria-label": cellLabel(row, position, state, worst) });
  node.classList.toggle("begins", column > 0 && shown.positions[column - 1].group !== position.group);
  if (state && position.folded) node.append(foldedMark(row, position, state, worst, column));
  else if (state) node.append(make("span", { class: `mark ${state.key}`, "aria-hidden": "true" }, make("b", {}, state.sign), cellText(row, position, column)));
  else if (worst > ABSENT) node.append(make("span", { class: "dot", "aria-hidden": "true" }, "·"));
  return placed(node, layout.edges[column], layout.widths[column], at, column);
}

// A folded group shows its worst state with the number of clusters, and a bar with the shares of all states.
function foldedMark(row, position, state, worst, column) {
  const sums = new Array(FIRST + states.length).fill(0);
  for (const column of position.columns) sums[shown.cells[row * columns.length + column]] += 1;
  const shares = [...sums.keys()].reverse().filter((value) => value > ABSENT && sums[value]).map((value) => {
    const share = make("span", { class: value < FIRST ? "share" : `share ${states[value - FIRST].key}` });
    share.style.flexGrow = sums[value];
    return share;
  });
  const bar = make("span", { class: "bar-of-shares" }, ...shares);
  return make("span", { class: `mark folded ${state.key}`, "aria-hidden": "true" }, make("b", {}, state.sign), make("i", {}, sums[worst].toLocaleString("en")), cellText(row, position, column, NARROW), bar);
}

const nameIn = (entry) => (entry.n && entry.n !== rows[entry.r].n ? entry.n : "");
const toldInCell = (entry) => [nameIn(entry), entry.w || ""].filter(Boolean).join(" ");

// What changes, as far as it fits: names and values, values alone, or names alone.
function cellText(row, position, column, taken = 0) {
  const own = entriesAt(row, position.columns).filter((entry) => view.shown.has(severity(entry)) || view.shown.has(entry.s));
  // Of apps, those that make the cell what it is.
  if (!data.idle) own.splice(0, own.length, ...own.filter((entry) => entry.s === own[0].s && (entry.s || !position.folded)));
  if (position.folded) own.sort((a, b) => sizeOf(b.columns) - sizeOf(a.columns));
  const texts = [toldInCell, (entry) => entry.w || nameIn(entry)].map((told) => [...new Set(own.map(told))].filter(Boolean).join(", "));
  const names = [...new Set(own.map((entry) => nameIn(entry) || entry.k))];
  if (own.length > 1) texts.push(`${toldInCell(own[0]) || own[0].k}, and ${own.length - 1} more`);
  texts.push(names.join(", "));
  const found = texts.find((text) => SIGN + taken + LETTER * text.length <= layout.widths[column]);
  return make("i", {}, found === undefined ? (layout.broad && !taken ? (layout.widths[column] < MIDDLE * 3 ? names.join(", ") : texts[0]) : "") : found);
}

// What assistive technology reads for a cell.
function cellLabel(row, position, state, worst) {
  const where = position.folded ? `${position.group.name}, ${counted(position.columns.length, "cluster")}` : clusterOf(position.columns[0]);
  return `${rows[row].n} on ${where}: ${state ? state.label : worst > ABSENT ? data.idle || "not shown" : "not placed"}`;
}

// Scrolls so that the cursor can be seen, and moves it there.
function move(row, column) {
  cursor.row = Math.max(-2, Math.min(row, shown.rows.length - 1));
  cursor.column = Math.max(-1, Math.min(column, shown.positions.length - 1));
  if (cursor.row < 0) cursor.column = Math.max(cursor.column, 0);
  if (cursor.row === -1 && shown.positions[cursor.column].folded) cursor.row = row > -1 ? 0 : -2;
  const top = cursor.row * ROW, room = grid.clientHeight - layout.head - ROW;
  if (cursor.row >= 0) grid.scrollTop = Math.min(Math.max(grid.scrollTop, top - room), top);
  if (cursor.column >= 0) {
    const begin = layout.edges[cursor.column] - layout.left, end = layout.edges[cursor.column + 1];
    grid.scrollLeft = Math.max(Math.min(grid.scrollLeft, begin), end - grid.clientWidth);
  }
  draw();
}
