// What is shown: the filter, the states, the groups of columns; and what follows from them for every cell.
const FEW = 40; // So many columns are readable without folding.

const view = {
  query: "",
  by: facets.length ? 0 : -1,
  open: null, // names of unfolded groups; null: all if there are few columns
  shown: new Set(states.keys()),
  idle: false,
  mode: "map",
};
let filter; // { terms, found }: for each term, which columns have it
let shown; // { cells, rows, groups, positions }

function fill(cells, row, ranges, value) {
  for (const [first, last] of ranges) {
    for (let at = row * columns.length + first, end = row * columns.length + last; at <= end; at++) {
      if (cells[at] < value) cells[at] = value;
    }
  }
}

const termsOf = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);

// For each term, which columns have it in their name or in what they are grouped by.
function columnsWith(terms) {
  return terms.map((term) => {
    const values = facets.map((facet) => facet.values.map((value) => value.toLowerCase().includes(term)));
    return columns.map((column) => column[0].toLowerCase().includes(term) || values.some((found, at) => found[column[at + 1]]));
  });
}

// Raises the cells of these ranges whose row, entry or column has every term.
function raise(cells, row, ranges, value, texts) {
  const { terms, found } = filter;
  const open = terms.map((term, at) => at).filter((at) => !texts.some((text) => text.includes(terms[at])));
  if (!open.length) return fill(cells, row, ranges, value);
  for (const [first, last] of ranges) {
    for (let column = first; column <= last; column++) {
      if (open.every((at) => found[at][column])) fill(cells, row, [[column, column]], value);
    }
  }
}

function cellsOf() {
  const cells = new Uint8Array(rows.length * columns.length);
  for (const [row, { n, p = [] }] of rows.entries()) {
    const name = n.toLowerCase();
    fill(cells, row, p, DIM);
    if (view.idle) raise(cells, row, p, IDLE, [name]);
    for (const entry of entriesOf[row]) {
      const own = view.shown.has(entry.s) ? FIRST + entry.s : DIM;
      fill(cells, row, entry.columns, DIM);
      if (own > DIM) raise(cells, row, entry.columns, own, [name, entry.text]);
    }
  }
  return cells;
}

// Whether an entry, or a danger that belongs to it, passes the filter somewhere.
const passes = (entry) => passesAlone(entry) || entry.dangers.some(passesAlone);

function passesAlone(entry) {
  const texts = [rows[entry.r].n.toLowerCase(), entry.text];
  if (!view.shown.has(entry.s)) return false;
  const open = filter.found.filter((_, at) => !texts.some((text) => text.includes(filter.terms[at])));
  return !open.length || numbersIn(entry.columns).some((column) => open.every((found) => found[column]));
}

const worstIn = (cells, row, list) => list.reduce((worst, column) => Math.max(worst, cells[row * columns.length + column]), ABSENT);

function compute() {
  const terms = termsOf(view.query);
  filter = { terms, found: columnsWith(terms) };
  const cells = cellsOf(), every = columns.map((_, at) => at);
  const worst = rows.map((_, row) => worstIn(cells, row, every));
  const order = rows.map((_, row) => row).filter((row) => worst[row] >= IDLE).sort((a, b) => worst[b] - worst[a] || a - b);
  const used = view.query.trim() ? every.filter((column) => order.some((row) => cells[row * columns.length + column] >= IDLE)) : every;
  const groups = groupsOf(used);
  shown = { cells, worst, rows: order, groups, positions: positionsOf(groups) };
}

function groupsOf(list) {
  if (view.by < 0) return [{ name: "all clusters", columns: list, open: true }];
  const { name, values } = facets[view.by];
  const members = values.map(() => []);
  for (const column of list) members[columns[column][view.by + 1]].push(column);
  const order = [...values.keys()].sort((a, b) => (values[a] === "") - (values[b] === "") || a - b); // those without a value last
  return order
    .map((at) => [members[at], at])
    .map(([own, at]) => ({ name: values[at] || `no ${name}`, columns: own, open: isOpen(values[at], own, list) }))
    .filter((group) => group.columns.length);
}

function isOpen(name, own, list) {
  if (own.length === 1 || (view.query.trim() && list.length <= FEW)) return true;
  return view.open ? view.open.has(name) : columns.length <= FEW;
}

// The columns of the map, left to right: each of an unfolded group, one for a folded group.
function positionsOf(groups) {
  return groups.flatMap((group) => (group.open ? group.columns.map((column) => ({ group, columns: [column] })) : [{ group, columns: group.columns, folded: true }]));
}

function toggle(group) {
  const open = new Set(shown.groups.filter((each) => each.open).map(rawName));
  if (!open.delete(rawName(group))) open.add(rawName(group));
  view.open = open;
}

const rawName = (group) => (view.by < 0 ? group.name : facetOf(group.columns[0], view.by));

// The entries of a row on any of these columns, the worst first. A danger stands with its change, if that is there too.
function entriesAt(row, list) {
  const wanted = new Set(list);
  const touches = (entry) => entry.columns.some(([first, last]) => {
    for (let column = first; column <= last; column++) if (wanted.has(column)) return true;
    return false;
  });
  return worstFirst(withoutTold(entriesOf[row].filter(touches)));
}

function withoutTold(entries) {
  const there = new Set(entries);
  return entries.filter((entry) => !(entry.about || []).some((at) => there.has(data.entries[at])));
}

const worstFirst = (entries) => [...entries].sort((a, b) => severity(b) - severity(a) || a.index - b.index);
