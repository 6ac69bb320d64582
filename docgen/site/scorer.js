// The search of the site: pages that help with a task come before background, and the changelog is last.

var Scorer = {
  score: ([page, , , , score, , kind]) => {
    if (kind === "index" && score < 80) return score / 10; // the query is a part of what leads there
    if (/\/adr\/|CHANGELOG|AGENTS/.test(page)) return score - 100;
    if (/migration\/|examples\/|reference$|development|architecture|^README/.test(page)) return score - 20;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
