"use strict";
// Without this script, links lead to the lines. With it, only the lines that a link leads to are shown, and the matrix has filters.
(() => {
  const element = (id) => document.getElementById(id);
  const table = element("matrix"), changes = [...document.querySelectorAll(".change")];
  if (!changes.length) return;
  let last = null;

  const idsAt = (hash) => {
    const target = element(hash.slice(1));
    return target?.dataset.changes?.split(" ") ?? (target?.className === "change" ? [target.id] : []);
  };
  const show = (ids) => {
    for (const change of changes) change.hidden = ids && !ids.has(change.id);
    for (const section of document.querySelectorAll(".lines")) section.hidden = ids && !section.querySelector(".change:not([hidden])");
    element("shown").hidden = !ids;
    element("shown").firstChild.textContent = ids ? `${ids.size} of ${changes.length} changes are shown.` : "";
  };
  const follow = () => {
    const ids = idsAt(location.hash);
    for (const link of document.querySelectorAll("[aria-current]")) link.ariaCurrent = null;
    if (!ids.length) return show(null);
    for (const link of document.links) if (link.hash === location.hash) link.ariaCurrent = "true";
    show(new Set(ids));
    element("lines").focus();
  };
  document.documentElement.className = "script";
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) last = link;
    if (link?.hash === location.hash) follow();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !idsAt(location.hash).length) return;
    location.hash = "fleet";
    last?.focus();
  });
  follow();
  if (!table) return;

  const inputs = [element("tenants"), element("clusters")], heads = [...table.querySelectorAll(".cluster")];
  element("filters").hidden = false;
  element("filters").addEventListener("input", () => {
    const [tenant, cluster] = inputs.map((input) => input.value.trim().toLowerCase());
    for (const head of heads) head.hidden = !head.title.toLowerCase().includes(cluster);
    let at = 0;
    for (const group of table.rows[0].querySelectorAll("th")) {
      group.dataset.columns ??= group.colSpan;
      const own = heads.slice(at, (at += Number(group.dataset.columns))).filter((head) => !head.hidden);
      group.hidden = !own.length;
      group.colSpan = own.length || 1;
    }
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(tenant);
      heads.forEach((head, column) => (row.cells[column + 1].hidden = head.hidden));
    }
    const links = [...table.querySelectorAll("tr:not([hidden]) > td:not([hidden]) > a")];
    show(tenant || cluster ? new Set(links.flatMap((link) => idsAt(link.hash))) : null);
  });

  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  table.addEventListener("keydown", (event) => {
    const from = event.target.closest("td, th"), [down, right] = steps[event.key] ?? [];
    if (!from || down === undefined) return;
    let row = from.parentNode.rowIndex, column = from.cellIndex, link;
    do link = table.rows[(row += down)]?.cells[(column += right)]?.querySelector("a");
    while (!link?.checkVisibility() && table.rows[row]?.cells[column]);
    if (link) event.preventDefault(), link.focus();
  });
})();
