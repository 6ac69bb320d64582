// Clicks and keys on the map.
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0] };

function activate({ focus }) {
  if (cursor.row === -2) {
    const { group } = shown.positions[cursor.column];
    if (group.columns.length > 1 && view.by >= 0) return fold(group);
  }
  select(chosenAt(cursor.row, cursor.column), { focus });
}

function chosenAt(row, column) {
  if (row < 0) return { row: null, columns: shown.positions[column].columns };
  return { row: shown.rows[row], columns: column < 0 ? null : shown.positions[column].columns };
}

function fold(group) {
  const first = group.columns[0];
  toggle(group);
  refresh();
  move(cursor.row, shown.positions.findIndex((position) => position.columns.includes(first)));
  save();
}

function onGridKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !shown.rows.length) return;
  const step = STEPS[event.key];
  if (step) move(cursor.row + step[0], stepOver(step[1]));
  else if (event.key === "Home") move(cursor.row, 0);
  else if (event.key === "End") move(cursor.row, shown.positions.length - 1);
  else if (event.key === "Enter" || event.key === " ") activate({ focus: true });
  else return;
  event.preventDefault();
  if (step && selection && cursor.row >= -1) select(chosenAt(cursor.row, cursor.column));
}

// In the row of groups, a step goes to the next group.
function stepOver(step) {
  if (cursor.row !== -2 || !step) return cursor.column + step;
  const { group } = shown.positions[cursor.column];
  const own = shown.positions.map((position) => position.group);
  return step > 0 ? (own.lastIndexOf(group) + 1 < own.length ? own.lastIndexOf(group) + 1 : cursor.column) : own.indexOf(own[Math.max(own.indexOf(group) - 1, 0)]);
}

function onGridClick(event) {
  const node = event.target.closest("[data-row]");
  if (!node) return;
  cursor.row = Number(node.dataset.row);
  cursor.column = Number(node.dataset.column);
  activate({ focus: false });
  draw();
}

function onKey(event) {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    byId("filter").focus();
    byId("filter").select();
  }
  if (event.key === "Escape" && !closePanel() && typing && view.query) setQuery("");
}

grid.addEventListener("keydown", onGridKey);
grid.addEventListener("click", onGridClick);
document.addEventListener("keydown", onKey);
let waiting = false;
grid.addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw({ again: false });
  });
});
